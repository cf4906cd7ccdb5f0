"""The tf.train.Example message, read and written without TensorFlow or protobuf.

Example  { Features features = 1; }
Features { map<string, Feature> feature = 1; }
Feature  { oneof { BytesList = 1; FloatList = 2; Int64List = 3; } }  each: repeated value = 1
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from trainferry.errors import DataError, RecordError
from trainferry.train.data.protobuf import (
    FIXED32,
    LENGTH,
    VARINT,
    broken,
    encode_varint,
    field_of,
    fields,
    messages,
    read_field,
    varints,
)

if TYPE_CHECKING:
    from typing_extensions import Buffer

FeatureValues: TypeAlias = list[bytes] | list[int] | list[float]
Scalar: TypeAlias = bytes | str | int | float

_BYTES_LIKE = (bytes, bytearray, memoryview)
_BYTES, _FLOATS, _INTEGERS = 1, 2, 3
_FIELD_1, _FIELD_2 = 0x0A, 0x12


def parse_example(data: Buffer) -> dict[str, FeatureValues]:
    """Return every feature by name. Raises RecordError when `data` is no Example."""
    return {
        str(name, "utf-8", "replace"): _decode_values(feature)
        for name, feature in split_example(data).items()
    }


def split_example(data: Buffer) -> dict[bytes, memoryview]:
    """Find the features without copying or decoding them; the functions below read one."""
    view = memoryview(data)
    try:
        features = _split_usual(view)
    except IndexError:
        features = None
    return _split_any(view) if features is None else features


def first_bytes(feature: memoryview) -> memoryview | None:
    """Return the first value of a feature that holds bytes, not copied."""
    try:
        value = _only_value(feature)
    except IndexError:
        value = None
    return _first_value(feature) if value is None else value


def decode_text(value: memoryview) -> str:
    """Return a text of a record. Raises RecordError when it is not UTF-8."""
    try:
        return str(value, "utf-8")
    except UnicodeDecodeError as error:
        raise RecordError(
            f"the text {bytes(value)[:20]!r} of a record is not UTF-8",
            hint="make the records again with texts in UTF-8",
        ) from error


def integers(feature: memoryview) -> list[int] | None:
    """Return the values of a feature that holds whole numbers."""
    kind, parts = _read_feature(feature)
    return _decode_integers(parts) if kind == _INTEGERS else None


def build_example(features: Mapping[str, Scalar | Sequence[Scalar]]) -> bytes:
    """Serialise features, sorted by name: equal features give equal bytes."""
    entries: list[bytes] = []
    for name in sorted(features):
        feature = _encode_values(name, features[name])
        entries += field_of((*field_of((name.encode(),)), *field_of(feature, 2)))
    return b"".join(field_of(entries))


def _split_usual(view: memoryview) -> dict[bytes, memoryview] | None:
    """Split an Example as everybody writes it: per entry a name, a feature, and nothing else.

    Returns None, or raises IndexError, for any other: `_split_any` must judge it. Calls cost
    more than what they would do here, so sizes are decoded in place.
    """
    features: dict[bytes, memoryview] = {}
    end = len(view)
    if view[0] != _FIELD_1:
        return None
    size, position = _short_varint(bytes(view[1:5]), 0)
    position += 1
    if position + size != end:
        return None
    while position < end:
        head = bytes(view[position : position + 80])
        size, start = head[1], 2
        if size > 127:
            size, start = _short_varint(head, 1)
        name_end = start + 2 + head[start + 1]
        size_at = name_end + 1
        feature_size, feature_start = head[size_at], size_at + 1
        if feature_size > 127:
            feature_size, feature_start = _short_varint(head, size_at)
        stop = start + size
        if (
            feature_start + feature_size != stop
            or head[0] != _FIELD_1
            or head[start] != _FIELD_1
            or head[start + 1] > 63
            or head[name_end] != _FIELD_2
            or position + stop > end
        ):
            return None
        features[head[start + 2 : name_end]] = view[position + feature_start : position + stop]
        position += stop
    return features


def _only_value(feature: memoryview) -> memoryview | None:
    """Return the value of a feature with one value of bytes; None or IndexError for any other."""
    end = len(feature)
    head = bytes(feature[:10])
    size, start = _short_varint(head, 1)
    value_size, value_start = _short_varint(head, start + 1)
    if (
        head[0] == _FIELD_1
        and head[start] == _FIELD_1
        and start + size == end
        and value_start + value_size == end
    ):
        return feature[value_start:]
    return None


def _short_varint(head: bytes, position: int) -> tuple[int, int]:
    """Read a number below 2**21; a larger one comes out so far below zero that it fits nothing."""
    first = head[position]
    if first < 128:
        return first, position + 1
    second = head[position + 1]
    if second < 128:
        return first & 127 | second << 7, position + 2
    third = head[position + 2]
    if third < 128:
        return first & 127 | (second & 127) << 7 | third << 14, position + 3
    return -(1 << 60), position


def _split_any(view: memoryview) -> dict[bytes, memoryview]:
    features: dict[bytes, memoryview] = {}
    for container in messages(view, 1):
        for entry in messages(container, 1):
            name, feature = _read_entry(entry)
            features[name] = feature
    return features


def _first_value(feature: memoryview) -> memoryview | None:
    kind, parts = _read_feature(feature)
    if kind == _BYTES:
        for part in parts:
            for value in messages(part, 1):
                return value
    return None


def _read_entry(entry: memoryview) -> tuple[bytes, memoryview]:
    name, feature = b"", entry[:0]
    position, end = 0, len(entry)
    while position < end:
        number, wire, value, position = read_field(entry, position)
        if wire == LENGTH:
            if number == 1:
                name = bytes(value)
            elif number == 2:
                feature = value
    return name, feature


def _read_feature(feature: memoryview) -> tuple[int, list[memoryview]]:
    kind, parts = 0, list[memoryview]()
    position, end = 0, len(feature)
    while position < end:
        number, wire, value, position = read_field(feature, position)
        if wire == LENGTH and number in (_BYTES, _FLOATS, _INTEGERS):
            if number != kind:
                kind, parts = number, []
            parts.append(value)
    return kind, parts


def _decode_values(feature: memoryview) -> FeatureValues:
    kind, parts = _read_feature(feature)
    if kind == _BYTES:
        return [bytes(value) for part in parts for value in messages(part, 1)]
    if kind == _FLOATS:
        return _decode_floats(parts)
    return _decode_integers(parts)


def _decode_floats(parts: list[memoryview]) -> list[float]:
    values: list[float] = []
    for part in parts:
        for number, wire, value in fields(part):
            if number != 1 or wire not in (LENGTH, FIXED32):
                continue
            if len(value) % 4:
                raise broken("a float list whose size is no multiple of four")
            values.extend(struct.unpack(f"<{len(value) // 4}f", value))
    return values


def _decode_integers(parts: list[memoryview]) -> list[int]:
    values: list[int] = []
    for part in parts:
        for number, wire, value in fields(part):
            if number != 1 or wire not in (LENGTH, VARINT):
                continue
            numbers = value.tolist()
            if numbers and max(numbers) > 127:
                numbers = list(varints(value))
            values.extend(numbers)
    return values


def _encode_values(name: str, values: Scalar | Sequence[Scalar]) -> Sequence[bytes]:
    one = isinstance(values, (*_BYTES_LIKE, str, Real))
    items: list[Any] = [values] if one else list(cast("Sequence[Scalar]", values))
    if not items:
        return ()
    types = set(map(type, items))
    if all(issubclass(one, (*_BYTES_LIKE, str)) for one in types):
        encoded = (item.encode() if isinstance(item, str) else bytes(item) for item in items)
        return field_of([part for item in encoded for part in field_of((item,))], _BYTES)
    if all(issubclass(one, Integral) for one in types):
        packed = b"".join(map(encode_varint, map(int, items)))
        return field_of(field_of((packed,)), _INTEGERS)
    if all(issubclass(one, Real) for one in types):
        return field_of(field_of((struct.pack(f"<{len(items)}f", *items),)), _FLOATS)
    kinds = ", ".join(sorted(one.__name__ for one in types))
    raise DataError(
        f"the feature `{name}` holds {kinds}",
        hint="a feature is bytes or text, or whole numbers, or floats: one kind for all values",
    )
