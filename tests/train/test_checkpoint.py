"""Checkpoints are whole, checked, safe to open, and never cost the ones before them."""

from __future__ import annotations

import errno
import json
import os
import pickle
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from trainferry.errors import CheckpointError
from trainferry.train.checkpoint import (
    Checkpoint,
    find_checkpoint,
    forget_old_checkpoints,
    list_checkpoints,
    load_checkpoint,
    load_weights,
    save_checkpoint,
)


def small(step: int = 3) -> Checkpoint:
    return Checkpoint(
        step=step,
        weights={"w": torch.arange(6.0).reshape(2, 3), "n": torch.tensor(7)},
        training={"w::momentum_buffer": torch.full((2, 3), 0.5)},
        average={"w": torch.ones(2, 3)},
        facts={"position": step, "best": {"score": 0.5, "step": step}},
    )


def test_what_is_saved_comes_back(tmp_path: Path) -> None:
    loaded = load_checkpoint(save_checkpoint(tmp_path, small()))
    assert loaded.step == 3
    assert torch.equal(loaded.weights["w"], small().weights["w"])
    assert torch.equal(loaded.training["w::momentum_buffer"], torch.full((2, 3), 0.5))
    assert loaded.average is not None
    assert torch.equal(loaded.average["w"], torch.ones(2, 3))
    assert loaded.facts["position"] == 3


def test_averaged_weights_are_used_where_there_are_any(tmp_path: Path) -> None:
    save_checkpoint(tmp_path, small())
    weights = load_weights(tmp_path)
    assert torch.equal(weights["w"], torch.ones(2, 3))
    assert weights["n"] == 7


@pytest.mark.parametrize("name", ["weights.safetensors", "training.safetensors", "checkpoint.json"])
def test_a_checkpoint_cut_at_any_byte_is_told(name: str, tmp_path: Path) -> None:
    folder = save_checkpoint(tmp_path, small())
    whole = (folder / name).read_bytes()
    for length in range(len(whole) - (name == "checkpoint.json")):
        (folder / name).write_bytes(whole[:length])
        with pytest.raises(CheckpointError):
            load_checkpoint(folder)
    (folder / name).write_bytes(whole)
    assert load_checkpoint(folder).step == 3


def test_every_flipped_bit_of_the_weights_is_told(tmp_path: Path) -> None:
    folder = save_checkpoint(tmp_path, small())
    path = folder / "weights.safetensors"
    whole = bytearray(path.read_bytes())
    for place in range(len(whole)):
        whole[place] ^= 1
        path.write_bytes(whole)
        with pytest.raises(CheckpointError, match="damaged"):
            load_checkpoint(folder)
        whole[place] ^= 1


def test_a_file_name_in_the_facts_cannot_leave_the_folder(tmp_path: Path) -> None:
    folder = save_checkpoint(tmp_path, small())
    facts = json.loads((folder / "checkpoint.json").read_text())
    facts["files"]["../secret.safetensors"] = {"bytes": 1, "sha256": ""}
    (folder / "checkpoint.json").write_text(json.dumps(facts))
    with pytest.raises(CheckpointError, match="damaged"):
        load_checkpoint(folder)


class _Bomb:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("exploded",)


@pytest.mark.parametrize("kind", ["pickle", "torch"])
def test_a_pickle_is_refused_and_not_opened(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = save_checkpoint(tmp_path, small())
    path = folder / "weights.safetensors"
    if kind == "pickle":
        path.write_bytes(pickle.dumps(_Bomb(), protocol=4))
    else:
        torch.save({"w": _Bomb()}, path)
    for load in (load_checkpoint, load_weights):
        with pytest.raises(CheckpointError, match="is a pickle"):
            load(folder)
    with pytest.raises(CheckpointError, match="is a pickle"):
        load_weights(path)
    assert not (tmp_path / "exploded").exists()


def test_a_full_disk_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_checkpoint(tmp_path, small(1))

    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CheckpointError, match="No space left") as caught:
        save_checkpoint(tmp_path, small(2))
    assert "free some space" in caught.value.hint
    monkeypatch.undo()
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == ["step-00000001"]
    assert load_checkpoint(find_checkpoint(tmp_path, "last")).step == 1


@pytest.mark.skipif(not os.access("/dev/full", os.W_OK), reason="needs /dev/full")
def test_a_really_full_device_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain_open = Path.open

    def onto_full_device(self: Path, mode: str = "r") -> object:
        return plain_open(Path("/dev/full"), "wb") if mode == "xb" else plain_open(self, mode)

    monkeypatch.setattr(Path, "open", onto_full_device)
    with pytest.raises(CheckpointError, match="No space left"):
        save_checkpoint(tmp_path, small())
    assert list_checkpoints(tmp_path) == []


