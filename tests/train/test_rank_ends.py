"""How ranks end: signals, a rank that dies, ranks that never come, and splits that cannot be."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.train.rank_processes import run_ranks, started_ranks
from tests.train.word_data import TINY
from trainferry.devices.place import Place, find_place
from trainferry.errors import LaunchError, RecipeError
from trainferry.train.checkpoint import find_checkpoint, list_checkpoints, read_facts
from trainferry.train.ranks import check_split
from trainferry.train.recipe.read import read_recipe

pytestmark = pytest.mark.cluster

# Steps enough for every signal to arrive while training goes on.
LONG = ("schedule.steps=100000", "loop.log_every=1", "loop.save_every=10", "data.synthetic=64")


def train_command(run: Path, *sets: str) -> list[str]:
    given = [part for each in (*TINY, *LONG, *sets) for part in ("--set", each)]
    return ["-m", "trainferry", "train", "crnn_small", "--run", str(run), *given]


def wait_for(what: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    for _ in range(1200):
        if what():
            return
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.1)
    pytest.fail("it never came to that")


def logged_steps(run: Path) -> list[int]:
    path = run / "journal.jsonl"
    lines = path.read_text().splitlines() if path.is_file() else []
    return [
        entry["step"]
        for entry in (json.loads(line) for line in lines if line.endswith("}"))
        if entry["event"] == "logged"
    ]


def test_sigterm_to_one_rank_ends_all_behind_the_same_step(tmp_path: Path) -> None:
    with started_ranks(2, train_command(tmp_path / "run", "data.workers=1")) as (first, second):
        wait_for(lambda: len(logged_steps(tmp_path / "run")) > 2, first)
        second.send_signal(signal.SIGTERM)
        messages = [process.communicate(timeout=120)[1] for process in (first, second)]
        assert (first.returncode, second.returncode) == (143, 143), messages
    assert "stopped by SIGTERM" in messages[0]
    assert "2 ranks, batch 8 = 2 x 4, gloo" in messages[0]
    assert messages[1] == ""
    saved = find_checkpoint(tmp_path / "run", "last")
    assert read_facts(saved)["step"] == logged_steps(tmp_path / "run")[-1]
    assert read_facts(saved)["ranks"] == 2


def test_sigterm_lets_one_process_save_and_tell(tmp_path: Path) -> None:
    with started_ranks(1, train_command(tmp_path / "run", "data.workers=1")) as (process,):
        wait_for(lambda: len(logged_steps(tmp_path / "run")) > 2, process)
        os.killpg(process.pid, signal.SIGTERM)  # its readers of data hear it too
        out, messages = process.communicate(timeout=120)
        assert process.returncode == 143, messages
    steps = logged_steps(tmp_path / "run")[-1]
    assert f"{steps} steps" in out
    assert read_facts(find_checkpoint(tmp_path / "run", "last"))["step"] == steps


def test_the_others_say_that_a_rank_is_gone(tmp_path: Path) -> None:
    with started_ranks(2, train_command(tmp_path / "run")) as (first, second):
        wait_for(lambda: bool(list_checkpoints(tmp_path / "run")), first)
        second.kill()
        _, messages = first.communicate(timeout=120)
        assert first.returncode == 1
    assert "error: rank 0 of 2 lost the others" in messages
    assert "goes on from the last checkpoint" in messages
    assert "Traceback" not in messages


def test_a_rank_that_never_comes_is_named(tmp_path: Path) -> None:
    command = train_command(tmp_path / "run")
    with started_ranks(1, command, WORLD_SIZE="2", TRAINFERRY_JOIN_SECONDS="3") as (first,):
        _, messages = first.communicate(timeout=120)
        assert first.returncode == 1
    assert "Traceback" not in messages
    assert "error: rank 0 of 2 waited 3 s at 127.0.0.1" in messages
    assert "for rank 1" in messages
    assert "TRAINFERRY_JOIN_SECONDS" in messages


def test_a_rank_that_finds_nobody_says_where_it_looked(tmp_path: Path) -> None:
    command = train_command(tmp_path / "run")
    lonely = {"WORLD_SIZE": "2", "RANK": "1", "TRAINFERRY_JOIN_SECONDS": "2"}
    ((status, _, messages),) = run_ranks(1, command, **lonely)
    assert status == 1
    assert messages.startswith("error: rank 1 of 2 found nobody at 127.0.0.1:")


def test_what_the_first_rank_cannot_use_ends_all(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "notes.txt").write_text("mine")
    ended = run_ranks(2, train_command(tmp_path / "run"))
    assert [status for status, _, _ in ended] == [1, 1]
    assert "is not empty and holds no run" in ended[0][2]
    assert "rank 0: " in ended[1][2]


def test_a_batch_that_cannot_be_divided_names_what_fits() -> None:
    recipe = read_recipe("crnn_small", ["loop.batch=64", "optimizer.accumulation=2"])
    with pytest.raises(RecipeError, match="a batch of 64 cannot be divided among 3 ranks") as found:
        check_split(recipe, 3)
    assert found.value.hint == "set loop.batch to 60 or 66, or start 1, 2 or 4 ranks"
    check_split(recipe, 4)
    with pytest.raises(RecipeError) as found:
        check_split(recipe, 48)
    assert found.value.hint == "set loop.batch to 96, or start 16 or 32 ranks"


@pytest.mark.parametrize(
    ("environment", "problem"),
    [
        ({"WORLD_SIZE": "two"}, "WORLD_SIZE is `two`"),
        ({"WORLD_SIZE": "2"}, "MASTER_ADDR is not set"),
        ({"RANK": "2"}, "RANK is `2`, not a whole number from 0 to 1"),
        ({"LOCAL_RANK": ""}, "LOCAL_RANK is ``"),
    ],
)
def test_an_environment_that_makes_no_sense_is_told(
    environment: dict[str, str], problem: str
) -> None:
    whole = {"WORLD_SIZE": "2", "RANK": "0", "LOCAL_RANK": "0", "MASTER_PORT": "1"}
    others = {} if environment == {"WORLD_SIZE": "2"} else {"MASTER_ADDR": "localhost"}
    with pytest.raises(LaunchError, match=problem):
        find_place({**whole, **others, **environment})


def test_one_process_is_alone_whatever_else_is_set() -> None:
    assert find_place({}) == find_place({"WORLD_SIZE": "1", "RANK": "0"}) == Place()
