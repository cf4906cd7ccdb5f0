"""Seeds depend on names, and a run that follows another one finds that one's seeds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from trainferry.rehearse.probe.pin import seeds as pinned

KIND = "RandomUniform"
Seeds: Any = pinned.Seeds


def draw(seeds: Any, name: str, shape: tuple[int, ...] = (2,), **given: int) -> int:
    return int(seeds.of_draw(1, KIND, name, list(shape), **given))


def folder(path: Path) -> Path:
    path.mkdir()
    return path


def ledger(path: Path) -> dict[str, str]:
    lines = map(json.loads, (path / "pins.jsonl").read_text().splitlines())
    return {line["key"].partition("#")[0]: line["by"] for line in lines}


def test_the_same_name_gives_the_same_seed_whatever_came_before(tmp_path: Path) -> None:
    first, second = Seeds(1, folder(tmp_path / "1")), Seeds(1, folder(tmp_path / "2"))
    seed = draw(first, "dropout")
    draw(second, "something/else")
    assert draw(second, "dropout") == seed
    assert draw(second, "dropout") != seed  # a function's graph uses a name again


def test_another_seed_of_the_rehearsal_gives_other_seeds(tmp_path: Path) -> None:
    first, second = Seeds(1, folder(tmp_path / "1")), Seeds(2, folder(tmp_path / "2"))
    assert draw(first, "dropout") != draw(second, "dropout")


def test_seeds_fit_into_31_bits_and_are_never_zero(tmp_path: Path) -> None:
    seeds = Seeds(0, tmp_path)
    assert all(0 < draw(seeds, str(number)) < 2**31 for number in range(100))


def test_a_new_name_takes_the_seed_whose_turn_it_is(tmp_path: Path) -> None:
    """`dropout_1` went into a scope of its own, so that the third became `dropout_1`."""
    first = Seeds(1, folder(tmp_path / "1"))
    seeds = [draw(first, name) for name in ("dropout", "dropout_1", "dropout_2")]
    second = Seeds(1, folder(tmp_path / "2"), tmp_path / "1")
    assert [draw(second, name) for name in ("dropout", "npu/dropout", "dropout_1")] == seeds
    assert ledger(tmp_path / "2") == {
        "dropout": "name",
        "npu/dropout": "order",
        "dropout_1": "order",
    }


def test_a_new_name_takes_only_a_seed_of_its_kind_and_shape(tmp_path: Path) -> None:
    draw(Seeds(1, folder(tmp_path / "1")), "dropout", (4,))
    second = Seeds(1, folder(tmp_path / "2"), tmp_path / "1")
    draw(second, "noise", (5,))
    assert ledger(tmp_path / "2") == {"noise": "own"}


def test_weights_take_no_seed_of_other_weights(tmp_path: Path) -> None:
    first = Seeds(1, folder(tmp_path / "1"))
    draw(first, "old/kernel/Initializer/random_uniform")
    second = Seeds(1, folder(tmp_path / "2"), tmp_path / "1")
    draw(second, "new/kernel/Initializer/random_uniform")
    assert list(ledger(tmp_path / "2").values()) == ["own"]


def test_a_seed_of_the_user_stays(tmp_path: Path) -> None:
    first = Seeds(1, folder(tmp_path / "1"))
    assert draw(first, "dropout", given=10) == 10
    second = Seeds(1, folder(tmp_path / "2"), tmp_path / "1")
    assert draw(second, "other", given=11) == 11


def test_a_seed_that_changes_from_run_to_run_is_that_of_the_first(tmp_path: Path) -> None:
    draw(Seeds(1, folder(tmp_path / "1")), "dropout", given=1234)
    second = Seeds(1, folder(tmp_path / "2"), tmp_path / "1")
    assert draw(second, "dropout", given=5678) == 1234
    assert ledger(tmp_path / "2") == {"dropout": "followed"}
