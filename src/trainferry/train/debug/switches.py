"""What `--debug` asks for, read before anything is built."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from trainferry.errors import UsageError

KINDS = ("overflow", "dump", "profile", "one-batch")
FORMATS = ("fp16", "bf16", "fp32")
USUAL_LIMIT = 4 * 1024**3

_UNITS = {"KiB": 1024, "MiB": 1024**2, "GiB": 1024**3, "TiB": 1024**4}
_MOST_PROFILED = 1000
_ONE_BATCH = "one-batch"
_USUAL_STEPS = 300


@dataclass(frozen=True)
class OverflowSwitch:
    """Look for values beyond the range of a number format; None: that of the recipe."""

    format: str | None = None


@dataclass(frozen=True)
class DumpSwitch:
    """Write what goes in and out of the layers called like `pattern`, at these steps."""

    steps: tuple[range, ...]
    pattern: str = "*"
    limit_bytes: int = USUAL_LIMIT

    def holds(self, step: int) -> bool:
        return any(step in part for part in self.steps)


@dataclass(frozen=True)
class ProfileSwitch:
    """Trace `count` steps, the first of which is number `start`."""

    start: int
    count: int

    @property
    def last(self) -> int:
        return self.start + self.count - 1


@dataclass(frozen=True)
class OneBatch:
    """Learn one batch by heart instead of training; no switch, for there is no run to look at."""

    steps: int = _USUAL_STEPS


Switch = OverflowSwitch | DumpSwitch | ProfileSwitch


def parse_one_batch(texts: Sequence[str]) -> OneBatch | None:
    """Read `one-batch` among the values of `--debug`, where it stands alone, or return None."""
    values = [text for text in texts if text.partition("=")[0] == _ONE_BATCH]
    if not values:
        return None
    if len(texts) > 1:
        raise UsageError(
            "--debug one-batch trains no run that another --debug could look at",
            hint="give it alone, and once",
        )
    _, given, steps = values[0].partition("=")
    if not given:
        return OneBatch()
    if not re.fullmatch(r"0*[1-9]\d{0,6}", steps, re.ASCII):
        raise UsageError(
            f"`{steps}` is no number of steps to learn one batch in",
            hint=f"write --debug one-batch for {_USUAL_STEPS}, or for example one-batch=1000",
        )
    return OneBatch(int(steps))


def parse_switches(texts: Sequence[str]) -> tuple[Switch, ...]:
    """Read the values of `--debug`; each kind may be given once."""
    switches = [_parse(text) for text in texts]
    kinds = [type(switch) for switch in switches]
    for text, switch in zip(texts, switches, strict=True):
        if kinds.count(type(switch)) > 1:
            raise UsageError(
                f"--debug {text.partition('=')[0]} is given twice",
                hint="give it once; a dump takes several steps: --debug dump=10,20-22",
            )
    if OverflowSwitch in kinds and ProfileSwitch in kinds:
        raise UsageError(
            "a step that is watched for overflows has not its usual time to profile",
            hint="give --debug overflow and --debug profile=… one after the other",
        )
    return tuple(switches)


def show_bytes(count: int) -> str:
    """Return a size as people say it: 512 bytes, 3.2 MiB, 1.5 GiB."""
    for unit, size in reversed(_UNITS.items()):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"


def _parse(text: str) -> Switch:
    kind, _, value = text.partition("=")
    if kind not in KINDS:
        near = difflib.get_close_matches(kind, KINDS, n=1)
        raise UsageError(
            f"there is nothing called `{kind}` to debug with",
            hint=f"did you mean `{near[0]}`?" if near else f"there are: {', '.join(KINDS)}",
        )
    return _PARSERS[kind](value)


def _parse_overflow(value: str) -> OverflowSwitch:
    if value and value not in FORMATS:
        raise UsageError(
            f"`{value}` is no number format to look for overflows of",
            hint=f"write --debug overflow, or overflow= and one of {', '.join(FORMATS)}",
        )
    return OverflowSwitch(value or None)


def _parse_dump(value: str) -> DumpSwitch:
    steps, _, rest = value.partition(":")
    pattern, _, limit = rest.partition(":")
    return DumpSwitch(
        tuple(_parse_steps(part) for part in re.split("[,|]", steps)),
        pattern or "*",
        _parse_bytes(limit) if limit else USUAL_LIMIT,
    )


def _parse_steps(text: str) -> range:
    match = re.fullmatch(r"(\d+)(?:-(\d+))?", text.strip(), re.ASCII)
    first = int(match[1]) if match else 0
    last = int(match[2]) if match and match[2] else first
    if not 1 <= first <= last:
        raise UsageError(
            f"`{text}` says no step to dump",
            hint="write --debug dump=10, or dump=1,10-12 for several; the first step is 1",
        )
    return range(first, last + 1)


def _parse_bytes(text: str) -> int:
    match = re.fullmatch(r"(\d+(?:\.\d+)?) ?(KiB|MiB|GiB|TiB)", text.strip(), re.ASCII)
    count = int(float(match[1]) * _UNITS[match[2]]) if match else 0
    if count < 1:
        raise UsageError(
            f"`{text}` is no size a dump may have",
            hint="write for example --debug dump=10:*:8GiB",
        )
    return count


def _parse_profile(value: str) -> ProfileSwitch:
    match = re.fullmatch(r"(\d+)(?::(\d+))?", value.strip(), re.ASCII)
    start, count = (int(match[1]), int(match[2] or 1)) if match else (0, 0)
    if start < 1 or not 1 <= count <= _MOST_PROFILED:
        raise UsageError(
            f"`{value}` does not say which steps to profile",
            hint="write --debug profile=START:COUNT, for example profile=10:3 for the steps 10 to "
            f"12; the first step is 1, and at most {_MOST_PROFILED} fit into a trace",
        )
    return ProfileSwitch(start, count)


_PARSERS: dict[str, Callable[[str], Switch]] = {
    "overflow": _parse_overflow,
    "dump": _parse_dump,
    "profile": _parse_profile,
}
