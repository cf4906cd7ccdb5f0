"""Whether the folders that a run writes to can be written, and have space."""

from __future__ import annotations

import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from trainferry.launch.preflight.crew import Crew
from trainferry.launch.preflight.report import Check, Problem

_GB = 1000**3
LITTLE_BYTES = 5 * _GB
TOO_LITTLE_BYTES = _GB // 2

FreeBytes: TypeAlias = Callable[[Path], int]
FolderFacts: TypeAlias = dict[str, Any]  # path, free, problem


def free_bytes(folder: Path) -> int:
    """What this user may still write there."""
    return shutil.disk_usage(folder).free


def folders_of_a_run(others: Sequence[Path]) -> list[Path]:
    """Those of any run, and `others`, each once."""
    named = [Path.cwd(), *others, Path(tempfile.gettempdir())]
    return list(dict.fromkeys(path.absolute() for path in named))


def look_at_folder(folder: Path, free: FreeBytes) -> FolderFacts:
    """A folder that is not there yet is judged by the one it would be made in."""
    there = folder
    while not there.exists() and there != there.parent:
        there = there.parent
    facts: FolderFacts = {"path": str(folder), "free": None, "problem": ""}
    try:
        facts["free"] = free(there)
        with tempfile.TemporaryFile(dir=there) as file:
            file.write(b"trainferry")
            file.flush()
    except OSError as error:
        facts["problem"] = (error.strerror or str(error)).lower()
    return facts


def judge_folders(crew: Crew, facts: Mapping[int, Sequence[FolderFacts]]) -> Check:
    """One sentence for a folder of a machine, however many of its ranks looked at it."""
    speakers = {machine.name: facts.get(machine.speaker, ()) for machine in crew.machines}
    seen = [one["free"] for found in facts.values() for one in found if one["free"] is not None]
    least = f"at least {_show(min(seen))} free" if seen else "free space unknown"
    paths = dict.fromkeys(one["path"] for found in facts.values() for one in found)
    sentence = f"{least}, all can be written: {', '.join(paths)}"
    problems = [*_full(speakers), *_unwritable(crew, facts)]
    if problems:
        sentence = f"{least} in {', '.join(paths)}"
    measured = {name: list(found) for name, found in speakers.items()}
    return Check("disk", sentence, tuple(problems), measured=measured)


def _full(speakers: Mapping[str, Sequence[FolderFacts]]) -> Iterator[Problem]:
    for machine, found in speakers.items():
        by_space: dict[int, list[str]] = defaultdict(list)
        for one in found:
            if one["free"] is not None and one["free"] < LITTLE_BYTES:
                by_space[one["free"]].append(one["path"])
        for free, paths in by_space.items():  # folders with equal space lie on one disk
            outcome = "wrong" if free < TOO_LITTLE_BYTES else "warning"
            yield Problem(
                "wrong" if outcome == "wrong" else "warning",
                f"{machine}: {_show(free)} free in {' and '.join(paths)}",
                "free some space, or write to another disk",
            )


def _unwritable(crew: Crew, facts: Mapping[int, Sequence[FolderFacts]]) -> Iterator[Problem]:
    ranks: dict[tuple[str, str], list[int]] = defaultdict(list)
    for rank, found in facts.items():
        for one in found:
            if one["problem"]:
                ranks[one["path"], one["problem"]].append(rank)
    for (path, problem), found_by in ranks.items():
        yield Problem(
            "wrong",
            f"{crew.name_all(found_by)} cannot write to {path}: {problem}",
            "check that it is there, whose it is, and the quota",
        )


def _show(number: int) -> str:
    return f"{number / _GB:,.1f} GB" if number >= _GB else f"{number / 1000**2:,.0f} MB"
