"""A project is copied into the run folder; what is large is linked, and told if written to."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

import pytest

from trainferry.rehearse.prepare import copy as copying
from trainferry.rehearse.prepare.copy import copy_project, in_place, is_run_folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "nets").mkdir(parents=True)
    (root / "train.py").write_text("import nets\n")
    (root / "nets" / "__init__.py").write_text("")
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o755)
    return root


def names(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir())


def test_a_copy_holds_what_the_project_holds(project: Path, tmp_path: Path) -> None:
    copy = copy_project(project, tmp_path / "copy")
    assert names(copy.root) == names(project)
    assert (copy.root / "run.sh").stat().st_mode & 0o111
    assert (copy.files, copy.links) == (3, [])


def test_version_control_environments_and_byte_code_stay(project: Path, tmp_path: Path) -> None:
    for name in (".git/config", "nets/__pycache__/x.pyc", "venv/pyvenv.cfg"):
        (project / name).parent.mkdir(parents=True)
        (project / name).touch()
    assert names(copy_project(project, tmp_path / "copy").root) == names_without(project)


def names_without(project: Path) -> list[str]:
    hidden = (".git", "venv", "__pycache__")
    return [name for name in names(project) if not any(part in name for part in hidden)]


def test_large_files_are_linked_and_weights_are_not(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "_LARGE_BYTES", 10)
    (project / "data.bin").write_bytes(b"x" * 100)
    (project / "waves.h5").write_bytes(b"x" * 100)
    copy = copy_project(project, tmp_path / "copy")
    assert (copy.root / "data.bin").is_symlink()
    assert not (copy.root / "waves.h5").is_symlink()
    assert [link.path for link in copy.links if link.path.suffix == ".bin"]
    assert copy.written_links() == []


def test_writing_through_a_link_is_noticed(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "_LARGE_BYTES", 50)
    (project / "data.bin").write_bytes(b"x" * 100)
    copy = copy_project(project, tmp_path / "copy")
    (copy.root / "data.bin").write_bytes(b"y")
    assert copy.written_links() == [PurePosixPath("data.bin")]


def test_a_folder_of_thousands_of_pictures_is_linked(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "_MANY_FILES", 5)
    for number in range(6):
        (project / "photos").mkdir(exist_ok=True)
        (project / "photos" / f"{number}.jpg").touch()
    copy = copy_project(project, tmp_path / "copy")
    assert (copy.root / "photos").is_symlink()
    assert (copy.root / "photos" / "3.jpg").exists()


def test_links_within_the_project_stay_within_the_copy(project: Path, tmp_path: Path) -> None:
    (project / "best.py").symlink_to("train.py")
    (project / "again").symlink_to(project / "nets")
    (tmp_path / "outside").mkdir()
    (project / "data").symlink_to(tmp_path / "outside")
    copy = copy_project(project, tmp_path / "copy")
    assert (copy.root / "best.py").resolve() == (copy.root / "train.py").resolve()
    assert (copy.root / "again").resolve() == (copy.root / "nets").resolve()
    assert (copy.root / "data").resolve() == tmp_path / "outside"


def test_links_that_lead_nowhere_or_round_do_not_stop_it(project: Path, tmp_path: Path) -> None:
    (project / "gone").symlink_to("nowhere")
    (project / "round").symlink_to("round")
    (project / "up").symlink_to("..")
    copy = copy_project(project, tmp_path / "copy")
    assert (copy.root / "gone").is_symlink()
    assert (copy.root / "up").resolve() == tmp_path.resolve()


def test_a_run_folder_in_the_project_is_not_copied_into_itself(project: Path) -> None:
    (project / "old").mkdir()
    (project / "old" / "command.json").write_text('{"made_by": "trainferry rehearse"}')
    assert is_run_folder(project / "old")
    copy = copy_project(project, project / "rehearsal" / "migrated" / "project")
    assert names(copy.root) == ["nets/__init__.py", "run.sh", "train.py"]


def test_pipes_and_sockets_are_left_out(project: Path, tmp_path: Path) -> None:
    os.mkfifo(project / "pipe")
    copy = copy_project(project, tmp_path / "copy")
    assert not (copy.root / "pipe").exists()


def test_in_place_is_the_project_itself(project: Path) -> None:
    assert in_place(project).is_in_place
    assert in_place(project).root == project
