"""Photographs that travel as JPEGs, to a device that decodes them.

A reader puts the bytes of all pictures of a batch behind each other and says for each where they
lie and which part of it is shown. A picture that is no plain JPEG is made by the reader as usual
and travels as its pixels, between the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor

from trainferry.errors import DataError, PictureError
from trainferry.train.data.batches import Batch
from trainferry.train.data.photos.crop import Box, Draw
from trainferry.train.data.pictures import MAX_PIXELS, Picture
from trainferry.train.kernels.cut import Part, cut_parts
from trainferry.train.recipe.tasks import PhotoPicture

Decode: TypeAlias = Callable[[Sequence[Tensor]], list[Tensor]]

_END = b"\xff\xd9"
_COMPONENTS = (1, 3)  # grey and colour; others are for print


@dataclass(frozen=True)
class _Row:
    """Where the bytes of a picture lie, and the part of it that is shown; none for pixels."""

    start: int
    length: int
    is_encoded: bool
    box: Box
    mirrored: bool


class Pack:
    """The pictures of a batch while they are collected."""

    def __init__(self) -> None:
        self._pieces: list[bytes | memoryview] = []
        self._rows: list[list[int]] = []
        self._length = 0

    def add_encoded(self, draw: Draw) -> None:
        self._add(draw.data, [1, *draw.box, draw.mirrored])

    def add_pixels(self, made: Picture) -> None:
        self._add(made.tobytes(), [0, 0, 0, *made.shape[:2], 0])

    def into(self, batch: Batch) -> Batch:
        """Return the batch with all bytes in one line, in the place of its pictures."""
        line = np.empty(self._length, np.uint8)
        start = 0
        for piece in self._pieces:
            line[start : start + len(piece)] = np.frombuffer(piece, np.uint8)
            start += len(piece)
        cuts = torch.tensor(self._rows, dtype=torch.int64)
        return replace(batch, images=torch.from_numpy(line), cuts=cuts)

    def _add(self, piece: bytes | memoryview, facts: list[int]) -> None:
        self._pieces.append(piece)
        self._rows.append([self._length, len(piece), *map(int, facts)])
        self._length += len(piece)


def is_plain(draw: Draw) -> bool:
    """Whether a device may be asked to decode it: whole, of a usual kind and size."""
    frame = draw.frame
    return (
        frame is not None
        and frame.components in _COMPONENTS
        and frame.height * frame.width <= MAX_PIXELS
        and bytes(draw.data[-2:]) == _END
    )


def unpack(batch: Batch, picture: PhotoPicture, device: torch.device, decode: Decode) -> Batch:
    """Decode the pictures of a packed batch and cut their parts out, on the device.

    In the place of one that cannot be decoded stands another of the batch, and it counts as
    skipped. A batch that is not packed stays as it is.
    """
    if batch.cuts is None:
        return batch
    rows = [_row(fields) for fields in batch.cuts.tolist()]
    images = torch.empty(
        (len(rows), picture.height, picture.width, 3), dtype=torch.uint8, device=device
    )
    for number, row in enumerate(rows):
        if not row.is_encoded:
            pixels = batch.images[row.start : row.start + row.length]
            images[number] = pixels.view(images.shape[1:]).to(device)
    decoded = _decode([row if row.is_encoded else None for row in rows], batch.images, decode)
    bad = [n for n, row in enumerate(rows) if row.is_encoded and n not in decoded]
    if decoded:
        line, parts = _line_up(decoded, rows)
        made = cut_parts(line, parts, picture.height, picture.width, picture.filter)
        images[torch.tensor(list(decoded)).to(device)] = made
    return _without(replace(batch, images=images, cuts=None), bad)


def _row(fields: list[int]) -> _Row:
    start, length, is_encoded, top, left, height, width, mirrored = fields
    return _Row(start, length, bool(is_encoded), Box(top, left, height, width), bool(mirrored))


def _decode(rows: Sequence[_Row | None], line: Tensor, decode: Decode) -> dict[int, Tensor]:
    """Decode all at once; where that fails, one by one, without those that are at fault."""
    encoded = {
        number: line[row.start : row.start + row.length]
        for number, row in enumerate(rows)
        if row is not None
    }
    if not encoded:
        return {}
    try:
        return dict(zip(encoded, decode(list(encoded.values())), strict=True))
    except PictureError:
        pass  # it does not say which
    decoded = {}
    for number, one in encoded.items():
        try:
            (decoded[number],) = decode([one])
        except PictureError:
            continue  # counted by whoever asked: it is not among the decoded ones
    return decoded


def _line_up(decoded: dict[int, Tensor], rows: Sequence[_Row]) -> tuple[Tensor, list[Part]]:
    start, parts = 0, []
    for number, one in decoded.items():
        height, width = one.shape[1:]
        row = rows[number]
        parts.append(Part(start, height, width, *row.box, mirrored=row.mirrored))
        start += one.numel()
    return torch.cat([one.reshape(-1) for one in decoded.values()]), parts


def _without(batch: Batch, bad: list[int]) -> Batch:
    if not bad:
        return batch
    good = [number for number in range(len(batch.labels)) if number not in bad]
    if not good:
        raise DataError(
            f"none of the {len(bad)} pictures of a batch can be decoded",
            hint="run `trainferry data check` on this folder, or pass --set data.jpeg=readers",
        )
    order = torch.arange(len(batch.labels))
    order[bad] = torch.tensor([good[turn % len(good)] for turn in range(len(bad))])
    return replace(
        batch,
        images=batch.images[order.to(batch.images.device)],
        labels=batch.labels[order],
        positions=batch.positions[order],
        skipped=batch.skipped + len(bad),
    )
