"""Rendering of record files: all of them, or none."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from trainferry.errors import DataError
from trainferry.train.data.render.rendered_set import Shard, plan_shards
from trainferry.train.data.render.shards import Draw, Drawn, EnoughError, render_shards
from trainferry.train.data.tfrecord import RecordFile

pytest.importorskip("cv2")


@dataclass(frozen=True)
class Numbers:
    """Draws its samples' numbers, and fails at one of them."""

    bad: int = -1

    def drawing(self) -> Draw:
        def draw(index: int) -> Drawn:
            if index == self.bad:
                raise DataError(f"cannot draw {index}", hint="leave it out")
            return Drawn(f"{index}".encode(), "odd" if index % 2 else "even")

        return draw


def silent(_done: int, _total: int) -> None:
    pass


def test_every_sample_is_in_its_file_and_fonts_are_counted(tmp_path: Path) -> None:
    shards = plan_shards(tmp_path, "train", 7, 3)
    assert render_shards(Numbers(), shards, 1, silent) == {"even": 4, "odd": 3}
    files = [RecordFile(shard.path) for shard in shards]
    assert [[bytes(file[number]) for number in range(len(file))] for file in files] == [
        [b"0", b"1", b"2"],
        [b"3", b"4", b"5"],
        [b"6"],
    ]


@pytest.mark.parametrize("processes", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_where_one_sample_fails_no_file_stays(tmp_path: Path, processes: int) -> None:
    shards = plan_shards(tmp_path, "train", 7, 3)
    with pytest.raises(DataError, match="cannot draw 5") as error:
        render_shards(Numbers(bad=5), shards, processes, silent)
    assert error.value.hint == "leave it out"
    assert files_in(shards) == []


def test_when_somebody_stops_it_no_file_stays(tmp_path: Path) -> None:
    def stop(done: int, _total: int) -> None:
        if done == 6:
            raise KeyboardInterrupt

    shards = plan_shards(tmp_path, "train", 7, 3)
    with pytest.raises(KeyboardInterrupt):
        render_shards(Numbers(), shards, 1, stop)
    assert files_in(shards) == []


@pytest.mark.parametrize("processes", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_when_it_is_enough_whole_files_stay(tmp_path: Path, processes: int) -> None:
    shards = plan_shards(tmp_path, "train", 2_000, 100)

    def enough(_done: int, _total: int) -> None:
        if any(shard.path.exists() for shard in shards):
            raise EnoughError

    with pytest.raises(EnoughError):
        render_shards(Numbers(), shards, processes, enough)
    assert files_in(shards)
    for path in files_in(shards):
        assert len(RecordFile(path)) == 100


def files_in(shards: list[Shard]) -> list[Path]:
    return list(shards[0].path.parent.iterdir())
