"""JPEGs decoded smaller: the same values by every decoder, whatever lies below."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator

import numpy as np
import pytest
from PIL import Image

from tests.train.data.samples import damaged, picture, saved
from trainferry.train.data import jpeg_reduced, jpeg_region
from trainferry.train.data.jpeg_reduced import SCALES, decode_reduced
from trainferry.train.data.jpeg_region import Frame, find_frame
from trainferry.train.data.pictures import Picture

NOISE = np.random.default_rng(0).integers(0, 256, (75, 53, 3), dtype=np.uint8)
DECODERS = [(), ("simplejpeg",), ("simplejpeg", "cv2")]


@pytest.fixture(params=DECODERS, ids=["first", "second", "third"])
def _decoder(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in request.param:
        monkeypatch.setitem(sys.modules, name, None)
    jpeg_reduced._decoder.cache_clear()
    yield
    jpeg_reduced._decoder.cache_clear()


@pytest.mark.usefixtures("_decoder")
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("mode", ["RGB", "L"])
@pytest.mark.parametrize(
    "options", [{}, {"progressive": True}, {"subsampling": "4:2:2"}, {"subsampling": "4:4:4"}]
)
def test_every_decoder_gives_what_pillow_drafts(
    scale: int, mode: str, options: dict[str, object]
) -> None:
    data = saved(Image.fromarray(NOISE).convert(mode), "JPEG", quality=85, **options)
    reduced = reduce(data, 75, scale)
    assert reduced is not None
    assert np.array_equal(reduced, drafted(data, scale))


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("subsampling", ["4:4:4", "4:2:2", "4:2:0", "4:1:1"])
@pytest.mark.parametrize("restart", [0, 7])
def test_upper_rows_have_the_values_of_the_whole(
    monkeypatch: pytest.MonkeyPatch, scale: int, subsampling: str, restart: int
) -> None:
    monkeypatch.setattr(jpeg_region, "_LEAST_SHARE_SAVED", 0.0)
    options = {"subsampling": subsampling, "restart_marker_blocks": restart}
    data = saved(Image.fromarray(NOISE), "JPEG", quality=85, **options)
    whole = drafted(data, scale)
    for bottom in range(1, len(NOISE) + 1):
        seen = -(-bottom // scale)
        rows = reduce(data, bottom, scale)
        assert rows is not None
        assert np.array_equal(rows[:seen], whole[:seen])


def test_only_the_rows_asked_for_are_decoded() -> None:
    pytest.importorskip("simplejpeg")
    rows = reduce(saved(Image.fromarray(NOISE), "JPEG"), 21, scale=2)
    assert rows is not None
    assert rows.shape == (13, 27, 3)


@pytest.mark.usefixtures("_decoder")
@pytest.mark.parametrize("options", [{}, {"progressive": True}])
def test_what_is_truncated_is_left_to_a_decoder_of_whole_pictures(
    options: dict[str, object],
) -> None:
    data = saved(Image.fromarray(NOISE), "JPEG", quality=90, **options)
    for cut in (len(data) - 2, len(data) * 3 // 4, len(data) // 2):
        assert reduce(data[:cut], 16, scale=2) is None


@pytest.mark.usefixtures("_decoder")
def test_what_has_four_colours_is_left_to_a_decoder_of_whole_pictures() -> None:
    assert reduce(saved(Image.fromarray(NOISE).convert("CMYK"), "JPEG"), 20, scale=2) is None


def test_absurd_sizes_are_left_to_a_decoder_of_whole_pictures() -> None:
    data = memoryview(saved(Image.fromarray(picture()), "JPEG"))
    assert decode_reduced(data, Frame(10_000, 10_000, 3, None), 100, scale=8) is None


def test_any_damage_gives_rows_or_none() -> None:
    data = saved(Image.fromarray(NOISE), "JPEG", quality=80)
    for view in damaged(data):
        frame = find_frame(view)
        if frame is None:
            continue
        bottom = min(20, frame.height)
        rows = decode_reduced(view, frame, bottom, scale=2)
        if rows is not None:
            assert len(rows) >= -(-bottom // 2)
            assert rows.shape[1:] == (-(-frame.width // 2), 3)


def reduce(data: bytes, bottom: int, scale: int) -> Picture | None:
    view = memoryview(data)
    frame = find_frame(view)
    assert frame is not None
    return decode_reduced(view, frame, bottom, scale)


def drafted(data: bytes, scale: int) -> Picture:
    """What Pillow says: rounded up, the last pixels stand for fewer of the picture's."""
    with Image.open(io.BytesIO(data)) as image:
        high, wide = -(-image.height // scale), -(-image.width // scale)
        image.draft(None, (image.width // scale, image.height // scale))
        assert image.size == (wide, high)
        return np.array(image.convert("RGB"))
