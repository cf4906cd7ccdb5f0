"""Attention-OCR: several views of one sign, one text.

Wojna, Gorban, Lee, Murphy, Yu, Li and Ibarz, 2017, https://arxiv.org/abs/1704.03549, in the form
of the TensorFlow 1.15 original: Inception-v3 sees each view by itself, and a recurrent decoder
reads the text from all of them.

Shapes: B samples, V views of H W pixels, h w places of a view's map, C channels, L characters,
K classes (the last is null: the text is over).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from trainferry.devices.lanes import side_by_side
from trainferry.errors import DataError
from trainferry.train.networks.attention_decoder import AttentionDecoder, Links, Reader
from trainferry.train.networks.inception_v3 import InceptionV3
from trainferry.train.networks.inception_v3_parts import map_size
from trainferry.train.networks.layers import is_watched
from trainferry.train.networks.slice_decoder import SliceDecoder


@dataclass(frozen=True)
class Views:
    """The pictures of a sample, side by side; height and width are of one of them."""

    count: int = 4
    height: int = 150
    width: int = 150


class AttentionOCR(nn.Module):
    """Reads one text from several views; scores for every character, null behind the last.

    With `coordinates` each feature also tells its row and its column.
    """

    coordinates: Tensor | None

    def __init__(
        self,
        classes: int,
        views: Views | None = None,
        reader: Reader | None = None,
        endpoint: str = "Mixed_5d",
        coordinates: bool = False,
        norm_decay: float = 0.9997,
    ) -> None:
        super().__init__()
        self.views = views or Views()
        reader = reader or Reader()
        self.map_size = map_size(endpoint, self.views.height, self.views.width)
        self.tower = InceptionV3(endpoint, self.views.count, norm_decay)
        places = _coordinates(*self.map_size) if coordinates else None
        self.register_buffer("coordinates", places, persistent=False)
        channels = self.tower.channels + (sum(self.map_size) if coordinates else 0)
        self.decoder: AttentionDecoder | SliceDecoder
        if reader.attention:
            self.decoder = AttentionDecoder(classes, channels, reader)
        else:
            count = self.views.count * self.map_size[0] * self.map_size[1]
            self.decoder = SliceDecoder(classes, channels, count, reader)

    def forward(self, images: Tensor, previous: Tensor | None = None) -> Tensor:
        """Map views side by side, B 3 H V*W in [-1.25, 1.25], to class scores, B L K.

        `previous` are the right characters, B L: each is read knowing the one before. Without
        them the network reads on after what it read itself.
        """
        decoder = self.decoder
        if previous is None or not isinstance(decoder, AttentionDecoder) or is_watched(decoder):
            return decoder(self._features(images), previous)
        works: list[Callable[[Tensor], Tensor | Links]]
        works = [self._features, partial(decoder.links, len(images))]
        features, links = side_by_side(works, [[images], [previous]])
        assert isinstance(features, Tensor)
        assert isinstance(links, Links)
        return decoder.follow(features, links)

    def look(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Return the scores and where each character was looked for: B L K and B L V h w."""
        logits, shares = self.decoder.look(self._features(images))
        return logits, shares.unflatten(2, (self.views.count, *self.map_size))

    def _features(self, images: Tensor) -> Tensor:
        """Features of all views, row by row of the views on top of each other: B V*h*w C."""
        self._check(images)
        views = torch.cat(images.chunk(self.views.count, 3))
        # Channels last before the views change places: so they stay on the way back.
        maps = self.tower(views).permute(0, 2, 3, 1)
        maps = maps.unflatten(0, (self.views.count, len(images))).transpose(0, 1)  # B V h w C
        if self.coordinates is not None:
            places = self.coordinates.to(maps.dtype).expand(*maps.shape[:4], -1)
            maps = torch.cat([maps, places], 4)
        return maps.flatten(1, 3)

    def _check(self, images: Tensor) -> None:
        views = self.views
        if images.shape[1:] != (3, views.height, views.count * views.width):
            channels, height, width = images.shape[1:]
            raise DataError(
                f"the network reads {views.count} views of {views.height}x{views.width} pixels "
                f"side by side, and was given {height}x{width} pixels of {channels} channels",
                hint="bring the pictures to this size, or build the network for theirs",
            )


def _coordinates(height: int, width: int) -> Tensor:
    """One-hot row, then one-hot column of every place: h w h+w."""
    rows = torch.eye(height)[:, None].expand(-1, width, -1)
    columns = torch.eye(width).expand(height, -1, -1)
    return torch.cat([rows, columns], 2)
