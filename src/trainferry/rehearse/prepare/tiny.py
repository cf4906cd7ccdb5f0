"""Makes data small where that can be done without knowing the project: record files are cut.

Files in the copy of the project are cut in place, data that an argument names is cut into the run
folder. Pictures in folders, archives and what a script makes itself stay as they are.
"""

from __future__ import annotations

import os
from pathlib import Path

from trainferry.rehearse.prepare.copy import Copy
from trainferry.rehearse.prepare.records import Cut, cut_records, is_record_file

LEAST_RECORDS = 8  # of one file among many
_MOST_LOOKED_AT = 20_000
_OTHER = (".jpg", ".jpeg", ".png", ".txt", ".json", ".xml", ".csv", ".npy", ".py")


class Cutter:
    """Cuts the data of one rehearsal; what an argument names is cut once for all runs."""

    def __init__(self, folder: Path, most: int) -> None:
        self._folder = folder
        self._most = most
        self._places: dict[Path, Path] = {}
        self._cuts: list[Cut] = []
        self._is_told = most == 0

    def cut_copy(self, copy: Copy) -> None:
        """Cut the record files in a copy of the project."""
        if self._most:
            self._cuts += cut_copy(copy, self._most)

    def place(self, path: Path) -> Path:
        """Where to find small data in the place of `path`; `path` itself if it is not cut."""
        if not self._most:
            return path
        if path not in self._places:
            folder = self._folder / str(len(self._places) + 1)
            self._places[path], cuts = cut_data(path, folder, self._most)
            self._cuts += cuts
        return self._places[path]

    def told(self) -> list[str]:
        """What was cut since it was asked last; the first time also that nothing was."""
        notes = [str(cut) for cut in self._cuts]
        if not notes and not self._is_told:
            notes = ["--tiny found no record file to cut"]
        self._is_told = True
        self._cuts.clear()
        return notes


def cut_copy(copy: Copy, most: int) -> list[Cut]:
    """Cut the record files in a copy to `most` records in all, or a few of each."""
    files = [path for path in _files(copy.root) if _may_hold_records(path) and is_record_file(path)]
    share = _share(most, len(files))
    cuts = []
    for path in files:
        half_done = path.with_name(path.name + ".cut")
        cut = cut_records(path, half_done, share)
        if cut is not None:
            half_done.replace(path)  # a link is replaced, not what it leads to
            cuts.append(cut)
    links = [link for link in copy.links if (copy.root / link.path).is_symlink()]
    copy.links[:] = links
    return cuts


def cut_data(source: Path, folder: Path, most: int) -> tuple[Path, list[Cut]]:
    """Cut a record file, or those below a folder, into `folder`; what is not cut is linked there.

    Returns where to find it: `source` itself if there was nothing to cut.
    """
    files = [source] if source.is_file() else _files(source)[:_MOST_LOOKED_AT]
    records = {path for path in files if _may_hold_records(path) and is_record_file(path)}
    target = folder / source.name
    cuts: list[Cut] = []
    share = _share(most, len(records))
    for path in sorted(records):
        cut = cut_records(path, target / path.relative_to(source), share)
        if cut is not None:
            cuts.append(cut)
    if not cuts:
        return source, []
    if source.is_dir():
        _link_rest(source, target)
    return target, cuts


def _link_rest(source: Path, target: Path) -> None:
    """Link what is not there yet; folders without a cut file are linked as they are."""
    for path in sorted(source.iterdir()):
        place = target / path.name
        if not place.exists():
            place.symlink_to(path)
        elif path.is_dir():
            _link_rest(path, place)


def _may_hold_records(path: Path) -> bool:
    return path.suffix.lower() not in _OTHER


def _share(most: int, files: int) -> int:
    return max(LEAST_RECORDS, most // max(1, files))


def _files(root: Path) -> list[Path]:
    """All files; linked folders are not entered, because they are the user's."""
    found = []
    for folder, folders, names in os.walk(root):
        folders.sort()
        found += [Path(folder, name) for name in sorted(names)]
    return found
