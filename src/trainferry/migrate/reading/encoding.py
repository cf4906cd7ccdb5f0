"""The bytes of a file as UTF-8, and the way back to the file's own bytes."""

from __future__ import annotations

import codecs
import re
from array import array
from dataclasses import dataclass

from trainferry.migrate.reading.positions import CannotRead, line_at

_BOM = codecs.BOM_UTF8
_LINE_END = re.compile(rb"\r\n|\r|\n")
# PEP 263.
_COOKIE = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK = re.compile(rb"[ \t\f]*(?:#.*)?", re.DOTALL)
_ASCII = bytes(range(128))
_LETTERS = _ASCII.decode("ascii")
# In these the bytes before decide what a byte means: an edit would change the text after it.
_NOT_FOR_EDITS = ("iso2022", "hz", "utf-7", "unicode-escape", "raw-unicode-escape", "idna")


@dataclass(frozen=True)
class Decoded:
    """A file as UTF-8 without a byte order mark."""

    utf8: bytes
    encoding: str
    shift: int
    table: array[int] | None

    def file_place(self, place: int) -> int:
        """Offset in the file's bytes of an offset in `utf8`."""
        return self.table[place] if self.table is not None else place + self.shift


def decode(data: bytes) -> Decoded:
    """Decode as Python does: by the byte order mark, the declared encoding, or as UTF-8."""
    if b"\0" in data:
        raise CannotRead(line_at(data, data.index(b"\0")), "has null bytes, this is no text")
    has_bom = data.startswith(_BOM)
    line, declared = _find_declared(data[len(_BOM) if has_bom else 0 :])
    encoding = _known_encoding(line, declared)
    if has_bom and encoding != "utf-8":
        raise CannotRead(line, f"starts as UTF-8 but declares the encoding {declared}")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise CannotRead(line_at(data, error.start), _explain(error, declared)) from None
    if encoding == "utf-8" or data.isascii():
        shift = len(_BOM) if has_bom else 0
        return Decoded(data[shift:], encoding, shift, None)
    return Decoded(text.encode(), encoding, 0, _place_table(data, encoding))


def _find_declared(data: bytes) -> tuple[int, str]:
    for number, line in enumerate(_LINE_END.split(data, maxsplit=2)[:2], start=1):
        if found := _COOKIE.match(line):
            return number, found[1].decode("ascii")
        if not _BLANK.fullmatch(line):
            break
    return 1, ""


def _known_encoding(line: int, declared: str) -> str:
    name = declared.lower().replace("_", "-")
    if name in ("", "utf-8", "utf8") or name.startswith("utf-8-"):
        return "utf-8"
    try:
        encoding = codecs.lookup(declared).name
        has_ascii = not encoding.startswith(_NOT_FOR_EDITS) and _ASCII.decode(encoding) == _LETTERS
    except LookupError:
        raise CannotRead(line, f"declares the unknown encoding {declared}") from None
    except UnicodeError:
        has_ascii = False
    if not has_ascii:
        reason = f"declares the encoding {declared}, in which ASCII bytes can be other characters"
        raise CannotRead(line, f"{reason}; save the file as UTF-8")
    return encoding


def _explain(error: UnicodeDecodeError, declared: str) -> str:
    byte = f"byte 0x{error.object[error.start]:02x}"
    if declared:
        return f"{byte} does not fit the declared encoding {declared}"
    return f"{byte} is not UTF-8; declare the encoding in the first line"


def _place_table(data: bytes, encoding: str) -> array[int]:
    """For every byte of the UTF-8 text, where its character begins in the file."""
    decoder = codecs.getincrementaldecoder(encoding)()
    table = array("L")
    start = 0
    for end in range(1, len(data) + 1):
        if character := decoder.decode(data[end - 1 : end]):
            table.extend([start] * len(character.encode()))
            start = end
    table.append(len(data))
    return table
