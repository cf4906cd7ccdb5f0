"""Photographs as a source of batches: cropped pictures, each with its class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import DTypeLike, NDArray

from trainferry.errors import PictureError, RecordError
from trainferry.train.data.batch import Batch
from trainferry.train.data.batches import Positions
from trainferry.train.data.photos.crop import (
    Draw,
    draw_training,
    evaluation_picture,
    make_training,
)
from trainferry.train.data.photos.encoded import Pack, is_plain
from trainferry.train.data.photos.records import PhotoRecords, PhotoSample
from trainferry.train.data.pictures import Picture
from trainferry.train.data.replacing import samples_after
from trainferry.train.recipe.tasks import PhotoAugment, PhotoPicture


@dataclass(frozen=True)
class PhotoSource:
    """Samples of a record set that are fit for use.

    The class of a sample is its label less `first_label`; `names` are those of the classes.
    `packed` batches to train on hold JPEGs, for a device that decodes them.
    """

    records: PhotoRecords
    kept: Positions
    labels: NDArray[np.int32]
    first_label: int
    names: tuple[str, ...]
    picture: PhotoPicture
    augment: PhotoAugment
    packed: bool = False

    def __len__(self) -> int:
        return len(self.kept)

    def label_text(self, position: int) -> str:
        """Return the name of the class of a sample."""
        return self.names[self._class(position)]

    def shown(self, position: int) -> Picture:
        target = np.empty((self.picture.height, self.picture.width, 3), np.float32)
        evaluation_picture(self._sample(position).encoded, self.picture, target)
        return np.rint(target).astype(np.uint8)

    def training_batch(self, positions: Positions, places: Positions, seed: int) -> Batch:
        """Draw all pictures, then make them: decoding leaves nothing else in the caches."""
        rows = self._rows(
            len(positions), np.uint8 if self.picture.values == "bytes" else np.float32
        )
        dice = [np.random.default_rng([seed, place]) for place in places.tolist()]
        numbers = positions.tolist()
        drawn = [self._draw(*each) for each in zip(numbers, dice, strict=True)]
        pack = Pack()
        for row, (position, draw) in enumerate(zip(numbers, drawn, strict=True)):
            candidate, others = position, samples_after(position, len(self))
            while draw is None or not self._put(draw, rows.images[row], pack):
                rows.skipped += 1
                candidate = next(others)
                draw = self._draw(candidate, dice[row])  # noqa: PLW2901  # the next one's
            rows.set(row, candidate, self._class(candidate))
        return pack.into(rows.batch()) if self.packed else rows.batch()

    def evaluation_batch(self, positions: Positions, size: int) -> Batch:
        rows = self._rows(size, np.float32)
        for row, position in enumerate(positions.tolist()):
            if self._fill_evaluation(rows.images[row], position):
                rows.set(row, position, self._class(position))
            else:
                rows.skipped += 1
        return rows.batch()

    def _sample(self, position: int) -> PhotoSample:
        return self.records.sample(int(self.kept[position]))

    def _class(self, position: int) -> int:
        return int(self.labels[self.kept[position]]) - self.first_label

    def _draw(self, position: int, dice: np.random.Generator) -> Draw | None:
        try:
            sample = self._sample(position)
            return draw_training(sample.encoded, sample.boxes, self.picture, self.augment, dice)
        except (PictureError, RecordError):
            return None

    def _put(self, draw: Draw, target: NDArray[Any], pack: Pack) -> bool:
        """Make the picture, or pack it; tell whether it can be read."""
        if self.packed and is_plain(draw):
            pack.add_encoded(draw)
            return True
        if not self._make(draw, target):
            return False
        if self.packed:
            pack.add_pixels(target)
        return True

    def _make(self, draw: Draw, target: NDArray[Any]) -> bool:
        try:
            make_training(draw, self.picture, target)
        except PictureError:
            return False
        return True

    def _fill_evaluation(self, target: NDArray[np.float32], position: int) -> bool:
        try:
            evaluation_picture(self._sample(position).encoded, self.picture, target)
        except (PictureError, RecordError):
            return False
        return True

    def _rows(self, size: int, kind: DTypeLike) -> _Rows:
        shape = (size, self.picture.height, self.picture.width, 3)
        return _Rows(
            np.zeros(shape, kind),
            np.zeros(size, np.int64),
            np.zeros(size, np.bool_),
            np.zeros(size, np.int64),
        )


@dataclass
class _Rows:
    """A batch while it is filled."""

    images: NDArray[Any]
    labels: NDArray[np.int64]
    valid: NDArray[np.bool_]
    positions: NDArray[np.int64]
    skipped: int = 0

    def set(self, row: int, position: int, label: int) -> None:
        self.labels[row] = label
        self.positions[row] = position
        self.valid[row] = True

    def batch(self) -> Batch:
        return Batch(
            torch.from_numpy(self.images),
            torch.from_numpy(self.labels),
            torch.ones(len(self.labels), dtype=torch.int64),
            torch.from_numpy(self.valid),
            torch.from_numpy(self.positions),
            torch.tensor(self.skipped),
        )
