"""The entries of an LMDB file, in the order of their keys, without the library.

branch page   header | uint16 places of its nodes | ... nodes
              node: page number of the child, 48 bits | uint16 key length | key
leaf page     header | uint16 places of its nodes | ... nodes
              node: uint32 value length | uint16 flags | uint16 key length | key | value
overflow      header with the number of pages | value, over as many pages as it needs

Nothing in the file is believed: a page must call itself by the number it was asked by, lie at
the depth of its kind and hold something, and keys must rise. So no page is read twice, and a
walk ends, whatever the file says.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

from trainferry.errors import RecordError
from trainferry.train.data.lmdb.meta import PAGE, Meta, read_meta
from trainferry.train.data.mapped_file import map_file

_BRANCH, _LEAF, _OVERFLOW = 0x01, 0x02, 0x04
_KINDS = _BRANCH | _LEAF | _OVERFLOW | 0x08 | 0x20 | 0x40
_NODE = struct.Struct("<IHH")
_NUMBER = struct.Struct("<Q")
_ELSEWHERE, _DATABASE, _SEVERAL = 0x01, 0x02, 0x04


class LmdbFile:
    """A file that holds one LMDB, mapped into memory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._view = map_file(path)
        self.meta: Meta = read_meta(self._view, path)
        self._pages = len(self._view) // self.meta.page_bytes

    def get(self, key: bytes) -> memoryview | None:
        """Return the value of a key, not copied, or None where there is none."""
        for found, value in self.items(key):
            return value if found == key else None
        return None

    def items(self, first: bytes = b"") -> Iterator[tuple[bytes, memoryview]]:
        """Yield keys and values, not copied, from the first key that is not before `first`.

        Raises RecordError where the file is damaged, or holds more than keys and values.
        """
        if self.meta.root is None:
            return
        view, page_bytes = self._view, self.meta.page_bytes
        last = b""
        for number, places in self._leaves(self.meta.root, 1, first):
            base = number * page_bytes
            end = base + page_bytes
            for place in places:
                start = base + place + _NODE.size
                size, flags, key_size = _NODE.unpack_from(view, start - _NODE.size)
                value_at = start + key_size
                key = bytes(view[start:value_at])
                if key <= last:
                    raise self._damage(number, "has keys that do not rise")
                last = key
                if flags:
                    value = self._read_marked(number, key, value_at, size, flags)
                elif value_at + size > end:
                    raise self._damage(number, "has an entry that goes beyond its end")
                else:
                    value = view[value_at : value_at + size]
                if key >= first:
                    yield key, value

    def _leaves(
        self, number: int, depth: int, first: bytes
    ) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Yield numbers and places of nodes of the leaves that may hold `first`, or follow it."""
        if depth == self.meta.depth:
            yield number, self._places(number, _LEAF)
            return
        children = [self._child(number, place) for place in self._places(number, _BRANCH)]
        before = sum(key <= first for _, key in children[1:])  # the first child has no key
        for child, _ in children[before:]:
            yield from self._leaves(child, depth + 1, first)

    def _child(self, number: int, place: int) -> tuple[int, bytes]:
        start = number * self.meta.page_bytes + place
        low, high, key_size = _NODE.unpack_from(self._view, start)
        start += _NODE.size
        return low | high << 32, bytes(self._view[start : start + key_size])

    def _places(self, number: int, wanted: int) -> tuple[int, ...]:
        """Return where the nodes of a page lie, counted from its start."""
        lower, upper = self._open(number, wanted)
        count = (lower - PAGE.size) // 2
        if count < 1 or not lower <= upper <= self.meta.page_bytes:
            raise self._damage(number, "holds nothing, or more than fits")
        base = number * self.meta.page_bytes
        places = struct.unpack_from(f"<{count}H", self._view, base + PAGE.size)
        if min(places) < upper or max(places) > self.meta.page_bytes - _NODE.size:
            raise self._damage(number, "has entries outside itself")
        return places

    def _open(self, number: int, wanted: int) -> tuple[int, int]:
        """Check the header of a page and return the two numbers at its end."""
        if number >= self._pages:
            raise self._beyond(number)
        found, _, kind, lower, upper = PAGE.unpack_from(self._view, number * self.meta.page_bytes)
        if found != number:
            raise self._damage(number, f"calls itself page {found}")
        if kind & _KINDS != wanted:
            raise self._damage(number, f"is of kind {kind}, where {wanted} should be")
        return lower, upper

    def _read_marked(
        self, number: int, key: bytes, place: int, size: int, flags: int
    ) -> memoryview:
        """Read a value that does not follow its key."""
        if flags & (_DATABASE | _SEVERAL):
            raise RecordError(
                f"the key {key[:40]!r} of `{self.path}` is a database of its own, or has several "
                "values; neither can be read",
                hint="copy the entries into the main database of another LMDB file",
            )
        if place + _NUMBER.size > (number + 1) * self.meta.page_bytes:
            raise self._damage(number, "has an entry that goes beyond its end")
        first_page = _NUMBER.unpack_from(self._view, place)[0]
        low, high = self._open(first_page, _OVERFLOW)
        pages = low | high << 16
        if first_page + pages > self._pages:
            raise self._beyond(first_page + pages - 1)
        start = first_page * self.meta.page_bytes + PAGE.size
        if PAGE.size + size > pages * self.meta.page_bytes:
            raise self._damage(first_page, "is shorter than the value it should hold")
        return self._view[start : start + size]

    def _beyond(self, number: int) -> RecordError:
        if number <= self.meta.last_page:
            return RecordError(
                f"`{self.path}` is cut short: it should have {self.meta.last_page + 1:,} pages of "
                f"{self.meta.page_bytes} bytes and has {self._pages:,}",
                hint="copy or download it again; compare its size with the original's",
            )
        return self._damage(number, f"is asked for, and the last is {self.meta.last_page}")

    def _damage(self, number: int, what: str) -> RecordError:
        return RecordError(
            f"`{self.path}` is damaged: page {number} {what}",
            hint="copy or download it again; compare its size or checksum with the original's",
        )
