"""The upper rows of a JPEG are those of the whole picture, whatever lies below them."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from tests.train.data.samples import damaged, picture, saved
from trainferry.errors import PictureError
from trainferry.train.data import jpeg_region
from trainferry.train.data.jpeg_region import decode_rows, find_frame
from trainferry.train.data.pictures import decode_picture, encode_png

NOISE = np.random.default_rng(0).integers(0, 256, (75, 50, 3), dtype=np.uint8)


@pytest.mark.parametrize("subsampling", ["4:4:4", "4:2:2", "4:2:0", "4:1:1"])
@pytest.mark.parametrize("mode", ["RGB", "L"])
@pytest.mark.parametrize("restart", [0, 1, 7])
def test_upper_rows_have_the_values_of_the_whole(
    monkeypatch: pytest.MonkeyPatch, subsampling: str, mode: str, restart: int
) -> None:
    monkeypatch.setattr(jpeg_region, "_LEAST_SHARE_SAVED", 0.0)
    image = Image.fromarray(NOISE).convert(mode)
    options = {"subsampling": subsampling, "restart_marker_blocks": restart}
    data = memoryview(saved(image, "JPEG", quality=85, **options))
    whole = decode_picture(data)
    frame = find_frame(data)
    assert frame is not None
    assert frame.height_at is not None
    for bottom in range(1, len(whole) + 1):
        rows = decode_rows(data, frame, bottom)
        assert len(rows) >= bottom
        assert np.array_equal(rows[:bottom], whole[:bottom])


def test_only_the_rows_asked_for_are_decoded() -> None:
    pytest.importorskip("simplejpeg")
    data = memoryview(saved(Image.fromarray(NOISE), "JPEG"))
    frame = find_frame(data)
    assert frame is not None
    assert len(decode_rows(data, frame, 20)) == 22
    assert len(decode_rows(data, frame, 70)) == 75, "too little to save"


def test_what_comes_in_passes_is_decoded_whole() -> None:
    data = memoryview(saved(Image.fromarray(NOISE), "JPEG", progressive=True))
    frame = find_frame(data)
    assert frame is not None
    assert (frame.height, frame.width, frame.height_at) == (75, 50, None)
    assert np.array_equal(decode_rows(data, frame, 20), decode_picture(data))


def test_cmyk_is_decoded_whole() -> None:
    data = memoryview(saved(Image.fromarray(NOISE).convert("CMYK"), "JPEG"))
    frame = find_frame(data)
    assert frame is not None
    assert np.array_equal(decode_rows(data, frame, 20), decode_picture(data))


def test_a_thumbnail_in_the_header_is_not_taken_for_the_picture() -> None:
    thumbnail = saved(Image.fromarray(picture()), "JPEG")
    data = memoryview(saved(Image.fromarray(NOISE), "JPEG", exif=b"Exif\0\0" + thumbnail))
    frame = find_frame(data)
    assert frame is not None
    assert (frame.height, frame.width) == (75, 50)


@pytest.mark.parametrize("data", [b"", b"\xff\xd8", b"text that is long enough", b"\xff\xd8" * 40])
def test_what_is_no_jpeg_has_no_frame(data: bytes) -> None:
    assert find_frame(memoryview(data)) is None


def test_a_png_has_no_frame() -> None:
    assert find_frame(memoryview(encode_png(picture()))) is None


def test_a_truncated_jpeg_is_refused_even_if_the_rows_are_there() -> None:
    data = memoryview(saved(Image.fromarray(NOISE), "JPEG", quality=90))
    frame = find_frame(data)
    assert frame is not None
    for cut in (len(data) - 2, len(data) * 3 // 4, len(data) // 2):
        with pytest.raises(PictureError):
            decode_rows(data[:cut], frame, 16)


def test_any_damage_gives_rows_or_an_error_that_says_so() -> None:
    data = saved(Image.fromarray(NOISE), "JPEG", quality=80)
    for view in damaged(data):
        frame = find_frame(view)
        if frame is None:
            continue
        try:
            rows = decode_rows(view, frame, min(20, frame.height))
        except PictureError:
            continue
        assert len(rows) >= min(20, frame.height)
        assert rows.shape[1:] == (frame.width, 3)
