"""Pictures of every common kind, and bytes that are none."""

from __future__ import annotations

import io
import struct
import sys
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from tests.train.data.samples import picture, saved
from trainferry.errors import DataError, MissingPackageError, PictureError
from trainferry.train.data import pictures
from trainferry.train.data.pictures import (
    decode_picture,
    encode_jpeg,
    encode_png,
    resize_picture,
)


def test_png_is_read_without_loss() -> None:
    assert np.array_equal(decode_picture(encode_png(picture())), picture())


def test_jpeg_is_nearly_the_picture() -> None:
    read = decode_picture(encode_jpeg(picture(), 95))
    assert read.shape == (32, 80, 3)
    assert np.abs(read.astype(int) - picture()).mean() < 3


@pytest.mark.parametrize("subsampling", [0, 1, 2])
@pytest.mark.parametrize("progressive", [False, True])
@pytest.mark.parametrize("grey", [False, True])
@pytest.mark.parametrize("size", [(32, 80), (31, 77), (1, 1)])
def test_all_decoders_give_the_same_values(
    monkeypatch: pytest.MonkeyPatch,
    subsampling: int,
    progressive: bool,
    grey: bool,
    size: tuple[int, int],
) -> None:
    image = Image.fromarray(picture(1, *size)).convert("L" if grey else "RGB")
    data = saved(image, "JPEG", quality=80, subsampling=subsampling, progressive=progressive)
    read = [_decode_without(monkeypatch, absent, data) for absent in DECODERS]
    assert np.array_equal(read[0], read[1])
    assert np.array_equal(read[0], read[2])


DECODERS: list[tuple[str, ...]] = [(), ("simplejpeg",), ("simplejpeg", "cv2")]


@pytest.mark.parametrize("absent", DECODERS)
def test_every_decoder_refuses_a_truncated_jpeg(
    monkeypatch: pytest.MonkeyPatch, absent: tuple[str, ...]
) -> None:
    data = encode_jpeg(picture(), 90)
    for cut in range(0, len(data) - 2, 7):
        with pytest.raises(PictureError):
            _decode_without(monkeypatch, absent, data[:cut])


@pytest.mark.parametrize("mode", ["L", "1", "P", "CMYK", "YCbCr", "LA", "RGBA"])
def test_other_colours_become_rgb(mode: str) -> None:
    image = Image.fromarray(picture()).convert(mode)
    kind = "JPEG" if mode in ("CMYK", "YCbCr") else "PNG"
    read = decode_picture(saved(image, kind))
    assert read.shape == (32, 80, 3)
    assert read.dtype == np.uint8
    expected = np.array(image.convert("RGB")).astype(int)
    assert np.abs(read - expected).mean() < 4


def test_transparent_is_white() -> None:
    image = Image.new("RGBA", (4, 3), (255, 0, 0, 0))
    assert (decode_picture(saved(image, "PNG")) == 255).all()


def test_a_transparent_palette_colour_is_white() -> None:
    image = Image.new("P", (4, 3), 1)
    image.putpalette([0, 0, 0, 10, 20, 30])
    assert (decode_picture(saved(image, "PNG", transparency=1)) == 255).all()
    assert decode_picture(saved(image, "PNG", transparency=0))[0, 0].tolist() == [10, 20, 30]


def test_sixteen_bits_become_eight() -> None:
    values = np.array([[0, 257, 65535, 128 * 257]], dtype=np.uint16)
    read = decode_picture(saved(Image.fromarray(values), "PNG"))
    assert read[0, :, 0].tolist() == [0, 1, 255, 128]


def test_what_is_read_may_be_written_to() -> None:
    for data in (encode_jpeg(picture(), 80), encode_png(picture())):
        read = decode_picture(data)
        assert read.flags.writeable
        assert resize_picture(read, 16, 40, "antialias").flags.writeable


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b"this is text", "no picture"),
        (b"\0\0\0\x18ftypheic" + bytes(90), "HEIC"),
        (b"\xff\xd8", "."),
        (b"\xff\xd8\xff\xd9", "."),
        (b"\x89PNG\r\n\x1a\n", "."),
        (bytes(5000), "no picture"),
    ],
)
def test_what_is_no_picture_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(PictureError, match=message):
        decode_picture(data)


