"""What the end of a script means: a refusal of the device, a fault of its own, or a good end."""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.rehearsal import Outcome
from trainferry.rehearse.start import Ending

# Errors of the stand-ins that say: the device, or its adapter, would do the same.
REFUSALS = {
    "RefusedValue": ("refused-value", "give a value that the adapter takes"),
    "RefusedType": ("refused-value", "give what the adapter takes"),
    "NotInitialised": ("not-initialised", "start collective communication before it is asked"),
    "UnknownRank": ("not-initialised", "call `init_resource()` before ranks are asked for"),
    "WouldFail": ("run-fails", "see the message"),
    "WouldHang": ("run-hangs", "let all ranks run the same collectives, in the same order"),
}
_ERROR = re.compile(r"(?:^|[.\s:])(" + "|".join(REFUSALS) + r"): (.+)")
_NO_NAME = re.compile(
    r"(cannot import name .* from|No module named|module) '(npu_bridge|hccl)[.'].*|"
    r"No module named '(npu_bridge|hccl)"
)
_STAND_IN = "/rehearse/stand_in/"
_FRAME = re.compile(r'^\s*File "(.+?)", line (\d+)')
_LIBRARY = re.compile(r"/(site|dist)-packages/|/lib/python3\.\d+/|/rehearse/(probe|stand_in)/|^<")
_NAMED = re.compile(r"[\w.]+(Error|Exception|Exit)\b")
_PROBE_FAILED = 70  # as `probe/entry/sitecustomize.py` says it


@dataclass(frozen=True)
class Judgement:
    """The meaning of an ending."""

    outcome: Outcome
    error: str = ""
    hint: str = ""
    finding: Finding | None = None
    timed_out: bool = False


def judge(ending: Ending, rank: int, root: Path, entry: str | PurePosixPath = "") -> Judgement:
    """Say what an ending means; `root` is where the script `entry` ran."""
    if ending.is_good:
        return Judgement(Outcome.GOOD)
    if ending.stopped:
        return Judgement(Outcome.STOPPED)
    refusal = _refusal(ending, rank)
    if refusal is not None:
        return Judgement(Outcome.REFUSED, refusal.message, refusal.hint, refusal)
    error = _last_error(ending)
    hint = _hint(ending, error, root, PurePosixPath(entry).parent)
    return Judgement(Outcome.FAILED, error, hint, timed_out=ending.timed_out)


def _refusal(ending: Ending, rank: int) -> Finding | None:
    told = _named_refusal(ending.last_lines) or _plain_refusal(ending.last_lines)
    if told is None:
        return None
    check, hint, message = told
    place = user_frame(ending.last_lines)
    places = (place,) if place else ()
    return Finding(check, Severity.REFUSED, message.strip(), hint, places, ranks=(rank,))


def _named_refusal(lines: tuple[str, ...]) -> tuple[str, str, str] | None:
    for line in reversed(lines):
        if found := _ERROR.search(line):
            return (*REFUSALS[found[1]], found[2])
    return None


def _plain_refusal(lines: tuple[str, ...]) -> tuple[str, str, str] | None:
    """A name that the adapter has not, or an error that a stand-in raises as the adapter does."""
    frames = [index for index, line in enumerate(lines) if _FRAME.match(line)]
    if not lines or not frames:
        return None
    error = lines[-1]
    if _NO_NAME.search(error):
        return "refused-value", "import what the adapter has", error
    frame, source = lines[frames[-1]], lines[min(frames[-1] + 1, len(lines) - 1)]
    is_raised = _STAND_IN in frame and source.strip().startswith("raise ")
    if is_raised and "NotOnThisMachine" not in error:
        return (*REFUSALS["RefusedValue"], error)
    return None


def user_frame(lines: tuple[str, ...]) -> str:
    """`file:line` of the innermost frame of the last traceback that is the user's own."""
    found = ""
    for line in lines:
        if line.startswith("Traceback "):
            found = ""
        frame = _FRAME.match(line)
        if frame and not _LIBRARY.search(frame[1]):
            found = f"{frame[1]}:{frame[2]}"
    return found


def _last_error(ending: Ending) -> str:
    """The last line that reads like an error; the last line at all where there is none."""
    named = [line for line in ending.last_lines if _NAMED.match(line)]
    if named:
        return named[-1].strip()
    return ending.last_lines[-1].strip() if ending.last_lines else ""


def _hint(ending: Ending, error: str, root: Path, folder: PurePosixPath) -> str:
    advice = (
        _advice_on_end(ending)
        or _advice_on_module(error, root)
        or _advice_on_error(error, root, folder)
    )
    return "; ".join(filter(None, [advice, f"all that it printed is in {ending.output}"]))


def _advice_on_end(ending: Ending) -> str:
    if ending.timed_out:
        return "give it longer by `--timeout`, fewer `--steps`, or less data by `--tiny`"
    if ending.code == _PROBE_FAILED:
        return "this is a mistake of trainferry, please report it"
    if ending.signal == signal.SIGKILL:
        return "the machine may be out of memory: try a smaller batch"
    return ""


def _advice_on_module(error: str, root: Path) -> str:
    missing = re.search(r"No module named '?([\w.]+)", error)
    if missing is None:
        return ""
    name = missing[1].partition(".")[0]
    if any(root.rglob(f"{name}.py")) or any(root.rglob(f"{name}/__init__.py")):
        return "set PYTHONPATH as the project needs it: `PYTHONPATH=. trainferry rehearse …`"
    if name == "horovod":  # originals that need it run with a stand-in
        return "finish what `trainferry migrate` left by hand: Horovod does not run on NPUs"
    return f"install `{name}` in the interpreter of `--python`"


def _advice_on_error(error: str, root: Path, folder: PurePosixPath) -> str:
    if "NotOnThisMachine" in error:
        return "only the device can do this: leave it out of the rehearsal"
    if re.search(r"URLError|URL fetch failure|urlopen error", error):
        return "the script fetches its data from the network: put the data in its place first"
    if re.search(r"No such file|NotFoundError|FileNotFound", error):
        if _is_beside_the_script(error, root, folder):
            return (
                f"the script is written to be started in its own folder: rehearse the project "
                f"`{folder}` in place, by `--in-project`"
            )
        return (
            "the script ran in a copy of the project: give absolute paths, or run in place by "
            "`--in-project`"
        )
    return ""


def _is_beside_the_script(error: str, root: Path, folder: PurePosixPath) -> bool:
    """Whether the file that was not found is there when one looks from the script's folder."""
    found = re.search(r"'([^'\s]+)'", error) or re.search(r"([^\s:;]+)[;:] No such file", error)
    path = Path(found[1]) if found else Path("/")
    return folder != PurePosixPath() and not path.is_absolute() and (root / folder / path).exists()
