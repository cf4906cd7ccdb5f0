"""Photographs as a network sees them, compared with what TensorFlow 1.15.5 gave."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from tests.train.data.samples import decoders_without, picture, saved
from tests.train.data.test_legacy_resize import GOLDEN, synthetic
from trainferry.errors import PictureError
from trainferry.train.data.aligned_resize import resize_middle
from trainferry.train.data.legacy_resize import resize_legacy
from trainferry.train.data.photos.crop import (
    draw_training,
    evaluation_picture,
    evaluation_size,
    make_training,
    prepare_evaluation,
    training_picture,
)
from trainferry.train.data.photos.sampling import (
    Box,
    Corners,
    sample_canvas_box,
    sample_distorted_box,
    sample_resized_box,
)
from trainferry.train.data.pictures import decode_picture, encode_jpeg, encode_png
from trainferry.train.recipe.tasks import PhotoAugment, PhotoPicture

RESNET = PhotoPicture()
DENSENET = PhotoPicture(
    most_aspect=1.333, least_area=0.08, attempts=10, evaluation="squash", values="floats"
)
ZOO = PhotoPicture(
    crop="canvas_box", least_area=0.16, evaluation="central_box", evaluation_size=280
)
USUAL = PhotoPicture(crop="random_resized", least_area=0.08, attempts=10, filter="antialias")
BOXED = [(375, 500), (500, 375), (256, 341), (60, 400), (1200, 1600), (5000, 4000), (9, 7)]


@pytest.mark.parametrize(("column", "settings"), [(0, RESNET), (1, DENSENET)])
def test_boxes_are_those_of_tensorflow_given_its_random_numbers(
    column: int, settings: PhotoPicture
) -> None:
    drawn = []
    for draw in range(len(GOLDEN["boxes"])):
        height, width = BOXED[draw % len(BOXED)]
        dice = TensorFlowDice(7 + column, 11 + column, draw * settings.attempts)
        drawn.append(
            sample_distorted_box(
                cast(np.random.Generator, dice), height, width, objects(draw), settings
            )
        )
    assert np.array_equal(drawn, GOLDEN["boxes"][:, column])


@pytest.mark.parametrize(("height", "width"), [(280, 280), (560, 140), (375, 500), (2, 1)])
def test_a_box_of_a_canvas_is_stretched_over_the_picture(height: int, width: int) -> None:
    for seed in range(50):
        drawn = sample_distorted_box(np.random.default_rng(seed), 280, 280, [], ZOO)
        box = sample_canvas_box(np.random.default_rng(seed), height, width, ZOO)
        ends = (drawn.top, drawn.left, drawn.top + drawn.height, drawn.left + drawn.width)
        expected = [end * side / 280 for end, side in zip(ends, 2 * (height, width), strict=True)]
        found = (box.top, box.left, box.top + box.height, box.left + box.width)
        assert np.abs(np.subtract(found, expected)).max() <= 1
        assert 0 <= box.top < box.top + box.height <= height
        assert 0 <= box.left < box.left + box.width <= width
        if height == width == 280:
            assert np.abs(np.subtract(box, drawn)).max() <= 1  # float32 may cut off a pixel


@pytest.mark.parametrize("values", ["bytes", "floats"])
def test_a_part_of_a_canvas_is_mirrored_behind_resizing(values: str) -> None:
    settings = replace(ZOO, height=32, width=32, evaluation_size=40)
    kind = np.uint8 if values == "bytes" else np.float32
    data = encode_png(picture(3, 50, 61))
    plain, mirrored = (np.empty((32, 32, 3), kind) for _ in range(2))
    for target, flip in ((plain, 0.0), (mirrored, 1.0)):
        dice = np.random.default_rng(4)
        training_picture(data, [], settings, PhotoAugment(flip=flip), dice, target)
    assert np.array_equal(plain[:, ::-1], mirrored)


def test_the_middle_of_a_picture_is_that_of_crop_and_resize() -> None:
    """Values of TensorFlow 1.15.5."""
    rgb = (np.arange(5 * 7 * 3) * 37 % 256).astype(np.uint8).reshape(5, 7, 3)
    found = resize_middle(rgb, 0.8, 4, 3)[:, :, 0]
    expected = [
        [70.200005, 80.6, 90.999954],
        [79.8, 90.2, 100.59995],
        [89.40001, 99.8, 110.19996],
        [99.00001, 109.4, 119.79996],
    ]
    assert np.array_equal(found, np.array(expected, np.float32))
    one = resize_middle(rgb, 0.8, 1, 2)[:, :, 1]
    assert np.array_equal(one, np.array([[121.600006, 142.39996]], np.float32))
    whole = replace(ZOO, height=4, width=4, evaluation_size=5)
    assert np.array_equal(prepare_evaluation(rgb, whole), resize_middle(rgb, 0.8, 4, 4))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 900), st.integers(1, 900), st.integers(0, 2**32), st.booleans())
def test_every_box_lies_in_the_picture(height: int, width: int, seed: int, usual: bool) -> None:
    dice = np.random.default_rng(seed)
    if usual:
        box = sample_resized_box(dice, height, width, USUAL)
    else:
        box = sample_distorted_box(dice, height, width, [(0.1, 0.2, 0.6, 0.9)], RESNET)
    assert box.top >= 0
    assert box.left >= 0
    assert box.height > 0
    assert box.width > 0
    assert box.top + box.height <= height
    assert box.left + box.width <= width


def test_a_box_covers_a_tenth_of_one_of_the_objects() -> None:
    dice = np.random.default_rng(0)
    for _ in range(100):
        box = sample_distorted_box(dice, 200, 200, [(0.5, 0.5, 1.0, 1.0)], RESNET)
        shared = (box.top + box.height - max(100, box.top)) * (
            box.left + box.width - max(100, box.left)
        )
        assert shared >= 1000


@pytest.mark.parametrize("objects", [[(0.5, 0.5, 0.5, 0.5)], [(float("nan"), 0.0, 0.0, -3.0)]])
def test_the_whole_picture_is_taken_when_no_box_can_cover_an_object(
    objects: list[Corners],
) -> None:
    box = sample_distorted_box(np.random.default_rng(0), 80, 90, objects, RESNET)
    assert box == Box(0, 0, 80, 90)


def test_corners_outside_the_picture_are_moved_to_its_edge() -> None:
    boxes = [
        sample_distorted_box(np.random.default_rng(5), 80, 90, [corners], RESNET)
        for corners in ((0.0, 0.0, 1.0, 1.0), (-0.2, 0.0, 1.0, 1.0001))
    ]
    assert boxes[0] == boxes[1]


def test_areas_of_resized_boxes_are_uniform_and_their_aspects_log_uniform() -> None:
    dice = np.random.default_rng(0)
    wide = replace(USUAL, least_aspect=3 / 4, most_aspect=4 / 3, least_area=0.1)
    boxes = np.array([sample_resized_box(dice, 4000, 4000, wide) for _ in range(2000)])
    areas = boxes[:, 2] * boxes[:, 3] / 4000**2
    aspects = np.log(boxes[:, 3] / boxes[:, 2])
    assert abs(np.mean(areas[areas < 0.7]) - 0.4) < 0.02
    assert abs(np.mean(aspects)) < 0.02
    assert np.abs(aspects).max() <= np.log(4 / 3) + 0.01


def test_a_narrow_picture_gives_its_largest_central_part() -> None:
    dice = np.random.default_rng(0)
    assert sample_resized_box(dice, 10, 1000, USUAL) == Box(0, 493, 10, 13)
    assert sample_resized_box(dice, 1000, 15, USUAL) == Box(490, 0, 20, 15)


@pytest.mark.parametrize("size", [(300, 413), (107, 160), (480, 321)])
@pytest.mark.parametrize("settings", [RESNET, DENSENET])
def test_evaluation_is_that_of_tensorflow(size: tuple[int, int], settings: PhotoPicture) -> None:
    prepared = prepare_evaluation(synthetic(*size), settings)
    assert prepared.shape == (224, 224, 3)
    golden = GOLDEN[f"{settings.evaluation}_{size[0]}_{size[1]}"]
    assert np.array_equal(prepared[::31, ::31], golden)


def test_no_size_of_an_evaluation_is_off_by_one() -> None:
    short_sizes, long_sizes = GOLDEN["short_sizes"], GOLDEN["long_sizes"]
    for number, short in enumerate(range(100, 1201)):
        for row, long in enumerate((short * 4 // 3, short * 3 // 2)):
            expected = short_sizes[number], long_sizes[row, number]
            assert evaluation_size(short, long, RESNET) == expected
            assert evaluation_size(long, short, RESNET) == expected[::-1]


def test_what_is_resized_is_never_smaller_than_what_the_network_sees() -> None:
    tight = replace(RESNET, evaluation_size=224)
    assert evaluation_size(107, 107, tight) == (224, 224)
    assert prepare_evaluation(synthetic(107, 107), tight).shape == (224, 224, 3)
    assert prepare_evaluation(synthetic(3, 1), tight).shape == (224, 224, 3)


def test_evaluation_with_antialias_is_a_cut_of_the_smooth_picture() -> None:
    smooth = replace(RESNET, filter="antialias", height=20, width=30, evaluation_size=40)
    image = Image.fromarray(synthetic(80, 120)).resize((60, 40), Image.Resampling.BILINEAR)
    prepared = prepare_evaluation(synthetic(80, 120), smooth)
    assert prepared.dtype == np.float32
    assert np.array_equal(prepared, np.array(image)[10:30, 15:45])


def test_encoded_pictures_are_evaluated_like_decoded_ones() -> None:
    data = encode_jpeg(synthetic(300, 280), 90)
    target = np.empty((224, 224, 3), np.float32)
    evaluation_picture(data, RESNET, target)
    assert np.array_equal(target, prepare_evaluation(decode_picture(data), RESNET))


def test_training_pictures_are_the_box_mirrored_then_resized() -> None:
    data = encode_jpeg(synthetic(200, 180), 90)
    settings = replace(RESNET, height=50, width=40, values="floats")
    box = sample_distorted_box(np.random.default_rng(9), 200, 180, [], settings)
    part = decode_picture(data)[box.top : box.top + box.height, box.left : box.left + box.width]
    for flip, expected in ((0.0, part), (1.0, part[:, ::-1])):
        drawn = draw(data, settings, seed=9, flip=flip, kind=np.float32)
        assert np.array_equal(drawn, resize_legacy(np.ascontiguousarray(expected), 50, 40))


@pytest.mark.parametrize("settings", [RESNET, DENSENET, USUAL])
def test_bytes_are_rounded_floats(settings: PhotoPicture) -> None:
    data = encode_jpeg(synthetic(200, 180), 90)
    for seed in range(6):
        floats = draw(data, settings, seed=seed, kind=np.float32)
        rounded = draw(data, settings, seed=seed, kind=np.uint8)
        assert np.abs(rounded - floats).max() < 0.51


def test_random_resized_pictures_are_resized_by_pillow() -> None:
    data = encode_png(synthetic(90, 100))
    settings = replace(USUAL, height=30, width=20)
    box = sample_resized_box(np.random.default_rng(2), 90, 100, settings)
    image = Image.fromarray(synthetic(90, 100)).crop(
        (box.left, box.top, box.left + box.width, box.top + box.height)
    )
    smooth = image.resize((20, 30), Image.Resampling.BILINEAR)
    assert np.array_equal(draw(data, settings, seed=2, flip=0.0), np.array(smooth))
    mirrored = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    smooth = mirrored.resize((20, 30), Image.Resampling.BILINEAR)
    assert np.array_equal(draw(data, settings, seed=2, flip=1.0), np.array(smooth))


@pytest.mark.parametrize("settings", [RESNET, USUAL])
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "progressive", "L", "CMYK", "P", "turned"])
def test_every_kind_of_picture_can_be_in_a_record(kind: str, settings: PhotoPicture) -> None:
    options: dict[str, object] = {"progressive": True} if kind == "progressive" else {}
    if kind == "turned":  # TensorFlow shows what is stored, not how the camera was held
        exif = Image.Exif()
        exif[0x0112] = 6
        options["exif"] = exif
    mode = kind if kind in ("L", "CMYK", "P") else "RGB"
    image = Image.fromarray(picture(0, 120, 90)).convert(mode)
    data = saved(image, "PNG" if kind in ("PNG", "P") else "JPEG", **options)
    whole = replace(settings, least_area=1.0, least_aspect=0.75, most_aspect=0.75)
    drawn = draw(data, whole, flip=0.0)
    expected = np.array(image.convert("RGB").resize((224, 224), Image.Resampling.BILINEAR))
    assert np.abs(drawn.astype(int) - expected).mean() < 6


@pytest.mark.parametrize("absent", [("simplejpeg",), ("simplejpeg", "cv2")])
@pytest.mark.parametrize("options", [{}, {"progressive": True}, {"subsampling": 2}])
def test_every_decoder_gives_the_same_training_picture(
    monkeypatch: pytest.MonkeyPatch, absent: tuple[str, ...], options: dict[str, object]
) -> None:
    data = saved(Image.fromarray(synthetic(300, 200)), "JPEG", **options)
    expected = [draw(data, RESNET, seed=seed) for seed in range(5)]
    with decoders_without(monkeypatch, absent):
        drawn = [draw(data, RESNET, seed=seed) for seed in range(5)]
    assert np.array_equal(drawn, expected)


def test_what_is_no_whole_picture_is_refused() -> None:
    data = encode_jpeg(synthetic(100, 100), 90)
    for bad in (b"", b"text", data[:-40], data[:300]):
        with pytest.raises(PictureError):
            draw(bad, RESNET)
        with pytest.raises(PictureError):
            evaluation_picture(bad, RESNET, np.empty((224, 224, 3), np.float32))


def test_many_may_be_drawn_before_the_first_is_made() -> None:
    encoded = [encode_jpeg(synthetic(150 + 7 * n, 200), 90) for n in range(3)]
    encoded.append(encode_png(synthetic(150, 170)))
    draws = [
        draw_training(data, (), RESNET, PhotoAugment(), np.random.default_rng(seed))
        for seed, data in enumerate(encoded)
    ]
    for seed, (data, drawn) in enumerate(zip(encoded, draws, strict=True)):
        target = np.empty((224, 224, 3), np.uint8)
        make_training(drawn, RESNET, target)
        assert np.array_equal(target, draw(data, RESNET, seed=seed))


def test_the_dice_decide_alone() -> None:
    data = encode_jpeg(synthetic(150, 200), 90)
    assert np.array_equal(draw(data, RESNET, seed=4), draw(data, RESNET, seed=4))
    assert not np.array_equal(draw(data, RESNET, seed=4), draw(data, RESNET, seed=5))


def test_real_photographs_are_drawn_from_their_upper_rows_alone(shared: Path) -> None:
    photographs = sorted((shared / "data" / "imagenet_samples" / "images").glob("*.JPEG"))[::40]
    assert photographs
    settings = replace(RESNET, height=64, width=64)
    for seed, path in enumerate(photographs):
        drawn = draw(path.read_bytes(), settings, seed=seed)
        png = encode_png(decode_picture(path.read_bytes()))
        assert np.array_equal(drawn, draw(png, settings, seed=seed))


class TensorFlowDice:
    """TensorFlow's random numbers: Philox 4x32-10, four words for each count."""

    def __init__(self, seed: int, seed2: int, start: int) -> None:
        self._key, self._seed2, self._count = seed, seed2, start
        self._words: list[int] = []

    def random(self) -> float:
        mantissa = np.uint32(0x3F800000 | (self._word() & 0x7FFFFF))
        return float(mantissa.view(np.float32)) - 1

    def integers(self, below: int) -> int:
        if below & (below - 1) == 0:
            return self._word() & (below - 1)
        refused = 0xFFFFFFFF % below + 1
        while (word := self._word()) < refused:
            pass
        return word % below

    def _word(self) -> int:
        if not self._words:
            a, b, c, d = self._count, 0, self._seed2, 0
            low, high = self._key, 0
            for _ in range(10):
                first, second = a * 0xD2511F53, c * 0xCD9E8D57
                a, b = second >> 32 ^ b ^ low, second & 0xFFFFFFFF
                c, d = first >> 32 ^ d ^ high, first & 0xFFFFFFFF
                low, high = (low + 0x9E3779B9) & 0xFFFFFFFF, (high + 0xBB67AE85) & 0xFFFFFFFF
            self._words = [a, b, c, d]
            self._count += 1
        return self._words.pop(0)


def objects(draw: int) -> list[Corners]:
    """The boxes that files/make_photo_golden.py gave to its draws."""
    step = 2 if draw % 5 == 0 else 16
    lows = [((draw * 5 + k * 11) % 16, (draw * 3 + k * 7) % 16) for k in range(draw % 3)]
    return [(y / 32, x / 32, (y + step) / 32, (x + step) / 32) for y, x in lows]


def draw(
    data: bytes,
    settings: PhotoPicture,
    *,
    seed: int = 0,
    flip: float = 0.5,
    kind: type[np.uint8] | type[np.float32] = np.uint8,
) -> Any:
    target = np.empty((settings.height, settings.width, 3), kind)
    dice = np.random.default_rng(seed)
    training_picture(data, (), settings, PhotoAugment(flip=flip), dice, target)
    return target
