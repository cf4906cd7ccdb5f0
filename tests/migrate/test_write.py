"""A migration is written whole or not at all, and every byte can be brought back."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path, PurePosixPath

import pytest

from tests.migrate.written import AFTER, BEFORE, make_project, migrated
from trainferry.errors import UsageError, WriteError
from trainferry.migrate.migration import MigratedFile
from trainferry.migrate.write import UNDO_NAME, write_in_place, write_tree


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


class TestNewTree:
    def test_everything_is_copied_and_only_migrated_files_differ(self, tmp_path: Path) -> None:
        files = {"net.py": BEFORE, "data/big.bin": b"\0" * 100, "README": b"x", "a b/é.py": b"1\n"}
        project = make_project(tmp_path / "project", files)
        tree = write_tree(migrated(project), tmp_path / "new")
        assert files_of(tmp_path / "new") == files | {"net.py": AFTER}
        assert files_of(project) == files
        assert (tree.files, tree.changed) == (4, 1)

    def test_version_control_and_environments_are_left_out_and_told(self, tmp_path: Path) -> None:
        files = {"net.py": BEFORE, ".git/HEAD": b"x", "venv/pyvenv.cfg": b"", "venv/x.py": b""}
        project = make_project(tmp_path / "project", files)
        tree = write_tree(migrated(project), tmp_path / "new")
        assert files_of(tmp_path / "new") == {"net.py": AFTER}
        assert [str(path) for path, _ in tree.left_out] == [".git", "venv"]

    def test_modes_stay(self, tmp_path: Path) -> None:
        project = make_project(tmp_path / "project", {"net.py": BEFORE, "run.sh": b"#!/bin/sh\n"})
        (project / "net.py").chmod(0o755)
        (project / "run.sh").chmod(0o750)
        write_tree(migrated(project), tmp_path / "new")
        modes = [
            stat.S_IMODE((tmp_path / "new" / name).stat().st_mode) for name in files_of(project)
        ]
        assert modes == [0o755, 0o750]

    def test_links_stay_links(self, tmp_path: Path) -> None:
        project = make_project(tmp_path / "project", {"net.py": BEFORE, "data/x": b"1"})
        (tmp_path / "outside").mkdir()
        (project / "inside").symlink_to("data")
        (project / "out").symlink_to("../outside")
        (project / "nothing").symlink_to("gone")
        write_tree(migrated(project), tmp_path / "deeper" / "new")
        new = tmp_path / "deeper" / "new"
        assert (new / "inside").readlink() == Path("data")
        assert (new / "out").resolve() == (tmp_path / "outside").resolve()
        assert (new / "nothing").readlink() == Path("gone")

    def test_a_single_file_goes_alone(self, tmp_path: Path) -> None:
        project = make_project(tmp_path / "project", {"net.py": BEFORE, "other.py": BEFORE})
        write_tree(migrated(project / "net.py"), tmp_path / "new")
        assert files_of(tmp_path / "new") == {"net.py": AFTER}

    def test_a_single_file_may_go_into_a_folder_beside_it(self, tmp_path: Path) -> None:
        project = make_project(tmp_path / "project", {"net.py": BEFORE})
        write_tree(migrated(project / "net.py"), project / "new")
        assert files_of(project / "new") == {"net.py": AFTER}

    def test_a_folder_with_something_in_it_is_refused(self, tmp_path: Path) -> None:
        project = make_project(tmp_path / "project", {"net.py": BEFORE})
        make_project(tmp_path / "new", {"mine": b"1"})
        with pytest.raises(UsageError, match="already there"):
            write_tree(migrated(project), tmp_path / "new")
        assert files_of(tmp_path / "new") == {"mine": b"1"}

    def test_a_folder_in_the_project_is_refused(self, tmp_path: Path) -> None:
        project = make_project(tmp_path / "project", {"net.py": BEFORE})
        with pytest.raises(UsageError, match="inside the project"):
            write_tree(migrated(project), project / "new")

    def test_nothing_is_left_when_a_file_cannot_be_copied(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        project = make_project(tmp_path / "project", {"a.txt": b"1", "net.py": BEFORE})

        def fail(source: Path, _copy: Path) -> None:
            raise OSError(28, "No space left on device", str(source))

        monkeypatch.setattr(shutil, "copy2", fail)
        with pytest.raises(WriteError, match="No space left"):
            write_tree(migrated(project), tmp_path / "new")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["project"]

    def test_a_file_that_cannot_be_read_is_not_said_to_be_unwritable(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        project = make_project(tmp_path / "project", {"a.txt": b"1", "net.py": BEFORE})

        def fail(source: Path, _copy: Path) -> None:
            raise PermissionError(13, "Permission denied", str(source))

        monkeypatch.setattr(shutil, "copy2", fail)
        with pytest.raises(WriteError, match=r"cannot read .*a\.txt: Permission denied"):
            write_tree(migrated(project), tmp_path / "new")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["project"]

    def test_a_pipe_is_told_and_not_waited_for(self, tmp_path: Path) -> None:
        project = make_project(tmp_path / "project", {"net.py": BEFORE})
        os.mkfifo(project / "pipe")
        tree = write_tree(migrated(project), tmp_path / "new")
        assert [str(path) for path, _ in tree.left_out] == ["pipe"]


ODD = {
    "crlf.py": BEFORE.replace(b"\n", b"\r\n"),
    "no_end.py": BEFORE.rstrip(b"\n"),
    "gbk.py": "# -*- coding: gbk -*-\n# 中文\n".encode("gbk") + BEFORE,
    "bom.py": b"\xef\xbb\xbf" + BEFORE,
    "tabs.py": b"if 1:\n\timport tensorflow as tf\n\tnet = tf.nn.dropout(net, 0.8)\n",
    "form_feed.py": BEFORE + b"\x0c\nx = 1  # \x1c\xe2\x80\xa8\n",
    "a b/with blanks.py": BEFORE,
    "line\nend.py": BEFORE,
    'a "quoted" back\\slash.py': BEFORE,
    os.fsdecode(b"caf\xe9.py"): BEFORE,
    "模型.py": BEFORE,
}


class TestInPlace:
    @pytest.mark.parametrize("tool", ["git", "patch"])
    def test_the_patch_brings_every_byte_back(self, tmp_path: Path, tool: str) -> None:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
        project = make_project(tmp_path / "project", ODD)
        undo = write_in_place(migrated(project))
        assert undo == project / UNDO_NAME
        assert all((project / name).read_bytes() != data for name, data in ODD.items())
        command = (
            ["git", "apply", undo.name] if tool == "git" else ["patch", "-p1", "-i", undo.name]
        )
        if tool == "patch":
            command.append("--binary")
        subprocess.run(command, cwd=project, check=True, capture_output=True)
        undo.unlink()
        assert files_of(project) == ODD

    @pytest.mark.parametrize("place", ["", "models/words"], ids=["from the top", "from the folder"])
    def test_git_applies_the_patch_of_a_folder_of_a_work_tree(
        self, tmp_path: Path, place: str
    ) -> None:
        if shutil.which("git") is None:
            pytest.skip("git is not installed")
        project = make_project(tmp_path / "models" / "words", {"net.py": BEFORE})
        subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True, capture_output=True)
        undo = write_in_place(migrated(project))
        assert undo is not None
        command = ["git", "apply", str(undo)]
        subprocess.run(command, cwd=tmp_path / place, check=True, capture_output=True)
        assert (project / "net.py").read_bytes() == BEFORE

    def test_modes_stay(self, tmp_path: Path) -> None:
        project = make_project(tmp_path, {"net.py": BEFORE})
        (project / "net.py").chmod(0o751)
        write_in_place(migrated(project))
        assert stat.S_IMODE((project / "net.py").stat().st_mode) == 0o751

    def test_an_earlier_patch_is_kept(self, tmp_path: Path) -> None:
        project = make_project(tmp_path, {"net.py": BEFORE, UNDO_NAME: b"mine"})
        assert write_in_place(migrated(project)) == project / "trainferry-undo-2.patch"
        assert (project / UNDO_NAME).read_bytes() == b"mine"

    def test_nothing_to_change_writes_nothing(self, tmp_path: Path) -> None:
        project = make_project(tmp_path, {"net.py": b"x = 1\n"})
        assert write_in_place(migrated(project)) is None
        assert files_of(project) == {"net.py": b"x = 1\n"}

    def test_a_link_keeps_leading_to_its_file(self, tmp_path: Path) -> None:
        project = make_project(tmp_path, {"hidden/net.txt": BEFORE})
        (project / "net.py").symlink_to("hidden/net.txt")
        write_in_place(migrated(project))
        assert (project / "net.py").is_symlink()
        assert (project / "hidden/net.txt").read_bytes() == AFTER

    def test_a_file_changed_meanwhile_is_not_overwritten(self, tmp_path: Path) -> None:
        project = make_project(tmp_path, {"a.py": BEFORE, "b.py": BEFORE})
        migration = migrated(project)
        (project / "b.py").write_bytes(b"mine\n")
        with pytest.raises(WriteError, match="changed while"):
            write_in_place(migration)
        assert files_of(project) == {"a.py": BEFORE, "b.py": b"mine\n"}

    def test_a_failure_half_way_puts_everything_back(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        project = make_project(tmp_path, {"a.py": BEFORE, "b.py": BEFORE})
        migration = migrated(project)
        replace = Path.replace

        def fail_on_b(self: Path, target: Path) -> Path:
            if Path(target).name == "b.py":
                raise OSError(28, "No space left on device", str(target))
            return replace(self, target)

        monkeypatch.setattr(Path, "replace", fail_on_b)
        with pytest.raises(WriteError, match="No space left"):
            write_in_place(migration)
        assert files_of(project) == {"a.py": BEFORE, "b.py": BEFORE}

    def test_a_full_disk_leaves_nothing_behind(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        project = make_project(tmp_path / "project", {"a.py": BEFORE})
        migration = migrated(project)

        def fail(_: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(WriteError, match="No space left"):
            write_in_place(migration)
        assert files_of(project) == {"a.py": BEFORE}


def test_the_diff_tells_of_a_missing_line_end() -> None:
    file = MigratedFile(Path("a.py"), b"x", b"y", "x", "y")  # type: ignore[arg-type]  # any path
    assert file.diff().count("No newline at end of file") == 2


def test_lines_that_come_often_are_not_shown_as_changed() -> None:
    block = "with tf.Session() as sess:\n    print(x)\n    print(x)\n\n"
    before = block * 80
    after = before.replace("Session()", "Session(config=c)")
    path = PurePosixPath("a.py")
    lines = MigratedFile(path, before.encode(), after.encode(), before, after).diff().splitlines()
    changed = [line for line in lines if line.startswith(("-", "+"))]
    assert {line[1:] for line in changed[2:]} == {
        "with tf.Session() as sess:",
        "with tf.Session(config=c) as sess:",
    }
    assert lines[2] == "@@ -1,320 +1,320 @@"


def test_the_diff_of_an_equal_text_is_empty() -> None:
    assert MigratedFile(PurePosixPath("a.py"), b"x\n", b"x\n", "x\n", "x\n").diff() == ""
