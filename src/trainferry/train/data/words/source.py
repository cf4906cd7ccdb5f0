"""Words as a source of batches: pictures with padded labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from trainferry.train.data.batch import Batch
from trainferry.train.data.batches import Positions
from trainferry.train.data.pictures import Picture
from trainferry.train.data.replacing import samples_after
from trainferry.train.data.words.alphabet import Alphabet
from trainferry.train.data.words.records import WordRecords


@dataclass(frozen=True)
class WordSource:
    """Samples of a record set that are fit for use, and how their labels are written."""

    records: WordRecords
    alphabet: Alphabet
    kept: Positions
    max_length: int

    def __len__(self) -> int:
        return len(self.kept)

    def label_text(self, position: int) -> str:
        return self.records.text(int(self.kept[position]))

    def shown(self, position: int) -> Picture:
        picture = self.records.sample(int(self.kept[position])).picture
        return np.ascontiguousarray(picture[:, :, ::-1]) if self._is_bgr else picture

    def training_batch(self, positions: Positions, places: Positions, seed: int) -> Batch:
        del places, seed  # words vary on the device
        return self.batch(positions, len(positions), replacing=True)

    def evaluation_batch(self, positions: Positions, size: int) -> Batch:
        return self.batch(positions, size, replacing=False)

    def batch(self, positions: Positions, size: int, *, replacing: bool) -> Batch:
        """Read the samples at `positions` and fill up to `size` rows.

        A sample that cannot be read is counted as skipped. In training, when `replacing`,
        the next readable one takes its place; in an evaluation its row is not valid, and
        labels leave out characters that the alphabet does not have: `texts` keeps them.
        """
        height, width = self.records.height, self.records.width
        images = np.zeros((size, height, width, 3), np.uint8)
        labels = np.full((size, self.max_length), self.alphabet.blank, np.int64)
        lengths = np.zeros(size, np.int64)
        valid = np.zeros(size, np.bool_)
        texts = [""] * size
        read = np.zeros(size, np.int64)
        skipped = 0
        found = self.records.fill(images[: len(positions)], self.kept[positions].tolist())
        for row, position in enumerate(positions.tolist()):
            used, text = position, found[row]
            if text is None:
                skipped += 1
                if not replacing:
                    continue
                used, text = self._fill_with_next(images[row], position)
            known = text if replacing else self._known(text)
            classes = self.alphabet.encode(known)
            labels[row, : len(classes)] = classes
            lengths[row] = len(classes)
            read[row] = used
            valid[row] = True
            texts[row] = text
        return Batch(
            torch.from_numpy(images),
            torch.from_numpy(labels),
            torch.from_numpy(lengths),
            torch.from_numpy(valid),
            torch.from_numpy(read),
            torch.tensor(skipped),
            () if replacing else tuple(texts),
        )

    @property
    def _is_bgr(self) -> bool:
        return self.records.order == "bgr"

    def _fill_with_next(self, picture: Picture, position: int) -> tuple[int, str]:
        """Take the first readable sample after `position`."""
        candidates = samples_after(position, len(self))
        while True:
            candidate = next(candidates)
            text = self.records.fill(picture[None], [int(self.kept[candidate])])[0]
            if text is not None:
                return candidate, text

    def _known(self, text: str) -> str:
        known = "".join(character for character in text if character in self.alphabet)
        return known[: self.max_length]
