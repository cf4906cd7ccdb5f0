"""Checkpoints: safetensors and JSON in one folder, written whole or not at all, never pickle.

    <run>/checkpoints/step-00001000/
        weights.safetensors    what the network holds
        average.safetensors    its running average, where the recipe asks for one
        training.safetensors   what the optimizer remembers
        checkpoint.json        step, place in the data, scores, size and digest of each file

`checkpoint.json` is written last, and the folder gets its name only when all of it
is on disk.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torch import Tensor

from trainferry.errors import CheckpointError, MissingPackageError

FORMAT = 1
FACTS = "checkpoint.json"
_PARTIAL = ".partial"


@dataclass(frozen=True)
class Checkpoint:
    """Everything a run needs to go on as if it had never stopped."""

    step: int
    weights: Mapping[str, Tensor]
    training: Mapping[str, Tensor] = field(default_factory=dict)
    average: Mapping[str, Tensor] | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


def save_checkpoint(run: Path, checkpoint: Checkpoint) -> Path:
    """Write the checkpoint into the run's folder and return its path."""
    folder = run / "checkpoints" / f"step-{checkpoint.step:08d}"
    partial = folder.with_name(folder.name + _PARTIAL)
    parts = {"weights": checkpoint.weights, "training": checkpoint.training}
    if checkpoint.average is not None:
        parts["average"] = checkpoint.average
    try:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        files = {
            f"{name}.safetensors": _write(partial / f"{name}.safetensors", _pack(tensors))
            for name, tensors in parts.items()
        }
        facts = {
            "format": FORMAT,
            "step": checkpoint.step,
            "saved": time.strftime("%Y-%m-%d %H:%M:%S"),
            **checkpoint.facts,
            "files": files,
        }
        _write(partial / FACTS, json.dumps(facts, indent=1, ensure_ascii=False).encode())
        _sync_folder(partial)
        if folder.exists():
            shutil.rmtree(folder)
        partial.rename(folder)
        _sync_folder(folder.parent)
    except OSError as error:
        shutil.rmtree(partial, ignore_errors=True)
        raise CheckpointError(
            f"the checkpoint of step {checkpoint.step} could not be written: {error.strerror}",
            hint=f"free some space where `{run}` is, then run the same command again: "
            "it goes on from the last checkpoint",
        ) from error
    return folder


def load_checkpoint(folder: Path) -> Checkpoint:
    """Read a checkpoint; every byte is checked against the digests written with it."""
    facts = read_facts(folder)
    parts = {
        Path(name).stem: _unpack(folder / name, entry) for name, entry in facts["files"].items()
    }
    return Checkpoint(
        step=int(facts["step"]),
        weights=parts["weights"],
        training=parts.get("training", {}),
        average=parts.get("average"),
        facts=facts,
    )


def load_weights(path: Path) -> dict[str, Tensor]:
    """Read the weights of a run, a checkpoint or a .safetensors file; averaged ones if there."""
    if path.is_file():
        return _unpack(path, None)
    folder = path if (path / FACTS).is_file() else find_checkpoint(path, "last")
    facts = read_facts(folder)
    name = "average.safetensors" if "average.safetensors" in facts["files"] else None
    weights = _unpack(folder / "weights.safetensors", facts["files"]["weights.safetensors"])
    return {**weights, **(_unpack(folder / name, facts["files"][name]) if name else {})}


