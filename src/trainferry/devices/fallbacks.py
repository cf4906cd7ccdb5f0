"""Operators that an NPU left to the CPU: torch_npu warns of each once, and goes on, slowly."""

from __future__ import annotations

import io
import json
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import torch

from trainferry.devices import stderr_listener

# Either of them silences torch_npu; the second is the older name.
SILENCING_VARIABLES = ("TORCH_NPU_WARNING_DISABLE", "TORCH_NPU_DISABLED_WARNING")

_PATIENCE_SECONDS = 5.0


class Fallbacks(Protocol):
    """Knows which operators ran on the CPU so far."""

    def operators(self) -> tuple[str, ...] | None:
        """Name them, in the order of their first call; None where nobody can know."""


@contextmanager
def hear_fallbacks(device: torch.device) -> Iterator[Fallbacks]:
    """Listen to what torch_npu warns of while the block runs; other devices have no such thing.

    It warns in C++, past Python, so stderr itself is listened to; all of it is still shown.
    """
    if device.type != "npu":
        yield _Known(())
    elif any(os.environ.get(name) == "1" for name in SILENCING_VARIABLES):
        yield _Known(None)
    else:
        with _listening() as heard:
            yield heard


def describe_fallbacks(operators: tuple[str, ...] | None) -> str:
    """Say in a sentence which operators ran on the CPU; nothing if none did."""
    if operators is None:
        return (
            "it is not known whether operators ran on the CPU; "
            f"is torch_npu silenced by {SILENCING_VARIABLES[0]}?"
        )
    if not operators:
        return ""
    many = "1 operator" if len(operators) == 1 else f"{len(operators)} operators"
    return (
        f"{many} ran on the CPU, with copies there and back, since the NPU has none: "
        f"{', '.join(operators)}"
    )


class _Known:
    def __init__(self, operators: tuple[str, ...] | None) -> None:
        self._operators = operators

    def operators(self) -> tuple[str, ...] | None:
        return self._operators


class _Heard:
    """Asks the process that listens; keeps its last answer for when there is nobody to ask."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._operators: tuple[str, ...] | None = None

    def operators(self) -> tuple[str, ...] | None:
        try:
            self._listener.sendall(b"?")
            with self._listener.makefile("rb") as answers:
                self._operators = tuple(json.loads(answers.readline()))
        except (OSError, json.JSONDecodeError):  # it has ended, or stderr is blocked
            pass
        return self._operators


@contextmanager
def _listening() -> Iterator[_Heard]:
    before = os.dup(2)
    heard, written = os.pipe()
    ours, theirs = socket.socketpair()
    ours.settimeout(_PATIENCE_SECONDS)
    _start_listener(heard, theirs.fileno())
    os.close(heard)
    theirs.close()
    found = _Heard(ours)
    sys.stderr.flush()
    os.dup2(written, 2)
    os.close(written)
    try:
        with _past_the_listener(before):
            yield found
    finally:
        found.operators()
        os.dup2(before, 2)
        os.close(before)
        ours.close()


def _start_listener(heard: int, asked: int) -> None:
    words = [sys.executable, "-I", "-S", stderr_listener.__file__]
    actions = [(os.POSIX_SPAWN_DUP2, heard, 0), (os.POSIX_SPAWN_DUP2, asked, 1)]
    started = os.posix_spawn(sys.executable, words, os.environ, file_actions=actions)
    os.waitpid(started, 0)  # it leaves the listening to a child that nobody has to wait for


@contextmanager
def _past_the_listener(place: int) -> Iterator[None]:
    """Let what Python prints go straight to where stderr led: a bar needs the terminal itself."""
    stderr = sys.stderr
    try:
        listened_to = stderr.fileno() == 2
    except io.UnsupportedOperation:  # it leads elsewhere, as in tests
        listened_to = False
    if not listened_to:
        yield
        return
    with os.fdopen(os.dup(place), "w", 1, stderr.encoding, stderr.errors) as straight:
        sys.stderr = straight
        try:
            yield
        finally:
            sys.stderr = stderr
