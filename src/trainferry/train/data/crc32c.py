"""CRC-32C, the checksum of record files and checkpoints.

With `google_crc32c` installed that package computes it; without it NumPy does,
with equal results: every byte of a block is looked up in the table of its
distance to the block's end, and the values found are combined with XOR.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from typing_extensions import Buffer

POLYNOMIAL = 0x82F63B78
BLOCK = 2048
_PORTION = 512 * BLOCK  # the places looked up take twelve times the memory of the bytes


def crc32c(data: Buffer) -> int:
    return _implementation()(data)


def masked_crc32c(data: Buffer) -> int:
    """Return the checksum as record files store it, turned and shifted."""
    return mask(crc32c(data))


def mask(crc: int) -> int:
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def crc32c_with_numpy(data: Buffer) -> int:
    """Compute the checksum without any package but NumPy."""
    values = np.frombuffer(memoryview(data), dtype=np.uint8)
    head = len(values) % BLOCK
    crc = _append(0xFFFFFFFF, values[:head])
    for start in range(head, len(values), _PORTION):
        blocks = values[start : start + _PORTION].reshape(-1, BLOCK)
        found = _flat_tables().take(blocks + _row_starts())
        for block in np.bitwise_xor.reduce(found, axis=1).tolist():
            crc = _shift(crc, BLOCK) ^ block
    return crc ^ 0xFFFFFFFF


def masked_crc32c_of_rows(rows: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """Return the masked checksum of each row of a small N x width array."""
    width = rows.shape[1]
    assert 4 <= width <= BLOCK
    tables = _tables()[BLOCK - width :]
    crc = np.full(len(rows), _shift(0xFFFFFFFF, width) ^ 0xFFFFFFFF, dtype=np.uint32)
    for column in range(width):
        crc ^= tables[column][rows[:, column]]
    turned = (crc >> np.uint32(15)) | (crc << np.uint32(17))
    return np.asarray(turned + np.uint32(0xA282EAD8), dtype=np.uint32)


@cache
def _implementation() -> Callable[[Buffer], int]:
    try:
        import google_crc32c
    except ImportError:
        return crc32c_with_numpy
    if google_crc32c.implementation != "c":
        return crc32c_with_numpy
    value = google_crc32c.value

    def with_google(data: Buffer) -> int:
        return int(value(data if isinstance(data, bytes) else bytes(data)))

    return with_google


def _append(crc: int, values: NDArray[np.uint8]) -> int:
    """Continue the state `crc` over fewer than BLOCK bytes."""
    count = len(values)
    if count < 16:
        first = _first_table()
        for value in values.tolist():
            crc = first[(crc ^ value) & 0xFF] ^ (crc >> 8)
        return crc
    found = _flat_tables().take(values + _row_starts()[BLOCK - count :])
    return _shift(crc, count) ^ int(np.bitwise_xor.reduce(found))


def _shift(crc: int, count: int) -> int:
    """Continue the state `crc` over `count` zero bytes, 4 <= count <= BLOCK."""
    tables = _tables()
    row = BLOCK - count
    return int(
        tables[row, crc & 0xFF]
        ^ tables[row + 1, (crc >> 8) & 0xFF]
        ^ tables[row + 2, (crc >> 16) & 0xFF]
        ^ tables[row + 3, crc >> 24]
    )


@cache
def _first_table() -> list[int]:
    table = []
    for value in range(256):
        crc = value
        for _ in range(8):
            crc = (crc >> 1) ^ (POLYNOMIAL if crc & 1 else 0)
        table.append(crc)
    return table


@cache
def _tables() -> NDArray[np.uint32]:
    """Return BLOCK x 256: what a byte adds to the checksum of its block; the last byte is last."""
    first = np.array(_first_table(), dtype=np.uint32)
    tables = np.empty((BLOCK, 256), dtype=np.uint32)
    tables[-1] = first
    for row in range(BLOCK - 2, -1, -1):
        after = tables[row + 1]
        tables[row] = first[after & 0xFF] ^ (after >> 8)
    return tables


@cache
def _flat_tables() -> NDArray[np.uint32]:
    return _tables().ravel()


@cache
def _row_starts() -> NDArray[np.intp]:
    return np.arange(BLOCK, dtype=np.intp) * 256
