"""Which versions each rank runs, and whether they are the same everywhere."""

from __future__ import annotations

import hashlib
import platform
from collections import defaultdict
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path

import trainferry
from trainferry.launch.preflight.crew import Crew
from trainferry.launch.preflight.report import Check, Problem

_PACKAGES = ("numpy",)
_SOURCE = "trainferry's files"


def find_versions() -> dict[str, str]:
    """Versions of what every rank runs; those of drivers come from whoever may ask for them."""
    import torch

    found = {
        "python": platform.python_version(),
        "trainferry": trainferry.__version__,
        _SOURCE: _digest(Path(trainferry.__file__).parent),
        "torch": str(torch.__version__),
    }
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "none"
    return found


def judge_versions(crew: Crew, versions: Mapping[int, Mapping[str, str]]) -> Check:
    names = list(dict.fromkeys(name for found in versions.values() for name in found))
    shown: list[str] = []
    problems: list[Problem] = []
    for name in names:
        ranks: dict[str, list[int]] = defaultdict(list)
        for rank, found in versions.items():
            ranks[found.get(name, "none")].append(rank)
        if len(ranks) > 1:
            problems.append(_different(crew, name, ranks))
        elif name != _SOURCE:
            shown.append(f"{name} {next(iter(ranks))}")
    sentence = f"equal on all ranks: {', '.join(shown)}" if shown else "nothing is equal"
    return Check("versions", sentence, tuple(problems), measured=dict(_table(versions)))


def _different(crew: Crew, name: str, ranks: Mapping[str, list[int]]) -> Problem:
    common = max(ranks, key=lambda version: len(ranks[version]))
    others = [
        f"{version} on {crew.name_all(found)}"
        for version, found in ranks.items()
        if version != common
    ]
    count = len(ranks[common])
    sentence = f"{name}: {common} on {count} rank{'' if count == 1 else 's'}, {'; '.join(others)}"
    # Machines with other drivers, and Pythons with other third numbers, do work together.
    is_python = name == "python"
    may_differ = name.endswith("driver") or (is_python and len(set(map(_minor, ranks))) == 1)
    return Problem("warning" if may_differ else "wrong", sentence, _fix(name, common))


def _fix(name: str, common: str) -> str:
    if name == _SOURCE:
        return "copy the same trainferry to all machines"
    if name in ("torch", "trainferry", *_PACKAGES) and common != "none":
        return f"pip install {name}=={common.partition('+')[0]} there, or use one image"
    return f"bring {name} to one version on all machines, or use one image"


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def _table(versions: Mapping[int, Mapping[str, str]]) -> Iterator[tuple[str, dict[str, list[int]]]]:
    """For each name, which ranks run which version."""
    for name in dict.fromkeys(name for found in versions.values() for name in found):
        ranks: dict[str, list[int]] = defaultdict(list)
        for rank, found in sorted(versions.items()):
            ranks[found.get(name, "none")].append(rank)
        yield name, dict(ranks)


def _digest(folder: Path) -> str:
    """A short number for the source: machines without a common disk may hold other files."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
