"""The features of one sign, as the records of FSNS name them.

image/encoded             PNG or JPEG, RGB, the views from left to right
image/class               int64[37]: the codes, filled up with the null
image/unpadded_class      int64: the codes alone
image/text                UTF-8
image/width, height       of the picture
image/orig_width          of the part of it that shows views; the rest is noise
image/format              `PNG` or `JPEG`
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from trainferry.errors import DataError, RecordError
from trainferry.train.data.example import build_example, decode_text, first_bytes, integers
from trainferry.train.data.signs.charset import LONGEST_TEXT, Charset

VIEWS, SIDE = 4, 150
"""Views of an FSNS picture, and the side of one in pixels."""

Record: TypeAlias = Mapping[bytes, memoryview]

_PNG = b"\x89PNG"


def is_sign(record: Record) -> bool:
    """Tell whether a record has a picture; whether it has codes or a text, reading them tells."""
    return b"image/encoded" in record


def read_encoded(record: Record) -> memoryview:
    """Return the bytes of the picture, not copied."""
    data = _bytes(record, b"image/encoded")
    if data is None:
        raise _missing("image/encoded")
    return data


def read_codes(record: Record, charset: Charset) -> list[int]:
    """Return the codes up to the first null; made from the text where there are none."""
    found = _integers(record, b"image/class") or _integers(record, b"image/unpadded_class")
    if found is None:
        text = read_text(record)
        if text is None:
            raise _missing("image/class")
        return _encoded(text, charset)
    codes = found[: found.index(charset.null)] if charset.null in found else found
    wrong = [code for code in codes if not 0 <= code < charset.classes]
    if wrong:
        raise RecordError(
            f"a record has the code {wrong[0]}, the charset {charset.classes} codes",
            hint="pass the charset file that these records were made with",
        )
    return codes


def read_text(record: Record) -> str | None:
    """Return the text as it was written, or None."""
    value = _bytes(record, b"image/text")
    return None if value is None else decode_text(value)


def choose_text(record: Record, codes: Sequence[int], charset: Charset) -> str:
    """Return what the codes say, unless the record has other words for it."""
    text = read_text(record)
    said = charset.decode(codes)
    return said if text is None or charset.unknown(text) else charset.canonical(text)


def count_present(record: Record, views: int) -> int:
    """Return how many of the views are there, from the left."""
    width = _integers(record, b"image/width")
    shown = _integers(record, b"image/orig_width")
    if not width or not shown or width[0] < 1:
        return views
    return max(1, min(views, round(views * shown[0] / width[0])))


def build_sign(
    encoded: bytes,
    text: str,
    charset: Charset,
    present: int,
    views: int = VIEWS,
    *,
    side: int = SIDE,
    length: int = LONGEST_TEXT,
) -> bytes:
    """Return the record of one sign with all features of FSNS."""
    codes = charset.encode(text)
    return build_example(
        {
            "image/encoded": encoded,
            "image/format": "PNG" if encoded.startswith(_PNG) else "JPEG",
            "image/width": views * side,
            "image/orig_width": present * side,
            "image/height": side,
            "image/class": charset.padded(text, length),
            "image/unpadded_class": codes,
            "image/text": charset.decode(codes),
        }
    )


def _bytes(record: Record, name: bytes) -> memoryview | None:
    feature = record.get(name)
    return None if feature is None else first_bytes(feature)


def _integers(record: Record, name: bytes) -> list[int] | None:
    feature = record.get(name)
    return None if feature is None else integers(feature)


def _encoded(text: str, charset: Charset) -> list[int]:
    try:
        return charset.encode(text)
    except DataError as error:
        raise RecordError(str(error), hint=error.hint) from error


def _missing(name: str) -> RecordError:
    return RecordError(
        f"a record has no feature `{name}`", hint="make the records again, with all features"
    )
