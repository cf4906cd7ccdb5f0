"""The checksum of record files."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainferry.train.data import crc32c as module
from trainferry.train.data.crc32c import (
    crc32c,
    crc32c_with_numpy,
    masked_crc32c,
    masked_crc32c_of_rows,
)

# RFC 3720, appendix B.4, and the usual check value.
VECTORS = [
    (b"", 0x00000000),
    (b"123456789", 0xE3069283),
    (bytes(32), 0x8A9136AA),
    (b"\xff" * 32, 0x62A8AB43),
    (bytes(range(32)), 0x46DD794E),
    (bytes(range(31, -1, -1)), 0x113FDB5C),
]


@pytest.mark.parametrize(("data", "expected"), VECTORS)
def test_known_values(data: bytes, expected: int) -> None:
    assert crc32c(data) == expected
    assert crc32c_with_numpy(data) == expected


@pytest.mark.parametrize("size", [0, 1, 3, 4, 15, 16, 17, 2047, 2048, 2049, 4096, 9600, 70_001])
def test_numpy_and_the_package_agree_at_every_block_border(size: int) -> None:
    google = pytest.importorskip("google_crc32c")
    data = np.random.default_rng(size).bytes(size)
    assert crc32c_with_numpy(data) == google.value(data)


@given(st.binary(max_size=5000))
def test_numpy_and_the_package_agree(data: bytes) -> None:
    google = pytest.importorskip("google_crc32c")
    assert crc32c_with_numpy(memoryview(data)) == google.value(data)


def test_without_the_package_numpy_computes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "google_crc32c", None)
    module._implementation.cache_clear()
    try:
        assert module._implementation() is crc32c_with_numpy
        assert crc32c(b"123456789") == 0xE3069283
    finally:
        module._implementation.cache_clear()


def test_without_the_package_large_data_takes_little_memory() -> None:
    data = bytes(1 << 24)
    tracemalloc.start()
    crc32c_with_numpy(data)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 2 * len(data)


def test_rows_are_computed_like_single_values() -> None:
    rows = np.random.default_rng(1).integers(0, 256, (50, 8), dtype=np.uint8)
    expected = [masked_crc32c(row.tobytes()) for row in rows]
    assert masked_crc32c_of_rows(rows).tolist() == expected
