"""Photographs that travel as JPEGs, to a device that decodes them.

A reader puts the bytes of all pictures of a batch behind each other and says for each where they
lie and which part of it is shown. A picture that is no plain JPEG is made by the reader as usual
and travels as its pixels, between the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import torch
from torch import Tensor

from trainferry.errors import DataError, PictureError
from trainferry.train.data.batch import Batch
from trainferry.train.data.photos.crop import Draw
from trainferry.train.data.photos.sampling import Box
from trainferry.train.data.pictures import JPEG_END, Picture, decode_picture
from trainferry.train.kernels.cut import Part, cut_parts
from trainferry.train.recipe.tasks import PhotoPicture

Decode: TypeAlias = Callable[[Sequence[Tensor]], list[Tensor]]


class Cut(NamedTuple):
    """The bytes of a picture in a line, and the part of it that is shown; of pixels, all is."""

    start: int
    length: int
    is_encoded: int
    top: int
    left: int
    height: int
    width: int
    mirrored: int

    def of(self, line: Tensor) -> Tensor:
        return line[self.start : self.start + self.length]


class Pack:
    """The pictures of a batch while they are collected."""

    def __init__(self) -> None:
        self._pieces: list[bytes | memoryview] = []
        self._cuts: list[Cut] = []

    def add_encoded(self, draw: Draw) -> None:
        self._add(draw.data, 1, draw.box, draw.mirrored)

    def add_pixels(self, made: Picture) -> None:
        self._add(made.tobytes(), 0, Box(0, 0, *made.shape[:2]), False)

    def into(self, batch: Batch) -> Batch:
        """Return the batch with all bytes in one line, in the place of its pictures."""
        line = torch.frombuffer(bytearray().join(self._pieces), dtype=torch.uint8)
        return replace(batch, images=line, cuts=torch.tensor(self._cuts, dtype=torch.int64))

    def _add(self, piece: bytes | memoryview, encoded: int, box: Box, mirrored: bool) -> None:
        start = self._cuts[-1].start + self._cuts[-1].length if self._cuts else 0
        self._pieces.append(piece)
        self._cuts.append(Cut(start, len(piece), encoded, *box, int(mirrored)))


def is_plain(draw: Draw) -> bool:
    """Whether a device may be asked to decode it: whole, of a usual kind and size."""
    return draw.frame is not None and draw.frame.is_usual and bytes(draw.data[-2:]) == JPEG_END


def unpack(batch: Batch, picture: PhotoPicture, device: torch.device, decode: Decode) -> Batch:
    """Decode the pictures of a packed batch and cut their parts out, on the device.

    In the place of one that nobody can decode stands another of the batch, and it counts as
    skipped. A batch that is not packed stays as it is.
    """
    if batch.cuts is None:
        return batch
    cuts = [Cut(*fields) for fields in batch.cuts.tolist()]
    size = picture.height, picture.width
    images = torch.empty((len(cuts), *size, 3), dtype=torch.uint8, device=device)
    encoded = {n: cut.of(batch.images) for n, cut in enumerate(cuts) if cut.is_encoded}
    # Decoders have a stream of their own, which does not wait for ours: whatever is freed here
    # while ours still reads it would be theirs to write to. So they come first.
    decoded = _decode(encoded, decode, device)
    for number, cut in enumerate(cuts):
        if not cut.is_encoded:
            images[number] = cut.of(batch.images).view(images.shape[1:]).to(device)
    if decoded:
        line, parts = _line_up(decoded, cuts)
        images[list(decoded)] = cut_parts(line, parts, *size, picture.filter)
    bad = [number for number in encoded if number not in decoded]
    return _without(replace(batch, images=images, cuts=None), bad)


def _decode(encoded: dict[int, Tensor], decode: Decode, device: torch.device) -> dict[int, Tensor]:
    """Decode all at once; where that fails, one by one, without those that are at fault."""
    if not encoded:
        return {}
    try:
        return dict(zip(encoded, decode(list(encoded.values())), strict=True))
    except PictureError:
        pass  # it does not say which
    decoded, refused = {}, {}
    for number, one in encoded.items():
        try:
            (decoded[number],) = decode([one])
        except PictureError:
            refused[number] = one
    return decoded | _decode_here(refused, device)


def _decode_here(refused: dict[int, Tensor], device: torch.device) -> dict[int, Tensor]:
    """Decode as readers do: a device does not know every kind of JPEG that they do."""
    decoded = {}
    for number, one in refused.items():
        try:
            picture = decode_picture(one.numpy().tobytes())
        except PictureError:
            continue  # counted by whoever asked: it is not among the decoded ones
        decoded[number] = torch.from_numpy(picture.copy()).permute(2, 0, 1).contiguous().to(device)
    return decoded


def _line_up(decoded: dict[int, Tensor], cuts: Sequence[Cut]) -> tuple[Tensor, list[Part]]:
    start, parts = 0, []
    for number, one in decoded.items():
        top, left, height, width, mirrored = cuts[number][3:]
        tall, wide = one.shape[1:]
        parts.append(Part(start, tall, wide, top, left, height, width, bool(mirrored)))
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