def test_old_checkpoints_go_but_not_the_best(tmp_path: Path) -> None:
    for step in (1, 2, 3, 4):
        save_checkpoint(tmp_path, small(step))
    (tmp_path / "checkpoints" / "step-00000009.partial").mkdir()
    forget_old_checkpoints(tmp_path, keep=2, best_step=1)
    names = sorted(path.name for path in (tmp_path / "checkpoints").iterdir())
    assert names == ["step-00000001", "step-00000003", "step-00000004"]


def test_a_folder_without_checkpoints_is_told(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="holds no checkpoint"):
        find_checkpoint(tmp_path, "last")


def test_a_file_in_place_of_a_run_is_told(tmp_path: Path) -> None:
    (tmp_path / "net.onnx").touch()
    with pytest.raises(CheckpointError, match="is a file, and no folder of a run"):
        find_checkpoint(tmp_path / "net.onnx", "best")


def test_a_step_that_is_not_there_lists_those_that_are(tmp_path: Path) -> None:
    save_checkpoint(tmp_path, small(5))
    with pytest.raises(CheckpointError) as caught:
        find_checkpoint(tmp_path, "7")
    assert "last, 5" in caught.value.hint


def test_a_best_checkpoint_that_was_removed_is_told_as_such(tmp_path: Path) -> None:
    save_checkpoint(tmp_path, small(5))
    save_checkpoint(tmp_path, replace(small(7), facts={"best": {"score": 0.5, "step": 5}}))
    shutil.rmtree(find_checkpoint(tmp_path, "best"))
    with pytest.raises(CheckpointError, match="`5`; it was the best, and is gone") as caught:
        find_checkpoint(tmp_path, "best")
    assert caught.value.hint == "there are: last, 7"


def test_without_evaluations_the_last_is_the_best(tmp_path: Path) -> None:
    for step in (5, 7):
        save_checkpoint(tmp_path, replace(small(step), facts={"best": {"score": None}}))
    assert find_checkpoint(tmp_path, "best").name == "step-00000007"


@pytest.mark.parametrize("which", ["²", "-1", "first", ""])
def test_what_is_no_step_is_told(which: str, tmp_path: Path) -> None:
    save_checkpoint(tmp_path, small(5))
    with pytest.raises(CheckpointError, match="has no checkpoint"):
        find_checkpoint(tmp_path, which)


def test_a_copy_that_somebody_kept_is_neither_used_nor_removed(tmp_path: Path) -> None:
    for step in (1, 2, 3):
        save_checkpoint(tmp_path, small(step))
    copy = tmp_path / "checkpoints" / "step-00000001-copy"
    shutil.copytree(find_checkpoint(tmp_path, "1"), copy)
    shutil.copytree(copy, tmp_path / "checkpoints" / "step-00000003.backup")
    forget_old_checkpoints(tmp_path, keep=1, best_step=None)
    assert [path.name for path in list_checkpoints(tmp_path)] == ["step-00000003"]
    assert (copy / "checkpoint.json").is_file()


def test_a_kill_while_old_checkpoints_go_leaves_no_half_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for step in (1, 2):
        save_checkpoint(tmp_path, small(step))

    def killed_on_the_way(folder: Path) -> None:
        (folder / "checkpoint.json").unlink()
        raise KeyboardInterrupt

    monkeypatch.setattr(shutil, "rmtree", killed_on_the_way)
    with pytest.raises(KeyboardInterrupt):
        forget_old_checkpoints(tmp_path, keep=1, best_step=None)
    monkeypatch.undo()
    assert [load_checkpoint(path).step for path in list_checkpoints(tmp_path)] == [2]
    forget_old_checkpoints(tmp_path, keep=1, best_step=None)
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == ["step-00000002"]


def test_a_checkpoint_has_its_name_only_when_its_folder_is_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    plain_fsync, plain_rename = os.fsync, Path.rename

    def fsync(handle: int) -> None:
        synced.append(os.fstat(handle).st_ino)
        plain_fsync(handle)

    def rename(path: Path, target: Path) -> Path:
        inside = [path, *path.iterdir()]
        assert {each.stat().st_ino for each in inside} <= set(synced)
        return plain_rename(path, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Path, "rename", rename)
    assert load_checkpoint(save_checkpoint(tmp_path, small())).step == 3


def test_saving_a_step_again_replaces_it(tmp_path: Path) -> None:
    folder = save_checkpoint(tmp_path, small())
    (folder / "weights.safetensors").write_bytes(b"damaged")
    save_checkpoint(tmp_path, small())
    assert load_checkpoint(folder).step == 3
    shutil.rmtree(folder)
