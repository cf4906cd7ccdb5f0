"""Whether a photograph is stored rotated, to be shown upright by its EXIF.

Phones store what the sensor saw, and note how it was held. The originals read pictures as they are
stored, and so do we; who mixes both kinds should know.
"""

from __future__ import annotations

import struct

HEAD_BYTES = 2**16 + 2**12  # EXIF lies in one of the first segments, which have 64 KiB at most

_START, _NEXT_SCAN, _APP1 = b"\xff\xd8", 0xDA, 0xE1
_EXIF = b"Exif\0\0"
_ORIENTATION, _UPRIGHT = 0x0112, 1
_ENTRY_BYTES = 12


def is_turned(head: bytes) -> bool:
    """Tell from the first `HEAD_BYTES` of a file; of anything but whole EXIF in a JPEG, False."""
    exif = _find_exif(head)
    order = {b"II": "<", b"MM": ">"}.get(exif[:2])
    if order is None:
        return False
    try:
        return _orientation(exif, order) not in (0, _UPRIGHT)
    except struct.error:  # it ends before what it promises
        return False


def _find_exif(head: bytes) -> bytes:
    if not head.startswith(_START):
        return b""
    place = len(_START)
    while place + 4 <= len(head) and head[place] == 0xFF and head[place + 1] != _NEXT_SCAN:
        (size,) = struct.unpack_from(">H", head, place + 2)
        content = head[place + 4 : place + 2 + size]
        if head[place + 1] == _APP1 and content.startswith(_EXIF):
            return content[len(_EXIF) :]
        place += 2 + size
    return b""


def _orientation(exif: bytes, order: str) -> int:
    """Return the number that the first directory has for it, or 0."""
    (place,) = struct.unpack_from(f"{order}I", exif, 4)
    (count,) = struct.unpack_from(f"{order}H", exif, place)
    for entry in range(place + 2, place + 2 + count * _ENTRY_BYTES, _ENTRY_BYTES):
        (tag,) = struct.unpack_from(f"{order}H", exif, entry)
        if tag == _ORIENTATION:
            (value,) = struct.unpack_from(f"{order}H", exif, entry + 8)
            return int(value)
    return 0
