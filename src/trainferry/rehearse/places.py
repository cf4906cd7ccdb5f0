"""Where something is in the user's project: `file:line`, relative to the project."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from trainferry.rehearse.finding import Finding


@dataclass(frozen=True)
class Places:
    """Turns places that a script in `root` told into places of the project."""

    root: Path
    entry: PurePosixPath

    def of(self, place: str) -> str:
        """What the script's own folder or the folder it ran in holds; else as it was told."""
        name, colon, line = place.rpartition(":")
        if not (colon and line.isdigit()):
            name, line = place, ""
        for base in (self.root / self.entry.parent, self.root):
            path = Path(os.path.normpath(base / name))
            if path.is_file() and path.is_relative_to(self.root):
                return f"{path.relative_to(self.root)}{colon}{line}"
        return place

    def line(self, place: str) -> str | None:
        """The text of the line at a place of the project."""
        name, _, line = place.rpartition(":")
        try:
            lines = (self.root / name).read_text("utf-8", errors="replace").splitlines()
            return lines[int(line) - 1].strip()
        except (OSError, ValueError, IndexError):
            return None

    def in_project(self, finding: Finding) -> Finding:
        """The finding with places of the project, each once."""
        places = dict.fromkeys(self.of(place) for place in finding.places if place)
        return replace(finding, places=tuple(places))
