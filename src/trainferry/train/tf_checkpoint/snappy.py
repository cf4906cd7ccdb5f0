"""Decompresses raw Snappy blocks, which some builds of TensorFlow put into tables.

Source: https://github.com/google/snappy/blob/main/format_description.txt
"""

from __future__ import annotations

from trainferry.train.tf_checkpoint.wire import WireError, read_varint

_BEST_RATIO = 32  # two bytes can repeat 11 bytes, three bytes 64


def decompress(data: bytes) -> bytes:
    size, at = read_varint(data, 0)
    if size > _BEST_RATIO * len(data):
        raise WireError(f"{len(data)} compressed bytes cannot hold the {size} bytes they claim")

    plain = bytearray()
    while at < len(data):
        tag = data[at]
        at += 1
        if tag & 3 == 0:
            length, at = _literal_length(tag >> 2, data, at)
            if at + length > len(data):
                raise WireError(f"a literal of {length} bytes at byte {at} is cut short")
            plain += data[at : at + length]
            at += length
        else:
            length, offset, at = _copy(tag, data, at)
            _repeat(plain, offset, length)
        if len(plain) > size:
            break
    if len(plain) != size:
        raise WireError(f"the compressed bytes do not hold the {size} bytes they claim")
    return bytes(plain)


def _literal_length(length: int, data: bytes, at: int) -> tuple[int, int]:
    if length < 60:
        return length + 1, at
    extra = length - 59
    return int.from_bytes(data[at : at + extra], "little") + 1, at + extra


def _copy(tag: int, data: bytes, at: int) -> tuple[int, int, int]:
    """Return length, offset and the place after a copy of 1, 2 or 4 offset bytes."""
    extra = {1: 1, 2: 2, 3: 4}[tag & 3]
    offset = int.from_bytes(data[at : at + extra], "little")
    if extra == 1:
        return (tag >> 2 & 7) + 4, (tag >> 5) << 8 | offset, at + 1
    return (tag >> 2) + 1, offset, at + extra


def _repeat(plain: bytearray, offset: int, length: int) -> None:
    if not 0 < offset <= len(plain):
        raise WireError(f"a copy reaches {offset} bytes back, before the start")
    start = len(plain) - offset
    pattern = plain[start : start + length]
    plain += (pattern * (length // len(pattern) + 1))[:length]
