"""A recurrent decoder that looks at a fixed window of the features for each character.

The net-slice layers of Attention-OCR: the window of character i begins at place i, is N/L places
wide and so overlaps the next; most places are never seen. Kept to compare with the original.

Shapes: B samples, N places, C channels, L characters, K classes, H hidden values of the cell.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from trainferry.errors import RecipeError
from trainferry.train.networks.attention_decoder import (
    ClippedCell,
    Links,
    Reader,
    build_classifier,
    unroll,
)


class SliceDecoder(nn.Module):
    """Reads features, B N C, window by window."""

    def __init__(self, classes: int, channels: int, places: int, reader: Reader) -> None:
        super().__init__()
        self.channels = channels
        self.length = reader.length
        self.autoregression = reader.autoregression
        self.window = places // reader.length
        if self.window == 0:
            raise RecipeError(
                f"{places} places of the pictures are too few for {reader.length} characters",
                hint="choose larger pictures, an earlier endpoint, or attention",
            )
        told = classes if reader.autoregression else 0
        inputs = self.window * channels + told
        self.cell = ClippedCell(inputs, reader.hidden, reader.cell_clip)
        self.classifier = build_classifier(reader.hidden, classes)

    def forward(self, features: Tensor, previous: Tensor | None = None) -> Tensor:
        """Map features, B N C, and the right characters, B L, if known, to scores, B L K."""
        return unroll(self.cell, self._links(features).told(previous), _say_hidden)

    def look(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Return the scores, B L K, and the share of each place in each character, B L N."""
        samples, places, _ = features.shape
        first = torch.arange(self.length, device=features.device)[:, None]
        place = torch.arange(places, device=features.device)
        seen = (place >= first) & (place < first + self.window)
        shares = (seen / self.window).expand(samples, -1, -1)
        return self(features), shares

    def _links(self, features: Tensor) -> Links:
        cell = self.cell
        seen = self.window * self.channels
        of_window, of_character = cell.weight_ih.split([seen, cell.weight_ih.shape[1] - seen], 1)
        kernel = of_window.unflatten(1, (self.window, self.channels)).transpose(1, 2)  # 4H C w
        read = features[:, : self.length + self.window - 1].transpose(1, 2)
        bias = cell.bias + cell.forget_bias
        return Links(
            given=functional.conv1d(read, kernel).permute(2, 0, 1) + bias,
            characters=of_character.t() if self.autoregression else None,
            recurrent=cell.weight_hh,
            voice=self.classifier.weight,
            voice_bias=self.classifier.bias,
        )


def _say_hidden(carried: Tensor, hidden: Tensor) -> Tensor:  # noqa: ARG001  # Look hands both
    return hidden
