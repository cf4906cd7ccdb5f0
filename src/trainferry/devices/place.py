"""Which of several processes this one is, and which device is its own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

import torch

from trainferry.devices.device import (
    EMULATED_NPU_VARIABLE,
    choose_device,
    find_accelerators,
    is_emulated,
)
from trainferry.errors import DeviceError, LaunchError

_VISIBLE_NPUS = "ASCEND_RT_VISIBLE_DEVICES"
_HINT = "start the ranks with `trainferry launch` or torchrun, which set what a rank has to know"


@dataclass(frozen=True)
class Place:
    """The number of this process among all, and among those of its machine."""

    rank: int = 0
    ranks: int = 1
    local_rank: int = 0
    local_ranks: int = 1


ALONE_HERE = Place()


def find_place(environment: Mapping[str, str] = os.environ) -> Place:
    """Read what torchrun and `trainferry launch` say; without them a process is alone."""
    if "WORLD_SIZE" not in environment:
        return ALONE_HERE
    ranks = _number(environment, "WORLD_SIZE", 1, None)
    if ranks == 1:
        return ALONE_HERE
    for name in ("MASTER_ADDR", "MASTER_PORT"):
        if not environment.get(name):
            raise LaunchError(f"WORLD_SIZE is {ranks}, but {name} is not set", hint=_HINT)
    rank = _number(environment, "RANK", 0, ranks)
    local_rank = _number(environment, "LOCAL_RANK", 0, ranks)
    has_count = "LOCAL_WORLD_SIZE" in environment
    local_ranks = _number(environment, "LOCAL_WORLD_SIZE", 1, ranks + 1) if has_count else 1
    return Place(rank, ranks, local_rank, local_ranks)


def choose_rank_device(
    asked: str, place: Place, environment: Mapping[str, str] = os.environ
) -> torch.device:
    """Return this rank's own device of the kind asked for; for one process, the one asked for."""
    if place.ranks == 1:
        return choose_device(asked)
    if ":" in asked:
        raise DeviceError(
            f"`{asked}` is one device, and there are {place.ranks} ranks",
            hint="leave the number out: every rank takes the device of its own number",
        )
    kind = _best_kind() if asked == "auto" else asked
    if kind == "cpu" or (kind == "npu" and environment.get(EMULATED_NPU_VARIABLE) == "1"):
        return choose_device(kind)
    return choose_device(f"{kind}:{_device_number(kind, place, environment)}")


def _best_kind() -> str:
    real = [device.type for device in find_accelerators() if not is_emulated(device)]
    return real[0] if real else "cpu"


def _device_number(kind: str, place: Place, environment: Mapping[str, str]) -> int:
    """The rank's number on its machine, or the NPU that a launcher gave it.

    Where a rank sees some devices alone, they are counted from 0, and the launcher's number is
    of all devices of the machine.
    """
    is_given = environment.get("ASCEND_DEVICE_ID") and not environment.get(_VISIBLE_NPUS)
    if kind == "npu" and is_given:
        return _number(environment, "ASCEND_DEVICE_ID", 0, None)
    return place.local_rank


def _number(environment: Mapping[str, str], name: str, least: int, end: int | None) -> int:
    text = environment.get(name)
    if text is None:
        raise LaunchError(f"WORLD_SIZE is set, but {name} is not", hint=_HINT)
    within = f"from {least} to {end - 1}" if end is not None else f"of {least} or more"
    if not text.isdecimal() or int(text) < least or (end is not None and int(text) >= end):
        raise LaunchError(f"{name} is `{text}`, not a whole number {within}", hint=_HINT)
    return int(text)
