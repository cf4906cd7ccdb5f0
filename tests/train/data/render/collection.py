"""A collection made of the bundled fonts, which are files of one font each."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

_WOFF_HEADER, _WOFF_TABLE = 44, 20
_SFNT_HEADER, _SFNT_TABLE = 12, 16


def make_collection(fonts: Sequence[Path], to: Path) -> None:
    """Unpack fonts in WOFF and write them as the faces of one file."""
    read = [_tables(font.read_bytes()) for font in fonts]
    places, place = [], 12 + 4 * len(read)
    for _, tables in read:
        places.append(place)
        place += _SFNT_HEADER + _SFNT_TABLE * len(tables)
    heads, bodies = b"", b""
    for flavor, tables in read:
        heads += struct.pack(">4sHHHH", flavor, len(tables), 0, 0, 0)
        for tag, checksum, body in tables:
            heads += struct.pack(">4sIII", tag, checksum, place + len(bodies), len(body))
            bodies += body + bytes(-len(body) % 4)
    start = struct.pack(f">4sII{len(read)}I", b"ttcf", 0x10000, len(read), *places)
    to.write_bytes(start + heads + bodies)


def _tables(woff: bytes) -> tuple[bytes, list[tuple[bytes, int, bytes]]]:
    flavor, count = woff[4:8], int.from_bytes(woff[12:14], "big")
    tables = []
    for number in range(count):
        entry = _WOFF_HEADER + _WOFF_TABLE * number
        tag, place, packed, size, checksum = struct.unpack_from(">4sIIII", woff, entry)
        body = woff[place : place + packed]
        tables.append((tag, checksum, body if packed == size else zlib.decompress(body)))
    return flavor, tables
