"""Photographs that are too large to be read whole, packed smaller."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.train.data.samples import decoders_without, picture, saved
from tests.train.data.test_photo_folder import make_classes, open_split, pack
from trainferry.errors import PictureError
from trainferry.train.data import jpeg_region, pictures
from trainferry.train.data.jpeg_reduced import decode_large
from trainferry.train.data.jpeg_region import Frame
from trainferry.train.data.photos import smaller
from trainferry.train.data.photos.smaller import decode_for
from trainferry.train.data.pictures import Picture, decode_picture

HEIGHT, WIDTH = 403, 605
PHOTO = picture(7, HEIGHT, WIDTH)


@pytest.fixture(autouse=True)
def _a_low_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (pictures, jpeg_region, smaller):
        monkeypatch.setattr(module, "MAX_PIXELS", 100_000)
    monkeypatch.setattr(smaller, "MAX_PIXELS_SMALLER", 400_000)


def jpeg(values: Picture = PHOTO, mode: str = "RGB", **options: object) -> bytes:
    return saved(Image.fromarray(values).convert(mode), "JPEG", quality=95, **options)


@pytest.mark.parametrize(
    "packages", [(), ("simplejpeg",), ("simplejpeg", "cv2")], ids=["best", "opencv", "pillow"]
)
@pytest.mark.parametrize("mode", ["RGB", "L"])
@pytest.mark.parametrize(("short_side", "width"), [(20, 30), (50, 75), (100, 150), (190, 285)])
def test_a_large_jpeg_becomes_what_the_whole_would(
    monkeypatch: pytest.MonkeyPatch,
    packages: tuple[str, ...],
    mode: str,
    short_side: int,
    width: int,
) -> None:
    with decoders_without(monkeypatch, packages):
        seen, is_smaller = decode_for(jpeg(mode=mode), short_side)
    assert is_smaller
    assert seen.shape == (short_side, width, 3)
    whole = Image.fromarray(PHOTO).convert(mode).convert("RGB")
    expected = np.array(whole.resize((width, short_side), Image.Resampling.BILINEAR))
    assert np.abs(seen.astype(int) - expected).mean() < 2


def test_the_whole_is_never_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def remember(data: memoryview, frame: Frame, scale: int) -> Picture | None:
        reduced = decode_large(data, frame, scale)
        made.append(0 if reduced is None else reduced.shape[0] * reduced.shape[1])
        return reduced

    monkeypatch.setattr(smaller, "decode_large", remember)
    monkeypatch.setattr(smaller, "decode_picture", lambda _: pytest.fail("decoded whole"))
    for short_side in (20, 50, 100, 200):
        decode_for(jpeg(), short_side)
    assert made == [51 * 76, 101 * 152, 202 * 303, 202 * 303]


@pytest.mark.parametrize("short_side", [0, 202, 400])
def test_what_is_not_made_much_smaller_is_refused_with_what_to_pass(short_side: int) -> None:
    with pytest.raises(PictureError, match=r"605 x 403; more than 100,000 .* --short-side 201"):
        decode_for(jpeg(), short_side)


@pytest.mark.parametrize(
    "data",
    [
        jpeg(progressive=True),  # decoders hold all of it before the first row
        jpeg(mode="CMYK"),
        jpeg(picture(1, 1000, 500)),
        saved(Image.fromarray(PHOTO), "PNG"),
    ],
    ids=["progressive", "four colours", "a bomb", "no JPEG"],
)
def test_what_cannot_be_decoded_smaller_is_refused_as_before(data: bytes) -> None:
    with pytest.raises(PictureError, match="pixels are not read"):
        decode_for(data, 50)


@pytest.mark.parametrize("packages", [(), ("simplejpeg",), ("simplejpeg", "cv2")])
def test_half_a_large_jpeg_is_refused(
    monkeypatch: pytest.MonkeyPatch, packages: tuple[str, ...]
) -> None:
    data = jpeg()
    with (
        decoders_without(monkeypatch, packages),
        pytest.raises(PictureError, match="605 x 403 is damaged"),
    ):
        decode_for(data[: len(data) // 2], 50)


def test_what_pillow_takes_for_a_bomb_is_packed_by_others_and_refused_by_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 50_000)
    assert decode_for(jpeg(), 50)[0].shape == (50, 75, 3)
    with (
        decoders_without(monkeypatch, ("simplejpeg", "cv2")),
        pytest.raises(PictureError, match="too large for the decoder"),
    ):
        decode_for(jpeg(), 50)


def test_large_photographs_are_packed_when_made_smaller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 50_000)
    source = make_classes(tmp_path / "source", "a", "b", each=1)
    (source / "a" / "large.jpg").write_bytes(jpeg())
    shown = pack(source, tmp_path / "whole").summary()
    assert "wrote 2 train photographs" in shown
    assert "only read to be packed smaller: `data folder --short-side 201` does it" in shown
    report = pack(source, tmp_path / "smaller", short_side=48)
    assert [kind for _, kind in report.rewritten] == ["JPEG made smaller"]
    records = open_split(tmp_path / "smaller", "train")
    found = {sample.name: sample for sample in map(records.sample, range(len(records)))}
    assert decode_picture(found["large.jpg"].encoded).shape == (48, 72, 3)
