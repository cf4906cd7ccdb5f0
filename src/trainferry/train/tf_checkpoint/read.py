"""Opens a TensorFlow checkpoint of either format."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray

from trainferry.errors import CheckpointError
from trainferry.train.tf_checkpoint.bundle import read_bundle
from trainferry.train.tf_checkpoint.locate import find_prefix, index_of
from trainferry.train.tf_checkpoint.old_format import read_old_checkpoint


class TensorFlowCheckpoint(Protocol):
    """An open checkpoint: names, shapes and types at once, values when asked for."""

    @property
    def prefix(self) -> Path:
        """What its files are called, up to their endings."""

    def names(self) -> list[str]:
        """Every tensor, sorted; a partitioned variable once."""

    def __contains__(self, name: str) -> bool: ...

    def shape(self, name: str) -> tuple[int, ...]: ...

    def dtype(self, name: str) -> str:
        """The type as NumPy calls it; also "bfloat16" and "string"."""

    def read(self, name: str) -> NDArray[Any]:
        """Return a copy of the values."""


def read_checkpoint(path: Path) -> TensorFlowCheckpoint:
    """Open the checkpoint that `path` means; see `find_prefix` for what it may be."""
    try:
        prefix = find_prefix(path)
        is_bundle = index_of(prefix).is_file()
        return read_bundle(prefix) if is_bundle else read_old_checkpoint(prefix)
    except OSError as error:
        raise CheckpointError(
            f"cannot read {error.filename or path}: {error.strerror or error}",
            hint="check that the file is there and that you may read it",
        ) from error
