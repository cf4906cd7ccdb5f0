"""The tf.train.Example message, without TensorFlow."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainferry.errors import DataError, RecordError
from trainferry.train.data.example import (
    build_example,
    first_bytes,
    integers,
    parse_example,
    split_example,
)
from trainferry.train.data.tfrecord import RecordFile, write_records

FILES = Path(__file__).resolve().parent / "files"

VALUES = (
    st.lists(st.binary(max_size=300), min_size=1)
    | st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1)
    | st.lists(st.floats(width=32, allow_nan=False), min_size=1)
)


@given(st.dictionaries(st.text(max_size=90), VALUES, max_size=6))
def test_what_is_built_is_parsed(
    features: dict[str, list[bytes] | list[int] | list[float]],
) -> None:
    assert parse_example(build_example(features)) == features


def test_a_single_value_is_a_list_of_one() -> None:
    built = build_example({"text": "zür", "data": b"\x00", "number": 7, "float": 0.5, "none": []})
    assert parse_example(built) == {
        "text": ["zür".encode()],
        "data": [b"\x00"],
        "number": [7],
        "float": [0.5],
        "none": [],
    }


def test_equal_features_give_equal_bytes() -> None:
    assert build_example({"a": 1, "b": 2}) == build_example({"b": 2, "a": 1})


def test_bytes_are_found_without_a_copy() -> None:
    data = build_example({"image/encoded": b"x" * 5000, "image/text": "word"})
    value = first_bytes(split_example(data)[b"image/encoded"])
    assert value is not None
    assert value.obj is data
    assert value == b"x" * 5000


def test_a_feature_of_another_kind_is_none() -> None:
    features = split_example(build_example({"number": 3, "text": "three"}))
    assert first_bytes(features[b"number"]) is None
    assert integers(features[b"text"]) is None
    assert integers(features[b"number"]) == [3]


def test_mixed_values_are_refused() -> None:
    with pytest.raises(DataError, match="`mixed` holds int, str"):
        build_example({"mixed": [1, "one"]})


def test_numbers_beyond_64_bits_are_refused() -> None:
    with pytest.raises(DataError, match="64 bits"):
        build_example({"number": 2**63})


def test_numbers_not_packed_are_read() -> None:
    feature = b"\x1a\x04" + b"\x08\x05" + b"\x08\x06"
    entry = b"\x0a\x01n" + b"\x12" + bytes([len(feature)]) + feature
    features = b"\x0a" + bytes([len(entry)]) + entry
    assert parse_example(b"\x0a" + bytes([len(features)]) + features) == {"n": [5, 6]}


def test_entries_in_an_unusual_order_are_read() -> None:
    feature = b"\x0a\x03\x0a\x01v"
    value_first = b"\x12" + bytes([len(feature)]) + feature + b"\x0a\x01k" + b"\x18\x07"
    features = b"\x0a" + bytes([len(value_first)]) + value_first
    assert parse_example(b"\x0a" + bytes([len(features)]) + features) == {"k": [b"v"]}


@given(st.binary(max_size=200))
def test_other_bytes_are_refused_or_parsed_but_never_crash(data: bytes) -> None:
    with contextlib.suppress(RecordError):
        parse_example(data)


@settings(max_examples=50)
@given(st.data())
def test_a_cut_example_is_refused_or_shorter(data: st.DataObject) -> None:
    whole = build_example({"image/encoded": b"p" * 300, "labels": [1, 200, 3]})
    cut = data.draw(st.integers(1, len(whole) - 1))
    with pytest.raises(RecordError):
        parse_example(whole[:cut])


def test_a_huge_length_allocates_nothing() -> None:
    with pytest.raises(RecordError, match="bytes where"):
        parse_example(b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f")


def test_what_tensorflow_wrote_is_parsed(tmp_path: Path) -> None:
    path = Path(shutil.copy(FILES / "from_tensorflow.tfrecords", tmp_path))
    records = RecordFile(path)
    assert [bytes(records[number]) for number in (1, 2)] == [b"", b"plain bytes"]
    assert parse_example(records[0]) == {
        "text": [b"Ferry", "zür".encode()],
        "numbers": [0, 1, 127, 128, 300, -1, 2**63 - 1, -(2**63)],
        "floats": [0.0, -1.5, 2.5e9],
        "empty": [],
        "nothing": [],
        "image/encoded": [bytes(range(256)) * 2],
        "image/text": [b"Word"],
    }


def test_tensorflow_reads_what_we_write(tmp_path: Path) -> None:
    tf = pytest.importorskip("tensorflow", reason="needs TensorFlow, to read our files with it")
    built = build_example({"text": "zür", "numbers": [0, -1, 300], "floats": [1.5]})
    write_records(tmp_path / "ours.tfrecords", [built, b""])
    read = list(tf.compat.v1.io.tf_record_iterator(str(tmp_path / "ours.tfrecords")))
    assert read == [built, b""]
    feature = tf.train.Example.FromString(read[0]).features.feature
    assert list(feature["numbers"].int64_list.value) == [0, -1, 300]


@pytest.mark.parametrize("size", [0, 1, 127, 128, 16_383, 16_384, 2**21 - 1, 2**21, 3_000_000])
@pytest.mark.parametrize("name", ["", "image/encoded", "a" * 63, "a" * 64, "a" * 200])
def test_any_size_of_value_and_name_is_found(name: str, size: int) -> None:
    data = build_example({name: bytes(size), "image/text": "ferry"})
    features = split_example(data)
    assert bytes(first_bytes(features[name.encode()]) or b"") == bytes(size)
    assert bytes(first_bytes(features[b"image/text"]) or b"") == b"ferry"
