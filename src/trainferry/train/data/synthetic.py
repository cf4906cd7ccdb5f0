"""Made-up samples, to time training without reading anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from trainferry.train.data.batch import Batch
from trainferry.train.data.batches import Positions
from trainferry.train.data.pictures import Picture


@dataclass(frozen=True)
class SyntheticSource:
    """A pool of pictures and labels that comes again and again, as often as there are samples."""

    images: Picture  # P H W 3
    labels: NDArray[Any]
    lengths: NDArray[Any]
    samples: int

    def __len__(self) -> int:
        return self.samples

    def training_batch(self, positions: Positions, places: Positions, seed: int) -> Batch:
        del places, seed
        return self.evaluation_batch(positions, len(positions))

    def evaluation_batch(self, positions: Positions, size: int) -> Batch:
        """Take the pool's rows in turn; rows beyond the positions are not valid."""
        rows = np.resize(positions, size) % len(self.images)
        return Batch(
            torch.from_numpy(self.images[rows]),
            torch.from_numpy(self.labels[rows]),
            torch.from_numpy(self.lengths[rows]),
            torch.arange(size) < len(positions),
            torch.from_numpy(np.resize(positions, size)),
            torch.tensor(0),
        )

    def shown(self, position: int) -> Picture:
        return self.images[position % len(self.images)]

    def label_text(self, position: int) -> str:
        return str(self.labels[position % len(self.labels)])