def test_a_truncated_png_is_refused() -> None:
    data = encode_png(picture())
    for cut in range(0, len(data) - 12, 97):
        with pytest.raises(PictureError):
            decode_picture(data[:cut])


@settings(max_examples=150)
@given(data=st.data())
def test_a_changed_picture_is_read_or_refused(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(["JPEG", "PNG", "GIF", "BMP", "TIFF", "WEBP"]))
    content = bytearray(saved(Image.fromarray(picture(2, 16, 16)), kind))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    try:
        read = decode_picture(bytes(content))
    except PictureError:
        return
    assert read.ndim == 3


def test_absurd_sizes_are_refused_before_memory_is_taken() -> None:
    jpeg = bytearray(encode_jpeg(picture(), 80))
    place = jpeg.index(b"\xff\xc0") + 5
    jpeg[place : place + 4] = struct.pack(">HH", 65000, 65000)
    with pytest.raises(PictureError, match="65000 x 65000"):
        decode_picture(bytes(jpeg))
    with pytest.raises(PictureError, match=r"large|pixels"):
        decode_picture(_png_that_says(100_000, 100_000))
    with pytest.raises(PictureError, match=r"large|pixels"):
        decode_picture(_png_that_says(9_000, 9_000))


def test_antialias_is_what_pillow_does() -> None:
    wide = picture(3, 50, 400)
    expected = Image.fromarray(wide).resize((100, 32), Image.Resampling.BILINEAR)
    assert np.array_equal(resize_picture(wide, 32, 100, "antialias"), np.array(expected))


def test_bilinear_is_what_opencv_does() -> None:
    cv2 = pytest.importorskip("cv2")
    wide = picture(3, 50, 400)
    expected = cv2.resize(wide, (100, 32), interpolation=cv2.INTER_LINEAR)
    assert np.array_equal(resize_picture(wide, 32, 100, "bilinear"), expected)


def test_without_opencv_bilinear_is_refused_and_never_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(MissingPackageError, match="opencv"):
        resize_picture(picture(), 16, 16, "bilinear")


def test_an_unknown_filter_is_refused() -> None:
    with pytest.raises(DataError, match="no filter"):
        resize_picture(picture(), 16, 16, "nearest")  # type: ignore[arg-type]  # what is tested


@pytest.mark.parametrize("colours", ["4:4:4", "4:2:0"])
@pytest.mark.parametrize("quality", [5, 35, 75, 90, 100])
def test_with_and_without_opencv_a_jpeg_has_the_same_bytes(
    monkeypatch: pytest.MonkeyPatch, quality: int, colours: pictures.Subsampling
) -> None:
    pytest.importorskip("cv2")
    for size in ((1, 1), (7, 13), (150, 600)):
        values = picture(quality, *size)[::-1]
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, "cv2", None)
            pictures._jpeg_encoder.cache_clear()
            without = encode_jpeg(values, quality, colours)
        pictures._jpeg_encoder.cache_clear()
        assert encode_jpeg(values, quality, colours) == without


def test_a_grey_array_is_not_encoded_by_chance() -> None:
    with pytest.raises(DataError, match="shape"):
        encode_jpeg(picture()[:, :, 0], 80)


def _decode_without(
    monkeypatch: pytest.MonkeyPatch, absent: tuple[str, ...], data: bytes
) -> pictures.Picture:
    with monkeypatch.context() as patch:
        for name in absent:
            patch.setitem(sys.modules, name, None)
        pictures._jpeg_decoder.cache_clear()
        try:
            return decode_picture(data)
        finally:
            pictures._jpeg_decoder.cache_clear()


def _png_that_says(width: int, height: int) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    target = io.BytesIO(b"\x89PNG\r\n\x1a\n")
    target.seek(8)
    for kind, body in ((b"IHDR", header), (b"IDAT", zlib.compress(b"")), (b"IEND", b"")):
        checksum = struct.pack(">I", zlib.crc32(kind + body))
        target.write(struct.pack(">I", len(body)) + kind + body + checksum)
    return target.getvalue()
