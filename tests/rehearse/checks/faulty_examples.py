"""Runs the scripts of examples/faulty as a rehearsal does, and gives what is found in them."""

from __future__ import annotations

import json
import re
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath

from trainferry.rehearse.check import check_run, joined
from trainferry.rehearse.endings import judge
from trainferry.rehearse.facts import read_facts
from trainferry.rehearse.finding import Finding
from trainferry.rehearse.hub import Hub
from trainferry.rehearse.hub_checks import HubFinding
from trainferry.rehearse.places import Places
from trainferry.rehearse.start import (
    ENTRY,
    STAND_IN,
    Ending,
    Limits,
    script_environment,
    start_script,
)

EXAMPLES = Path(__file__).resolve().parents[3] / "examples/faulty"
_STEPS = 10


@dataclass(frozen=True)
class Example:
    """A script, and what its comments say of it."""

    path: Path
    ranks: int
    adapter: str
    check: str
    line: int

    @property
    def name(self) -> str:
        return f"{self.path.parent.name}_{self.path.stem}" if not self.check else self.path.stem

    @property
    def place(self) -> str:
        return f"{self.path.name}:{self.line}"


def read_example(path: Path) -> Example:
    text = path.read_text("utf-8")
    ranks = re.search(r"^# ranks: (\d+)$", text, re.MULTILINE)
    adapter = re.search(r"^# adapter: (\w+)$", text, re.MULTILINE)
    faults = [
        (found[1], number)
        for number, line in enumerate(text.splitlines(), 1)
        if (found := re.search(r"# fault: ([\w-]+)$", line))
    ]
    check, line = faults[0] if faults else ("", 0)
    return Example(
        path, int(ranks[1]) if ranks else 1, adapter[1] if adapter else "patched", check, line
    )


FAULTY = [read_example(path) for path in sorted(EXAMPLES.glob("*.py"))]
CLEAN = [read_example(path) for path in sorted((EXAMPLES / "clean").glob("*.py"))]


def run_example(example: Example, python: str, folder: Path) -> None:
    """Run it on all its ranks; what they did is then in `folder`."""
    work = folder / "work"
    work.mkdir(parents=True)
    script = work / example.path.name
    script.write_bytes(example.path.read_bytes())
    homes = [folder / f"rank_{rank}" for rank in range(example.ranks)]
    with tempfile.TemporaryDirectory() as short:
        hub = Hub(Path(short) / "hub", example.ranks, grace_seconds=1, stall_seconds=20)
        with hub:
            scripts = [
                start_script(
                    [python, script.name],
                    folder=work,
                    environment=_environment(example, rank, home, hub),
                    output=home / "output.txt",
                    limits=Limits(timeout_seconds=300),
                )
                for rank, home in enumerate(homes)
            ]
            for rank, (one, home) in enumerate(zip(scripts, homes, strict=True)):
                ending = one.wait()
                hub.rank_ended(rank)
                told = {"code": ending.code, "last_lines": ending.last_lines}
                (home / "ending.json").write_text(json.dumps(told), encoding="utf-8")
    found = json.dumps([asdict(one) for one in hub.findings])
    (folder / "hub.json").write_text(found, encoding="utf-8")


def find_in(folder: Path, script: str) -> list[Finding]:
    """What the checks, the hub and the ends of the scripts say of a run in `folder`."""
    hub = [_hub_finding(row) for row in json.loads((folder / "hub.json").read_text("utf-8"))]
    homes = sorted(folder.glob("rank_*"))
    judged = [
        judge(_read_ending(home), rank, folder / "work").finding for rank, home in enumerate(homes)
    ]
    # The hub said it with ranks and operators; the script only repeats its words.
    stopped = [one for one in judged if one and not (hub and one.check == "run-hangs")]
    found = check_run([read_facts(home) for home in homes], hub)
    places = Places(folder / "work", PurePosixPath(script))
    return [places.in_project(one) for one in joined([*found, *stopped])]


def _environment(example: Example, rank: int, home: Path, hub: Hub) -> dict[str, str]:
    (home / "scratch").mkdir(parents=True)
    watch = {"folder": str(home), "steps": _STEPS, "values": None, "seed": None, "precision": None}
    (home / "watch.json").write_text(json.dumps(watch), encoding="utf-8")
    more = {
        "TRAINFERRY_WATCH": str(home / "watch.json"),
        "TRAINFERRY_NOTES": str(home / "notes.jsonl"),
        "TRAINFERRY_ADAPTER": example.adapter,
        "RANK_ID": str(rank),
        "RANK_SIZE": str(example.ranks),
        "DEVICE_ID": str(rank),
        "ASCEND_DEVICE_ID": str(rank),
        "JOB_ID": "rehearsal",
    }
    if example.ranks > 1:
        more["TRAINFERRY_HUB"] = str(hub.path)
    return script_environment([ENTRY, STAND_IN], home / "scratch", more)


def _hub_finding(row: dict[str, object]) -> HubFinding:
    lists = {name: tuple(value) for name, value in row.items() if isinstance(value, list)}
    return HubFinding(**{**row, **lists})  # type: ignore[arg-type]  # as `asdict` wrote it


def _read_ending(home: Path) -> Ending:
    told = json.loads((home / "ending.json").read_text("utf-8"))
    return Ending(
        code=told["code"],
        signal=None,
        timed_out=False,
        stopped=False,
        error=None,
        seconds=1.0,
        output=home / "output.txt",
        output_bytes=0,
        left_behind=0,
        last_lines=tuple(told["last_lines"]),
    )
