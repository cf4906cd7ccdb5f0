"""Which files of a folder are read, and that one bad file does not stop the others."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from trainferry.errors import UsageError
from trainferry.migrate.read import LARGEST_BYTES, Project, read_project


def write(root: Path, *names: str, text: str = "x = 1\n") -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


def names_of(project: Project) -> list[str]:
    return [str(source.path) for source in project.sources]


def skipped_in(project: Project) -> dict[str, str]:
    return {str(path): reason for path, reason in project.skipped}


def git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)


def test_sources_come_in_a_fixed_order_with_their_modules(tmp_path: Path) -> None:
    write(tmp_path, "train.py", "pkg/__init__.py", "pkg/net.py", "a/b.py", "a.py", "data/words.py")
    write(tmp_path, "notes.txt", "data/words.csv", "__init__.py")
    write(tmp_path, "bin/start", text="#!/usr/bin/env python\nx = 1\n")
    write(tmp_path, "bin/other", text="#!/bin/sh\n(\n")
    project = read_project(tmp_path)
    assert [(str(source.path), source.module) for source in project.sources] == [
        ("__init__.py", "__init__"),
        ("a/b.py", "a.b"),
        ("a.py", "a"),
        ("bin/start", "bin.start"),
        ("data/words.py", "data.words"),
        ("pkg/__init__.py", "pkg"),
        ("pkg/net.py", "pkg.net"),
        ("train.py", "train"),
    ]
    assert (project.unreadable, project.skipped) == ((), ())


def test_one_file_is_a_project(tmp_path: Path) -> None:
    write(tmp_path, "a.py", "b.py", "script")
    assert names_of(read_project(tmp_path / "a.py")) == ["a.py"]
    assert names_of(read_project(tmp_path / "script")) == ["script"]


def test_a_project_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        read_project(tmp_path / "nowhere")


def test_folders_that_are_not_the_users_code_are_skipped_and_told(tmp_path: Path) -> None:
    write(tmp_path, "a.py", ".git/hooks/x.py", "__pycache__/x.py", "web/node_modules/x.py")
    write(tmp_path, "env/pyvenv.cfg", "env/lib/x.py", "old/bin/activate", "old/x.py")
    (tmp_path / ".git").rename(tmp_path / ".svn")
    project = read_project(tmp_path)
    assert names_of(project) == ["a.py"]
    assert skipped_in(project) == {
        ".svn": "version control",
        "__pycache__": "compiled files",
        "web/node_modules": "packages of Node",
        "env": "a virtual environment",
        "old": "a virtual environment",
    }


def test_bad_files_are_told_and_the_rest_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "good.py", "folder.py/inside.py", "locked.py")
    write(tmp_path, "syntax.py", text="x = 1\ny = = 2\n")
    (tmp_path / "null.py").write_bytes(b"\0")
    with (tmp_path / "large.py").open("wb") as file:
        file.truncate(LARGEST_BYTES + 1)
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "broken.py").symlink_to("nothing")
    (tmp_path / "loop.py").symlink_to("loop.py")
    (tmp_path / "closed").mkdir()

    def refuse(path: Path) -> bytes:
        if path.name == "locked.py":
            raise PermissionError(13, "Permission denied")
        return read_bytes(path)

    read_bytes = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", refuse)
    project = read_project(tmp_path)
    assert names_of(project) == ["folder.py/inside.py", "good.py"]
    told = {str(one.path): (one.line, one.reason) for one in project.unreadable}
    assert told.pop("syntax.py")[0] == 2
    assert {name: reason for name, (_, reason) in told.items()} == {
        "broken.py": "is a link to nothing",
        "folder.py": "is a folder, not a file",
        "large.py": "has 10 MB; files over 10 MB are taken for data",
        "locked.py": "cannot be opened: Permission denied",
        "loop.py": "is a link to nothing",
        "null.py": "has null bytes, this is no text",
        "pipe.py": "is not a regular file",
    }


def test_a_folder_that_cannot_be_listed_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "a.py", "closed/b.py")
    scandir = os.scandir

    def refuse(path: Path) -> object:
        if path.name == "closed":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr("trainferry.migrate.reading.walk.os.scandir", refuse)
    project = read_project(tmp_path)
    assert names_of(project) == ["a.py"]
    assert project.unreadable[0].reason == "cannot be listed: Permission denied"


def test_links_are_followed_once_and_never_out_of_the_project(tmp_path: Path) -> None:
    root = tmp_path / "project"
    write(tmp_path, "outside/secret.py", "secret.py")
    write(root, "net.py", "scripts/run", "pkg/a.py")
    (root / "again.py").symlink_to("net.py")
    (root / "run.py").symlink_to("scripts/run")
    (root / "run_too.py").symlink_to("scripts/run")
    (root / "out.py").symlink_to(tmp_path / "secret.py")
    (root / "away").symlink_to(tmp_path / "outside")
    (root / "up").symlink_to("..")
    (root / "copy").symlink_to("pkg")
    project = read_project(root)
    assert names_of(project) == ["net.py", "pkg/a.py", "run.py"]
    assert skipped_in(project) == {
        "again.py": "a link to net.py, which is read",
        "away": "a link to a folder, not followed",
        "copy": "a link to a folder, not followed",
        "out.py": "a link out of the project, not followed",
        "run_too.py": "a link to run.py, which is read",
        "up": "a link to a folder, not followed",
    }


def test_a_link_to_the_project_is_the_project(tmp_path: Path) -> None:
    write(tmp_path, "project/a.py")
    (tmp_path / "link").symlink_to("project")
    assert names_of(read_project(tmp_path / "link")) == ["a.py"]


def test_what_git_ignores_is_skipped_and_told(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, ".gitignore", text="build/\n*_local.py\n")
    write(
        tmp_path, "tracked_local.py", "new.py", "me_local.py", "build/x.py", "sub/ü.py", "gone.py"
    )
    git(tmp_path, "add", "-f", "tracked_local.py", "gone.py")
    (tmp_path / "gone.py").unlink()
    (tmp_path / "nested").mkdir()
    git(tmp_path / "nested", "init", "-q")
    write(tmp_path, "nested/inner.py")
    project = read_project(tmp_path)
    assert names_of(project) == ["nested/inner.py", "new.py", "sub/ü.py", "tracked_local.py"]
    ignored = {name for name, reason in skipped_in(project).items() if reason == "ignored by Git"}
    assert ignored == {"build/x.py", "me_local.py"}
    assert names_of(read_project(tmp_path / "sub")) == ["ü.py"]
    assert names_of(read_project(tmp_path / "build")) == ["x.py"]


def test_without_git_everything_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, ".gitignore", text="a.py\n")
    write(tmp_path, "a.py", "b.py")
    monkeypatch.setenv("PATH", str(tmp_path))
    project = read_project(tmp_path)
    assert names_of(project) == ["a.py", "b.py"]
    assert skipped_in(project)["."] == ".gitignore is not considered: git is not installed"


def test_a_broken_work_tree_is_read_without_git(tmp_path: Path) -> None:
    write(tmp_path, ".git", text="gitdir: nowhere\n")
    write(tmp_path, "a.py")
    project = read_project(tmp_path)
    assert names_of(project) == ["a.py"]
    assert "not considered: fatal" in skipped_in(project)["."]


def test_a_project_cannot_make_git_start_a_program(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, "a.py")
    write(tmp_path, "evil", text=f"#!/bin/sh\ntouch {tmp_path}/started\n")
    (tmp_path / "evil").chmod(0o755)
    git(tmp_path, "config", "core.fsmonitor", str(tmp_path / "evil"))
    assert names_of(read_project(tmp_path)) == ["a.py"]
    assert not (tmp_path / "started").exists()


def test_parts_of_a_notebook_that_are_not_read_are_told(tmp_path: Path) -> None:
    cells = '{"cell_type": "code", "source": "%%bash"}, {"cell_type": "code", "source": "a b"}'
    write(tmp_path, "net.ipynb", text=f'{{"cells": [{cells}]}}')
    project = read_project(tmp_path)
    assert skipped_in(project) == {"net.ipynb": "cell 1 is not Python but %%bash"}
    assert project.unreadable[0].reason.startswith("cell 2: invalid syntax")
