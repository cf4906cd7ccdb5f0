"""Copies what a process writes to stderr, and finds operators in it that ran on the CPU.

Run as a file, with the standard library alone: a process of its own, so that the last words of
a process that crashes still come through. Standard input is what is copied, to stderr. Standard
output is a socket: each byte that comes over it is answered with a line of JSON.
"""

from __future__ import annotations

import json
import os
import re
import select
import signal
import socket

# What torch_npu warns of, once for each operator: npu_cpu_fallback in VariableFallbackKernel.cpp,
# and SparseCsrReductionFallbackKernelNpu.cpp, of Ascend/pytorch 9e73e70.
_FALLBACK = re.compile(rb"operator '([^'\n]+)'[^\n]*? will fall back to (?:run on the )?CPU")
_LONGEST_WARNING = 4096


def main() -> None:
    if os.fork():
        os._exit(0)  # who started this waits for it, and is not to wait for the child
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)  # it ends when nobody can write any more
    asked = socket.socket(fileno=1)
    found: dict[str, None] = {}
    end_of_text = b""
    sources: list[int | socket.socket] = [0, asked]
    while 0 in sources:
        ready = select.select(sources, [], [])[0]
        # Copied before answered: what was written before a question is part of the answer.
        if 0 in ready:
            block = os.read(0, 1 << 16)
            _write(block)
            end_of_text = (end_of_text + block)[-_LONGEST_WARNING - len(block) :]
            found.update(dict.fromkeys(find_operators(end_of_text)))
            if not block:
                sources.remove(0)
        elif not _answer(asked, list(found)):
            sources.remove(asked)


def find_operators(text: bytes) -> list[str]:
    """The operators that a text says run on the CPU, in their order."""
    return [name.decode(errors="backslashreplace") for name in _FALLBACK.findall(text)]


def _answer(asked: socket.socket, operators: list[str]) -> bool:
    """Answer one question; False if no more can come."""
    try:
        if not asked.recv(1):
            return False
        asked.sendall(json.dumps(operators).encode() + b"\n")
    except OSError:  # who asked has ended; what it wrote is still to be copied
        return False
    return True


def _write(block: bytes) -> None:
    while block:
        try:
            block = block[os.write(2, block) :]
        except BlockingIOError:
            select.select([], [2], [])
        except OSError:  # nobody reads it any more: who writes must not wait for that
            return


if __name__ == "__main__":
    main()
