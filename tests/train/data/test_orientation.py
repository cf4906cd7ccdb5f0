"""Photographs that are stored rotated are known by their EXIF, and told."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.train.data.test_photo_folder import make_classes, pack
from trainferry.train.data.orientation import HEAD_BYTES, is_turned


def jpeg(orientation: int | None, **options: bytes) -> bytes:
    exif = Image.Exif()
    exif[0x010F] = "a camera"
    if orientation is not None:
        exif[0x0112] = orientation
    file = io.BytesIO()
    pixels = np.full((8, 8, 3), 90, np.uint8)
    Image.fromarray(pixels).save(file, "JPEG", exif=exif.tobytes(), **options)
    return file.getvalue()


@pytest.mark.parametrize(
    ("orientation", "turned"), [(None, False), (0, False), (1, False), (3, True), (6, True)]
)
def test_only_orientations_other_than_upright_count(orientation: int | None, turned: bool) -> None:
    assert is_turned(jpeg(orientation)) == turned


def test_both_byte_orders_are_read() -> None:
    data = jpeg(6)
    exif = data[data.index(b"Exif") + 6 :]
    little = exif.startswith(b"II")
    other = Image.Exif()
    other.endian = ">" if little else "<"
    other[0x0112] = 6
    content = other.tobytes()
    assert content[6:8] == (b"MM" if little else b"II")
    segment = b"\xff\xe1" + (len(content) + 2).to_bytes(2, "big") + content
    assert is_turned(data[:2] + segment + data[2:])


def test_what_is_no_whole_exif_is_upright() -> None:
    data = jpeg(6)
    assert not any(is_turned(data[:end]) for end in range(data.index(b"Exif") + 20))
    assert not is_turned(b"\x89PNG\r\n\x1a\n" + data)
    assert not is_turned(b"")


def test_exif_behind_a_large_segment_is_found_in_the_head() -> None:
    data = jpeg(8)
    before = b"\xff\xe0" + (65_000).to_bytes(2, "big") + bytes(64_998)
    assert is_turned((data[:2] + before + data[2:])[:HEAD_BYTES])


def test_packing_counts_them(tmp_path: Path) -> None:
    source = make_classes(tmp_path / "source", "a", "b")
    (source / "a" / "phone.jpg").write_bytes(jpeg(6))
    report = pack(source, tmp_path / "out")
    assert report.to_json()["turned"] == 1
    assert "stored rotated, to be shown upright by EXIF, which is ignored: 1;" in (report.summary())
    assert pack(make_classes(tmp_path / "upright", "a", "b"), tmp_path / "none").turned == 0