def read_facts(folder: Path) -> dict[str, Any]:
    """Return what `checkpoint.json` says, after looking whether it can be what it claims."""
    path = folder / FACTS
    try:
        facts = json.loads(path.read_bytes())
        files = facts["files"]
        sound = (
            isinstance(facts["step"], int)
            and "weights.safetensors" in files
            and all(Path(name).name == name for name in files)
            and all(isinstance(entry["bytes"], int) for entry in files.values())
        )
    except OSError as error:
        raise CheckpointError(
            f"`{folder}` is no checkpoint: {FACTS} cannot be read",
            hint="give the folder of a run, or one of its checkpoints/step-… folders",
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _damaged(path, "it is not complete JSON") from error
    if not sound:
        raise _damaged(path, "its entries are not those of a checkpoint")
    if facts.get("format") != FORMAT:
        raise CheckpointError(
            f"`{path}` has format {facts.get('format')!r}; this version reads {FORMAT}",
            hint="use the version of trainferry that wrote it",
        )
    return dict(facts)


def list_checkpoints(run: Path) -> list[Path]:
    """Return the complete checkpoints of a run, oldest first; copies under other names are not."""
    found = (run / "checkpoints").glob("step-*")
    return sorted(path for path in found if path.name.removeprefix("step-").isdecimal())


def find_checkpoint(run: Path, which: str) -> Path:
    """Return the "last" or "best" checkpoint of a run, or the one of a step."""
    found = list_checkpoints(run)
    if run.is_file():
        raise CheckpointError(
            f"`{run}` is a file, and no folder of a run",
            hint="give the folder that `trainferry train` made; only `trainferry predict` takes "
            "an exported .onnx file",
        )
    if not found:
        raise CheckpointError(
            f"`{run}` holds no checkpoint" if run.exists() else f"there is no folder `{run}`",
            hint="give the folder of a run that `trainferry train` made",
        )
    if which == "last":
        return found[-1]
    best = which == "best"
    if best:
        facts = read_facts(found[-1])  # without evaluations, the last is the best there is
        which = str((facts.get("best") or {}).get("step") or facts["step"])
    wanted = run / "checkpoints" / f"step-{int(which):08d}" if which.isdecimal() else None
    if wanted not in found:
        steps = ", ".join(str(int(path.name.removeprefix("step-"))) for path in found)
        gone = "; it was the best, and is gone" if best else ""
        raise CheckpointError(
            f"`{run}` has no checkpoint `{which}`{gone}", hint=f"there are: last, {steps}"
        )
    assert wanted is not None
    return wanted


def forget_old_checkpoints(run: Path, keep: int, best_step: int | None) -> None:
    """Remove all but the newest `keep` checkpoints and the best one, and what a crash left."""
    for path in (run / "checkpoints").glob(f"*{_PARTIAL}"):
        shutil.rmtree(path)
    for path in list_checkpoints(run)[:-keep]:
        if path.name != f"step-{best_step or -1:08d}":
            # Renamed first: a kill in between leaves no half checkpoint under a whole one's name.
            shutil.rmtree(path.rename(path.with_name(path.name + _PARTIAL)))


def check_not_pickle(path: Path) -> None:
    """Refuse what could run code when opened: PyTorch archives and plain pickles."""
    with path.open("rb") as file:
        start = file.read(4)
    if start[:2] == b"PK" or (start[:1] == b"\x80" and start[1:2] in b"\x02\x03\x04\x05"):
        raise CheckpointError(
            f"`{path}` is a pickle (torch.save); opening one can run any code it holds",
            hint="convert it to .safetensors where you trust it; trainferry reads only that",
        )


def _pack(tensors: Mapping[str, Tensor]) -> bytes:
    try:
        from safetensors.torch import save
    except ImportError:
        raise MissingPackageError("safetensors", "saving checkpoints") from None
    return save({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()})


def _unpack(path: Path, entry: Mapping[str, Any] | None) -> dict[str, Tensor]:
    try:
        from safetensors import SafetensorError
        from safetensors.torch import load
    except ImportError:
        raise MissingPackageError("safetensors", "reading checkpoints") from None
    try:
        check_not_pickle(path)
        data = path.read_bytes()
    except OSError as error:
        raise _damaged(path, f"it cannot be read: {error.strerror}") from error
    if entry is not None:
        if len(data) != entry["bytes"]:
            raise _damaged(path, f"it has {len(data)} bytes of {entry['bytes']}")
        if hashlib.sha256(data).hexdigest() != entry.get("sha256"):
            raise _damaged(path, "its content does not match its digest")
    try:
        return dict(load(data))
    except SafetensorError as error:
        raise _damaged(path, f"it is not a safetensors file: {error}") from error


def _write(path: Path, data: bytes) -> dict[str, Any]:
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _damaged(path: Path, why: str) -> CheckpointError:
    return CheckpointError(
        f"`{path}` is damaged: {why}",
        hint=f"remove the folder `{path.parent}` to go on from the checkpoint before it",
    )
