"""How a rank that failed is shown: its end, and the last of what it said."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from trainferry.launch.start.failure import RankFailure, is_full, last_lines


@pytest.mark.parametrize(
    ("log", "shown"),
    [
        (b"", ()),
        (b"one\ntwo\n", ("one", "two")),
        (b"one\r\ntwo\r\n", ("one", "two")),
        (b"caf\xe9\n", ("caf\\xe9",)),
        (b"start\n\r 1%\r 2%\r99%\nValueError: bad\n", ("start", "99%", "ValueError: bad")),
        (b"\x1b[31mred\x1b[0m \x1b]0;title\x07\n", ("red \\x1b]0;title\\x07",)),
        (b"a\tb\n", ("a\tb",)),
    ],
)
def test_the_last_lines_are_those_that_a_terminal_would_leave(
    tmp_path: Path, log: bytes, shown: tuple[str, ...]
) -> None:
    path = tmp_path / "rank.log"
    path.write_bytes(log)
    assert last_lines(path) == shown


def test_only_so_many_lines_are_shown_and_none_is_endless(tmp_path: Path) -> None:
    path = tmp_path / "rank.log"
    path.write_text("\n".join(map(str, range(100))) + "\n" + "y" * 5_000_000)
    assert last_lines(path) == ("y" * 400 + " …",)
    path.write_text("\n".join(map(str, range(100))))
    assert last_lines(path, most=3) == ("97", "98", "99")


@pytest.mark.parametrize(("code", "killed"), [(-9, True), (137, True), (-11, False), (9, False)])
def test_a_rank_that_was_killed_is_known_by_its_end(code: int, killed: bool) -> None:
    assert RankFailure(1, "", code, "rank.log").was_killed == killed


def test_a_full_disk_is_known_and_a_log_of_another_machine_is_not_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = str(tmp_path / "rank.log")
    usage = shutil.disk_usage(tmp_path)
    assert not is_full("/not/on/this/machine/rank.log")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=4096))
    assert is_full(log)
