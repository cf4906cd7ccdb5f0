"""Signs as a source of batches: views side by side, with the codes of their text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from trainferry.train.data.batch import Batch
from trainferry.train.data.batches import Positions
from trainferry.train.data.pictures import Picture
from trainferry.train.data.replacing import samples_after
from trainferry.train.data.signs.records import SignRecords


@dataclass(frozen=True)
class SignSource:
    """Samples of a record set that are fit for use; labels are `max_length` codes long.

    A longer text, which only evaluations meet, is cut in its label; its length and `texts` still
    tell the whole, so that it never counts as read right.
    """

    records: SignRecords
    kept: Positions
    max_length: int

    def __len__(self) -> int:
        return len(self.kept)

    def label_text(self, position: int) -> str:
        return self.records.text(int(self.kept[position]))

    def shown(self, position: int) -> Picture:
        """Return the views side by side."""
        return self.records.sample(int(self.kept[position])).picture

    def training_batch(self, positions: Positions, places: Positions, seed: int) -> Batch:
        del places, seed  # signs vary on the device
        images, codes = self._rows(len(positions))
        read = positions.copy()
        skipped = 0
        texts = self.records.fill(images, codes, self.kept[positions].tolist())
        for row, text in enumerate(texts):
            if text is None:
                skipped += 1
                read[row] = self._fill_with_next(images[row], codes[row], int(positions[row]))
        return self._batch(images, codes, np.ones(len(positions), np.bool_), read, skipped)

    def evaluation_batch(self, positions: Positions, size: int) -> Batch:
        images, codes = self._rows(size)
        count = len(positions)
        texts = self.records.fill(images[:count], codes[:count], self.kept[positions].tolist())
        valid, read = np.zeros(size, np.bool_), np.zeros(size, np.int64)
        valid[:count] = [text is not None for text in texts]
        read[:count] = positions
        said = tuple(text or "" for text in texts) + ("",) * (size - count)
        return self._batch(images, codes, valid, read, count - int(valid.sum()), said)

    def _rows(self, size: int) -> tuple[Picture, NDArray[np.int64]]:
        records = self.records
        images = np.zeros((size, records.height, records.width, 3), np.uint8)
        return images, np.full((size, records.length), records.charset.null, np.int64)

    def _batch(
        self,
        images: Picture,
        codes: NDArray[np.int64],
        valid: NDArray[np.bool_],
        positions: Positions,
        skipped: int,
        texts: tuple[str, ...] = (),
    ) -> Batch:
        return Batch(
            torch.from_numpy(images),
            torch.from_numpy(np.ascontiguousarray(codes[:, : self.max_length])),
            torch.from_numpy((codes != self.records.charset.null).sum(1)),
            torch.from_numpy(valid),
            torch.from_numpy(positions),
            torch.tensor(skipped),
            texts,
        )

    def _fill_with_next(self, picture: Picture, codes: NDArray[np.int64], position: int) -> int:
        """Take the first readable sample after `position`."""
        candidates = samples_after(position, len(self))
        while True:
            candidate = next(candidates)
            number = int(self.kept[candidate])
            if self.records.fill(picture[None], codes[None], [number])[0] is not None:
                return candidate
