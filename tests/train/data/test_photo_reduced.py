"""Photographs that are decoded smaller give the same training pictures, nowhere shifted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from tests.train.data.samples import decoders_without, picture, saved
from tests.train.data.test_photo_crop import draw
from trainferry.errors import PictureError
from trainferry.train.data.jpeg_region import find_frame
from trainferry.train.data.photos.crop import Draw, choose_scale, evaluation_picture, make_training
from trainferry.train.data.photos.sampling import Box
from trainferry.train.data.pictures import Picture, decode_picture, encode_png
from trainferry.train.recipe.tasks import PhotoPicture

SIDE = 32
WHOLE = PhotoPicture(
    height=SIDE, width=SIDE, evaluation_size=SIDE, crop="random_resized", filter="antialias"
)
SCALED = replace(WHOLE, decode="scaled")
BOXES = [  # of a picture of 613 x 819, which no scale divides
    *(Box(0, 0, 613, 819), Box(7, 13, 606, 806), Box(1, 5, 399, 411)),
    *(Box(205, 399, 203, 201), Box(470, 670, 143, 149), Box(3, 2, 137, 131)),
]


def test_a_box_is_decoded_as_small_as_leaves_twice_what_the_network_sees() -> None:
    least = 2 * SIDE
    for scale in (2, 4, 8):
        assert choose_scale(Box(0, 0, least * scale, 1000), SCALED) == scale
        assert choose_scale(Box(0, 0, 1000, least * scale), SCALED) == scale
        assert choose_scale(Box(0, 0, least * scale - 1, 1000), SCALED) == scale // 2
    assert choose_scale(Box(0, 0, 5000, 5000), SCALED) == 8


@given(*(st.integers(1, 5000) for _ in range(2)), *(st.integers(1, 300) for _ in range(2)))
def test_what_is_decoded_is_never_smaller_than_what_the_network_sees(
    high: int, wide: int, height: int, width: int
) -> None:
    scale = choose_scale(Box(0, 0, high, wide), replace(SCALED, height=height, width=width))
    assert scale == 1 or (high >= 2 * scale * height and wide >= 2 * scale * width)


@pytest.mark.parametrize("settings", [WHOLE, replace(SCALED, filter="legacy")])
def test_nothing_is_decoded_smaller_unless_asked_for_and_smooth(settings: PhotoPicture) -> None:
    assert choose_scale(Box(0, 0, 5000, 5000), settings) == 1


@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("subsampling", ["4:4:4", "4:2:0"])
def test_a_spot_stays_where_it_is(box: Box, mirrored: bool, subsampling: str) -> None:
    scale = choose_scale(box, SCALED)
    assert scale > 1
    across = (box.left + 0.37 * box.width, box.top + 0.58 * box.height)
    data = saved(
        Image.fromarray(spot(*across, radius=min(box.height, box.width) / 9)),
        "JPEG",
        quality=98,
        subsampling=subsampling,
    )
    x, y = centre_of(make(data, box, mirrored, SCALED))
    assert x == pytest.approx((0.63 if mirrored else 0.37) * SIDE, abs=0.03)
    assert y == pytest.approx(0.58 * SIDE, abs=0.03)


@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("axis", ["down", "right"])
def test_a_slope_keeps_its_values(box: Box, mirrored: bool, axis: str) -> None:
    down, right = np.mgrid[0:613, 0:819] + 0.5
    inside = (down - box.top) / box.height if axis == "down" else (right - box.left) / box.width
    rising, falling = 40 + 170 * inside, 210 - 170 * inside
    values = np.stack([rising, falling, np.full_like(rising, 128)], axis=2).clip(0, 255)
    data = saved(Image.fromarray(values.astype(np.uint8)), "JPEG", quality=98, subsampling=0)
    scaled, whole = (make(data, box, mirrored, one).astype(int) for one in (SCALED, WHOLE))
    assert np.abs(scaled - whole).max() <= 2
    red, green, _ = (scaled - whole)[1:-1, 1:-1].mean((0, 1))
    # What rounding adds to both cancels out. A pixel further, the slopes differ by 5.3 levels.
    assert abs(red - green) / 2 / (170 / SIDE) < 0.02


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_smooth_photograph_looks_as_if_decoded_whole(mirrored: bool) -> None:
    data = saved(Image.fromarray(picture(5, 613, 819)), "JPEG", quality=92)
    for box in BOXES:
        scaled, whole = (make(data, box, mirrored, one).astype(int) for one in (SCALED, WHOLE))
        assert np.abs(scaled - whole).mean() < 0.5


def test_floats_are_the_bytes() -> None:
    data = saved(Image.fromarray(picture(1, 300, 400)), "JPEG")
    for seed in range(4):
        bytes_drawn = draw(data, SCALED, seed=seed)
        assert np.array_equal(draw(data, SCALED, seed=seed, kind=np.float32), bytes_drawn)


@pytest.mark.parametrize("kind", ["PNG", "P", "CMYK"])
def test_what_no_decoder_makes_smaller_is_decoded_whole(kind: str) -> None:
    image = Image.fromarray(picture(2, 300, 400))
    image = image if kind == "PNG" else image.convert(kind)
    data = saved(image, "JPEG" if kind == "CMYK" else "PNG")
    for seed in range(4):
        assert np.array_equal(draw(data, SCALED, seed=seed), draw(data, WHOLE, seed=seed))


@pytest.mark.parametrize("options", [{}, {"progressive": True}])
def test_a_truncated_photograph_is_refused_all_the_same(options: dict[str, object]) -> None:
    data = saved(Image.fromarray(picture(3, 300, 400)), "JPEG", **options)
    for cut in (len(data) - 2, len(data) // 2):
        for settings in (SCALED, WHOLE):
            with pytest.raises(PictureError):
                draw(data[:cut], settings)


@pytest.mark.parametrize("absent", [("simplejpeg",), ("simplejpeg", "cv2")])
def test_every_decoder_gives_the_same_training_picture(
    monkeypatch: pytest.MonkeyPatch, absent: tuple[str, ...]
) -> None:
    data = saved(Image.fromarray(picture(4, 301, 403)), "JPEG", subsampling=2)
    expected = [draw(data, SCALED, seed=seed) for seed in range(5)]
    with decoders_without(monkeypatch, absent):
        drawn = [draw(data, SCALED, seed=seed) for seed in range(5)]
    assert np.array_equal(drawn, expected)


def test_an_evaluation_decodes_whole() -> None:
    data = saved(Image.fromarray(picture(6, 613, 819)), "JPEG", quality=92)
    png = encode_png(decode_picture(data))
    one, other = (np.empty((SIDE, SIDE, 3), np.float32) for _ in range(2))
    evaluation_picture(data, SCALED, one)
    evaluation_picture(png, WHOLE, other)
    assert np.array_equal(one, other)


def make(data: bytes, box: Box, mirrored: bool, settings: PhotoPicture) -> Picture:
    view = memoryview(data)
    target = np.empty((SIDE, SIDE, 3), np.uint8)
    make_training(Draw(view, find_frame(view), None, box, mirrored), settings, target)
    return target


def spot(x: float, y: float, radius: float) -> Picture:
    down, right = np.mgrid[0:613, 0:819] + 0.5
    away = ((right - x) ** 2 + (down - y) ** 2) / radius**2
    return np.repeat((16 + 200 * np.exp(-away))[:, :, None], 3, axis=2).astype(np.uint8)


def centre_of(seen: Any) -> tuple[float, float]:
    bright = (seen.mean(2) - 30).clip(0)
    places = np.arange(SIDE) + 0.5
    across, along = (float(np.average(places, weights=bright.sum(axis))) for axis in (0, 1))
    return across, along
