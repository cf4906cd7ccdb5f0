"""A plan refuses what no scheduler could start."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from hypothesis import given, strategies

from tests.launch.write.plans import plan
from trainferry.errors import UsageError, WriteError
from trainferry.launch.write.files import LaunchFile, filled, on_one_line, write_files
from trainferry.launch.write.plan import LONGEST_NAME, usable_name


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"name": "Read Words"}, "name of a job"),
        ({"name": "a" * (LONGEST_NAME + 1)}, "name of a job"),
        ({"name": "ends-"}, "name of a job"),
        ({"name": "two\nlines"}, "name of a job"),
        ({"command": ()}, "no command"),
        ({"command": ("",)}, "no command"),
        ({"command": ("python", "a\0b")}, "zero byte"),
        ({"command": ("python", "a\udc80")}, "not readable"),
        ({"nodes": 0}, "0 machines"),
        ({"devices_per_node": 0}, "0 devices"),
        ({"time_limit_seconds": 5}, "5 s"),
        ({"restarts": -1}, "-1 times"),
        ({"rendezvous_port": 80}, "port 80"),
        ({"connect_timeout_seconds": 30}, "30 s"),
        ({"device_numbers": (0, 1)}, "numbers 0, 1"),
        ({"device_numbers": (0, 1, 1, 2)}, "numbers 0, 1, 1, 2"),
        ({"environment": {"1A": "x"}}, "name of a variable"),
        ({"environment": {"A B": "x"}}, "name of a variable"),
        ({"environment": {"RANK_ID": "0"}}, "`RANK_ID` is set for each rank"),
        ({"environment": {"CM_WORKER_SIZE": "8"}}, "excludes RANK_SIZE"),
        ({"environment": {"A": "\0"}}, "zero byte"),
        ({"image": "a b"}, "not the name of an image"),
        ({"image": "--privileged"}, "not the name of an image"),
        ({"working_folder": PurePosixPath("here")}, "working folder"),
        ({"data_folder": PurePosixPath("/a/../b")}, "data folder"),
        ({"output_folder": PurePosixPath("/a\nON_MACHINE")}, "line end"),
    ],
)
def test_a_value_that_cannot_be_used_is_told_with_what_to_do(
    changed: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=said) as error:
        plan(**changed)
    assert error.value.hint


@given(strategies.text())
def test_any_text_becomes_a_usable_name(text: str) -> None:
    assert plan(name=usable_name(text)).name == usable_name(text)


def test_ranks_are_machines_times_devices() -> None:
    assert plan().ranks == 8
    assert plan().devices == (0, 1, 2, 3)
    assert plan(device_numbers=(4, 5, 6, 7)).devices == (4, 5, 6, 7)


def test_a_place_is_filled_once() -> None:
    assert filled("@A@ @B@", {"A": "@B@", "B": "x"}) == "@B@ x"


@given(strategies.text())
def test_a_comment_stays_on_its_line(text: str) -> None:
    assert len(f"x{on_one_line(text)}".splitlines()) == 1


def test_files_are_written_and_others_are_left_alone(tmp_path: Path) -> None:
    files = [LaunchFile("a.sh", "one\r\n", "sh a.sh", executable=True)]
    for _ in range(2):
        (path,) = write_files(files, tmp_path / "new")
        assert path.read_bytes() == b"one\r\n"
        assert path.stat().st_mode & 0o111
    path.write_text("mine")
    with pytest.raises(WriteError, match="says something else"):
        write_files(files, tmp_path / "new")
    assert path.read_text() == "mine"
