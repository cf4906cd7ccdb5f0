"""The files of a dump: written whole or not at all, and read without running anything."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from trainferry.errors import CheckpointError, MissingPackageError
from trainferry.train.data.whole_file import explain_write_errors
from trainferry.train.debug.layers import Layer
from trainferry.train.debug.statistics import describe_tensor

FORMAT = 1
INDEX = "index.json"


@dataclass(frozen=True)
class DumpedTensor:
    """One tensor of a layer: of its n-th `call` in the step, or a weight, which has no call."""

    layer: Layer
    call: int | None
    name: str  # input0, output0, gradient0, weight.bias, weight_gradient.bias
    operator: str | None  # of autograd, that made it
    values: Tensor

    @property
    def key(self) -> str:
        return self.name if self.call is None else f"call{self.call}.{self.name}"


def dump_folder(run: Path, step: int, of_rank: str = "") -> Path:
    return run / "dumps" / f"step-{step:08d}{of_rank}"


def is_dump(path: Path) -> bool:
    return (path / INDEX).is_file()


def write_dump(folder: Path, dumped: Sequence[DumpedTensor], facts: Mapping[str, Any]) -> Path:
    """Write one file for each layer, then the index; the folder gets its name at the end."""
    try:
        from safetensors.torch import save
    except ImportError:
        raise MissingPackageError("safetensors", "writing dumps") from None
    partial = folder.with_name(folder.name + ".partial")
    with explain_write_errors(folder):
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        try:
            for layer in dict.fromkeys(each.layer for each in dumped):
                tensors = {e.key: e.values.contiguous() for e in dumped if e.layer == layer}
                (partial / _file_name(layer)).write_bytes(save(tensors))
            index = {"format": FORMAT, **facts, "tensors": [_entry(each) for each in dumped]}
            (partial / INDEX).write_text(json.dumps(index, indent=1), encoding="utf-8")
            partial.rename(folder)
        except OSError:
            shutil.rmtree(partial, ignore_errors=True)
            raise
    return folder


def read_index(folder: Path) -> dict[str, Any]:
    """Return what a dump's index says, after looking whether it can be what it claims."""
    path = folder / INDEX
    try:
        index = json.loads(path.read_bytes())
        sound = index["format"] == FORMAT and all(
            Path(entry["file"]).name == entry["file"] and isinstance(entry["key"], str)
            for entry in index["tensors"]
        )
    except OSError as error:
        raise CheckpointError(
            f"`{folder}` is no dump: {INDEX} cannot be read",
            hint="give a folder dumps/step-… of a run that was trained with --debug dump=…",
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged(path) from error
    if not sound:
        raise _damaged(path)
    return dict(index)


def read_dump(folder: Path, file: str) -> dict[str, Tensor]:
    """Read the tensors of one layer."""
    try:
        from safetensors import SafetensorError
        from safetensors.torch import load_file
    except ImportError:
        raise MissingPackageError("safetensors", "reading dumps") from None
    try:
        return dict(load_file(folder / file))
    except (OSError, SafetensorError) as error:
        raise _damaged(folder / file) from error


def _entry(each: DumpedTensor) -> dict[str, Any]:
    return {
        "layer": each.layer.name,
        "kind": each.layer.kind,
        "call": each.call,
        "name": each.name,
        "operator": each.operator,
        "file": _file_name(each.layer),
        "key": each.key,
        **describe_tensor(each.values).to_json(),
    }


def _file_name(layer: Layer) -> str:
    return f"{layer.name}.safetensors"


def _damaged(path: Path) -> CheckpointError:
    return CheckpointError(
        f"`{path}` is damaged, or not of a dump", hint="dump the step again into a new run folder"
    )
