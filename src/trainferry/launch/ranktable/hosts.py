"""The servers of a job as their user names them: one by one, in brackets, or in a host file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from trainferry.errors import DataError, UsageError

_RANGE = re.compile(r"(?P<before>[^\[\]]*)\[(?P<inside>[^\[\]]+)\](?P<after>[^\[\]]*)")
_SLOTS = re.compile(r"slots=(\d{1,4})")
# More than any cluster has; a slip of the finger must not fill the memory.
_MOST_HOSTS = 100_000


@dataclass(frozen=True)
class Host:
    """A server. `devices` is how many of its devices take part, where the host file says so."""

    name: str
    devices: int | None = None


def name_hosts(words: Iterable[str]) -> list[Host]:
    """Hosts from `--host`: names, or many at once as Slurm writes them, `node[001-128]`."""
    return [Host(name) for word in words for name in _expand(word)]


def read_hosts(path: Path) -> list[Host]:
    """Hosts from a file, one on a line, as MPI has them: `node-1 slots=8  # comment`."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(
            f"the host file `{path}` cannot be read: {error.strerror}",
            hint="check the path, and who may read it",
        ) from error
    except UnicodeDecodeError as error:
        raise DataError(
            f"the host file `{path}` is no text in UTF-8: byte {error.start:,} is "
            f"0x{error.object[error.start]:02x}",
            hint="save it again as UTF-8",
        ) from error
    hosts = [
        host
        for number, line in enumerate(text.splitlines(), 1)
        for host in _parse_line(line, f"{path}, line {number}")
    ]
    if not hosts:
        raise DataError(f"`{path}` names no host", hint="write one host on each line")
    return hosts


def parse_devices(text: str) -> tuple[int, ...]:
    """Device ids: `8` means the first eight, `4-7` and `0,1` mean these."""
    if re.fullmatch(r"\d{1,4}", text, re.ASCII):
        return tuple(range(int(text)))
    ids: list[int] = []
    for part in text.split(","):
        run = re.fullmatch(r"(\d{1,4})(?:-(\d{1,4}))?", part.strip(), re.ASCII)
        if run is None or int(run[2] or run[1]) < int(run[1]):
            raise UsageError(
                f"`{text}` is no choice of devices",
                hint="a number for the first ones, as `8`; or their ids, as `4-7` or `0,1`",
            )
        ids += range(int(run[1]), int(run[2] or run[1]) + 1)
    return tuple(ids)


def _parse_line(line: str, where: str) -> Iterator[Host]:
    words = line.split("#", 1)[0].split()
    if not words:
        return
    devices = None
    for word in words[1:]:
        slots = _SLOTS.fullmatch(word)
        if slots is None:
            raise DataError(
                f"{where}: `{word}` is not understood",
                hint="a line is a host, and `slots=8` if it differs from the others",
            )
        devices = int(slots[1])
    for name in _expand(words[0]):
        yield Host(name, devices)


def _expand(word: str) -> Iterator[str]:
    """`node[01-03,7]` is node01, node02, node03 and node7; zeros in front are kept."""
    match = _RANGE.fullmatch(word)
    if match is None:
        if "[" in word or "]" in word:
            raise UsageError(f"`{word}` is no host", hint="one pair of brackets, as `node[01-16]`")
        yield word
        return
    for part in match["inside"].split(","):
        run = re.fullmatch(r"(\d+)(?:-(\d+))?", part, re.ASCII)
        if run is None or int(run[2] or run[1]) < int(run[1]):
            raise UsageError(f"`{part}` in `{word}` is no range", hint="as in `node[01-16]`")
        count = int(run[2] or run[1]) - int(run[1]) + 1
        if count > _MOST_HOSTS:
            raise UsageError(
                f"`{word}` names {count:,} hosts; no cluster has so many",
                hint="check the range, as in `node[01-16]`",
            )
        for number in range(int(run[1]), int(run[2] or run[1]) + 1):
            yield f"{match['before']}{number:0{len(run[1])}}{match['after']}"
