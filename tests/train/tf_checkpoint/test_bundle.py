"""Checkpoints that TensorFlow 1.15.5 wrote (files/make_files.py), read without it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from trainferry.errors import CheckpointError
from trainferry.train.data.crc32c import masked_crc32c
from trainferry.train.tf_checkpoint.entry import Entry, build_entry, build_header
from trainferry.train.tf_checkpoint.ordered_code import part_key
from trainferry.train.tf_checkpoint.read import TensorFlowCheckpoint, read_checkpoint
from trainferry.train.tf_checkpoint.table import build_table
from trainferry.train.tf_checkpoint.wire import bytes_field, varint_field
from trainferry.train.tf_checkpoint.write import write_checkpoint

FILES = Path(__file__).parent / "files"
EVERY_TYPE = FILES / "every_type" / "model.ckpt-7"
NUMBERS = np.array([[-2.5, 0.0, 1.0], [3.14159, 65504.0, -0.0]])


def test_every_tensor_has_name_shape_and_type() -> None:
    checkpoint = read_checkpoint(EVERY_TYPE)
    floats = ("bfloat16", "float16", "float32", "float64")
    integers = ("int8", "int16", "int32", "int64", "uint8", "uint16")
    others = {
        "bool": ("bool", (3,)),
        "complex128": ("complex128", (2,)),
        "complex64": ("complex64", (2,)),
        "empty": ("float32", (0, 3)),
        "scalar": ("int64", ()),
        "strings": ("string", (3, 2)),
    }
    expected: dict[str, tuple[str, tuple[int, ...]]] = {name: (name, (2, 3)) for name in floats}
    expected |= {name: (name, (3,)) for name in integers} | others
    found = {name: (checkpoint.dtype(name), checkpoint.shape(name)) for name in checkpoint.names()}
    assert found == expected
    assert checkpoint.names() == sorted(expected)


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_floats_are_exact(name: str) -> None:
    value = read_checkpoint(EVERY_TYPE).read(name)
    assert value.dtype == name
    assert value.tobytes() == NUMBERS.astype(name).tobytes()


@pytest.mark.parametrize("name", ["int8", "int16", "int32", "int64", "uint8", "uint16"])
def test_integers_are_exact(name: str) -> None:
    value = read_checkpoint(EVERY_TYPE).read(name)
    limits = np.iinfo(name)
    assert value.dtype == name
    assert value.tolist() == [limits.min, 0, limits.max]


def test_truth_values_complex_numbers_scalars_and_empty_tensors_are_read() -> None:
    checkpoint = read_checkpoint(EVERY_TYPE)
    assert checkpoint.read("bool").tolist() == [True, False, True]
    assert checkpoint.read("complex64").tolist() == [1 + 2j, -3.5j]
    assert checkpoint.read("complex128").tolist() == [1 + 2j, -3.5j]
    assert checkpoint.read("scalar").item() == 1234567890123
    assert checkpoint.read("empty").shape == (0, 3)


def test_strings_are_bytes() -> None:
    texts = [[b"", b"one"], [b"\x00\xff", "zwölf".encode()], [b"x" * 200, b"end"]]
    assert read_checkpoint(EVERY_TYPE).read("strings").tolist() == texts


def test_bfloat16_is_exact_with_and_without_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = np.array([[-2.5, 0.0, 1.0], [3.140625, 65536.0, -0.0]], dtype=np.float32)
    value = read_checkpoint(EVERY_TYPE).read("bfloat16")
    assert value.astype(np.float32).tobytes() == expected.tobytes()
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    value = read_checkpoint(EVERY_TYPE).read("bfloat16")
    assert value.dtype == np.float32
    assert value.tobytes() == expected.tobytes()


def test_a_value_is_a_copy_the_caller_may_change() -> None:
    checkpoint = read_checkpoint(EVERY_TYPE)
    checkpoint.read("float32")[:] = 0
    assert checkpoint.read("float32")[0, 0] == -2.5


def test_partitioned_variables_come_whole() -> None:
    checkpoint = read_checkpoint(FILES / "partitioned")
    assert checkpoint.names() == ["columns/table", "rows/table", "whole"]
    for name, shape in (("rows/table", (200, 7)), ("columns/table", (4, 6))):
        assert checkpoint.shape(name) == shape
        counting = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        assert np.array_equal(checkpoint.read(name), counting)


def test_values_are_found_in_several_data_files() -> None:
    checkpoint = read_checkpoint(FILES / "sharded" / "model.ckpt-3")
    for number in range(3):
        assert checkpoint.read(f"on_{number}").tolist() == [number] * (number + 1)


def test_a_missing_data_file_is_named_with_those_there(tmp_path: Path) -> None:
    copy = Path(shutil.copytree(FILES / "sharded", tmp_path / "copy"))
    (copy / "model.ckpt-3.data-00001-of-00003").unlink()
    with pytest.raises(
        CheckpointError, match=r"data-00001-of-00003 is missing.*data-00000"
    ) as info:
        read_checkpoint(copy)
    assert "all 3" in info.value.hint


@pytest.mark.parametrize(
    "given",
    [
        "model.ckpt-7",
        "model.ckpt-7.index",
        "model.ckpt-7.data-00000-of-00001",
        "model.ckpt-7.meta",
        ".",
    ],
)
def test_a_checkpoint_is_found_by_any_of_its_names(given: str) -> None:
    assert read_checkpoint(FILES / "every_type" / given).prefix == EVERY_TYPE


def test_a_saved_model_is_found(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "variables" / "variables", {"a": np.ones(2)})
    assert read_checkpoint(tmp_path).names() == ["a"]


def test_a_folder_copied_from_another_machine_is_found(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "model.ckpt-2", {"a": np.ones(2)})
    write_checkpoint(tmp_path / "model.ckpt-1", {"b": np.ones(2)})
    write_state(tmp_path, "/home/someone/run/model.ckpt-2")
    assert read_checkpoint(tmp_path).names() == ["a"]


@pytest.mark.parametrize("escape", ["../secret/model.ckpt", "{root}/secret/model.ckpt", ".."])
def test_a_checkpoint_file_does_not_lead_out_of_its_folder(tmp_path: Path, escape: str) -> None:
    write_checkpoint(tmp_path / "secret" / "model.ckpt", {"secret": np.ones(2)})
    folder = tmp_path / "folder"
    folder.mkdir()
    write_state(folder, escape.format(root=tmp_path))
    with pytest.raises(CheckpointError, match="which is not in"):
        read_checkpoint(folder)


def test_a_path_outside_of_ascii_is_found_as_tensorflow_writes_it(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "文.ckpt", {"a": np.zeros(1)})
    write_state(tmp_path, "\\346\\226\\207.ckpt")
    assert read_checkpoint(tmp_path).names() == ["a"]


@pytest.mark.parametrize("named", ["a\0b/c", "\\000"])
def test_a_path_that_no_file_can_have_is_told(tmp_path: Path, named: str) -> None:
    write_state(tmp_path, named)
    with pytest.raises(CheckpointError, match="which is not in"):
        read_checkpoint(tmp_path)


def test_a_file_that_is_all_ending_is_told(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="no TensorFlow checkpoint"):
        read_checkpoint(tmp_path / ".index")


def test_a_checkpoint_file_without_a_path_is_told(tmp_path: Path) -> None:
    (tmp_path / "checkpoint").write_bytes(b"\xff\xfenothing")
    with pytest.raises(CheckpointError, match="names no `model_checkpoint_path`"):
        read_checkpoint(tmp_path)


def test_other_files_and_folders_are_told(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="no TensorFlow checkpoint at") as info:
        read_checkpoint(FILES / "every_type" / "model.ckpt-8")
    assert "`model.ckpt-7`" in info.value.hint
    with pytest.raises(CheckpointError, match="has no `checkpoint` file"):
        read_checkpoint(tmp_path)
    other = tmp_path / "weights.h5"
    other.write_bytes(b"\x89HDF\r\n\x1a\n" * 20)
    with pytest.raises(CheckpointError, match=r"weights\.h5 is no TensorFlow checkpoint"):
        read_checkpoint(other)
    lonely = tmp_path / "model.data-00000-of-00001"
    lonely.write_bytes(b"x" * 100)
    with pytest.raises(CheckpointError, match=r"`\.index` file is missing"):
        read_checkpoint(lonely)


def test_a_table_without_header_is_no_index(tmp_path: Path) -> None:
    (tmp_path / "m.index").write_bytes(build_table([(b"key", b"value")]))
    with pytest.raises(CheckpointError, match="has no header"):
        read_checkpoint(tmp_path / "m")


def test_an_unknown_tensor_is_told() -> None:
    with pytest.raises(CheckpointError, match="has no tensor `nothing`"):
        read_checkpoint(EVERY_TYPE).read("nothing")


@pytest.mark.parametrize("folder", ["every_type", "partitioned", "sharded"])
def test_an_index_cut_at_any_byte_is_refused(tmp_path: Path, folder: str) -> None:
    copy = Path(shutil.copytree(FILES / folder, tmp_path / "copy"))
    index = next(copy.glob("*.index"))
    content = index.read_bytes()
    for length in range(len(content)):
        index.write_bytes(content[:length])
        with pytest.raises(CheckpointError, match=index.name):
            read_checkpoint(copy)


@pytest.mark.parametrize("folder", ["every_type", "partitioned"])
def test_an_index_with_any_bit_flipped_is_refused(tmp_path: Path, folder: str) -> None:
    copy = Path(shutil.copytree(FILES / folder, tmp_path / "copy"))
    index = next(copy.glob("*.index"))
    content = index.read_bytes()
    for at in range(len(content)):
        flipped = bytearray(content)
        flipped[at] ^= 0x80 >> at % 8
        index.write_bytes(flipped)
        with pytest.raises(CheckpointError, match=index.name):
            read_checkpoint(copy)


def test_a_data_file_cut_anywhere_is_refused_at_once(tmp_path: Path) -> None:
    copy = Path(shutil.copytree(FILES / "every_type", tmp_path / "copy"))
    data = copy / "model.ckpt-7.data-00000-of-00001"
    content = data.read_bytes()
    for length in range(len(content)):
        data.write_bytes(content[:length])
        with pytest.raises(CheckpointError, match=rf"{data.name} is cut short: it has {length}"):
            read_checkpoint(copy)


@pytest.mark.parametrize("folder", ["every_type", "partitioned"])
def test_a_flipped_bit_spoils_its_tensor_and_no_other(tmp_path: Path, folder: str) -> None:
    copy = Path(shutil.copytree(FILES / folder, tmp_path / "copy"))
    before = read_all(read_checkpoint(copy))
    data = next(copy.glob("*.data-*"))
    content = data.read_bytes()
    for at in range(0, len(content), max(len(content) // 150, 1)):
        flipped = bytearray(content)
        flipped[at] ^= 1 << at % 8
        data.write_bytes(flipped)
        checkpoint = read_checkpoint(copy)
        spoilt = []
        for name, value in before.items():
            try:
                assert np.array_equal(checkpoint.read(name), value)
            except CheckpointError:
                spoilt.append(name)
        assert len(spoilt) == 1


def test_what_tensorflow_wrote_is_written_again_byte_for_byte(tmp_path: Path) -> None:
    for prefix in (EVERY_TYPE, FILES / "crnn_stock_cells" / "shadownet.ckpt-2"):
        write_checkpoint(tmp_path / prefix.name, read_all(read_checkpoint(prefix)))
        for ending in (".index", ".data-00000-of-00001"):
            ours, theirs = (p.with_name(prefix.name + ending) for p in (tmp_path / "x", prefix))
            assert ours.read_bytes() == theirs.read_bytes()


def test_what_tensorflow_cannot_hold_is_not_written(tmp_path: Path) -> None:
    for tensors, reason in (
        ({"a": np.array(["text"])}, "has the type str"),
        ({"a": np.array([1, None], dtype=object)}, "not all bytes"),
        ({"": np.ones(1)}, "cannot be the name"),
    ):
        with pytest.raises(CheckpointError, match=reason):
            write_checkpoint(tmp_path / "m", tensors)
    assert list(tmp_path.iterdir()) == []


def test_numbers_of_a_big_endian_machine_are_read(tmp_path: Path) -> None:
    values = np.array([1, 2, 300], dtype=">i4")
    (tmp_path / "m.data-00000-of-00001").write_bytes(values.tobytes())
    entry = Entry(3, (3,), size=12, checksum=masked_crc32c(values.tobytes()))
    header = varint_field(1, 1) + varint_field(2, 1)
    (tmp_path / "m.index").write_bytes(build_table([(b"", header), (b"a", build_entry(entry))]))
    assert read_checkpoint(tmp_path / "m").read("a").tolist() == [1, 2, 300]


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (Entry(1, (4,), size=12), "do not fit together"),
        (Entry(1, (1 << 40,), size=1 << 42), "cut short"),
        (Entry(1, (1 << 40, 1 << 40), size=16), "impossible shape"),
        (Entry(7, (1 << 40,), size=16), "do not fit together"),
        (Entry(1, (3,), shard=1, size=12), "do not fit together"),
        (Entry(1, (1,) * 40, size=4), "40 dimensions"),
    ],
)
def test_an_index_that_asks_for_the_impossible_is_refused(
    tmp_path: Path, entry: Entry, reason: str
) -> None:
    with pytest.raises(CheckpointError, match=reason):
        made_checkpoint(tmp_path, {b"a": build_entry(entry)})


def test_parts_that_lie_on_each_other_are_refused(tmp_path: Path) -> None:
    places = ((0, 2), (1, 2))
    parts = {
        part_key("a", (place,)): build_entry(Entry(1, (2,), offset=0, size=8)) for place in places
    }
    for shape, reason in (((4,), "do not cover it|checksum"), ((5,), "do not add up")):
        whole = build_entry(Entry(1, shape)) + b"".join(map(part_message, places))
        with pytest.raises(CheckpointError, match=reason):
            made_checkpoint(tmp_path, {**parts, b"a": whole}).read("a")


def test_parts_cannot_claim_more_memory_than_there_is_data(tmp_path: Path) -> None:
    places = tuple((4 * number, 4) for number in range(100))
    part = build_entry(Entry(1, (4,), size=16))
    parts = {part_key("a", (place,)): part for place in places}
    whole = build_entry(Entry(1, (400,))) + b"".join(map(part_message, places))
    with pytest.raises(CheckpointError, match="more bytes than the data files"):
        made_checkpoint(tmp_path, {**parts, b"a": whole}).read("a")


def test_a_missing_part_is_told(tmp_path: Path) -> None:
    whole = build_entry(Entry(1, (2,))) + part_message((0, 2))
    with pytest.raises(CheckpointError, match=r"the part \(\(0, 2\),\) is missing"):
        made_checkpoint(tmp_path, {b"a": whole}).read("a")


def test_a_tensor_of_an_unknown_type_is_listed_and_not_read(tmp_path: Path) -> None:
    checkpoint = made_checkpoint(tmp_path, {b"a": build_entry(Entry(21, (), size=4))})
    assert checkpoint.dtype("a") == "type 21"
    with pytest.raises(CheckpointError, match="has no plain values"):
        checkpoint.read("a")


def test_a_checkpoint_of_a_later_format_is_told(tmp_path: Path) -> None:
    header = varint_field(1, 1) + bytes_field(3, varint_field(2, 9))
    (tmp_path / "m.index").write_bytes(build_table([(b"", header)]))
    with pytest.raises(CheckpointError, match="reader of version 9"):
        read_checkpoint(tmp_path / "m")


def test_a_real_training_checkpoint_is_read_completely(shared: Path) -> None:
    checkpoint = read_checkpoint(shared / "data" / "tf1_checkpoint_bilstm_ctc" / "model-188330")
    values = read_all(checkpoint)
    assert len(values) == 30
    kernel = "bidirectional_rnn/fw/basic_lstm_cell/kernel"
    for name, shape in (
        (kernel, (256, 512)),
        (f"{kernel}/Adam_1", (256, 512)),
        ("fully_connected/weights", (256, 37)),
        ("EMA/accuracy", ()),
    ):
        assert (checkpoint.shape(name), checkpoint.dtype(name)) == (shape, "float32")
    assert checkpoint.dtype("global_step") == "int64"
    assert values["global_step"].item() == 188330
    not_finite = [name for name, value in values.items() if not np.isfinite(value).all()]
    assert not_finite == ["EMA/cost", "EMA/cost/biased"]


def read_all(checkpoint: TensorFlowCheckpoint) -> dict[str, NDArray[Any]]:
    return {name: checkpoint.read(name) for name in checkpoint.names()}


def write_state(folder: Path, path: str) -> None:
    (folder / "checkpoint").write_text(f'model_checkpoint_path: "{path}"\n')


def part_message(place: tuple[int, int]) -> bytes:
    """One part of a partitioned variable of one dimension, as its entry lists it."""
    extent = varint_field(1, place[0]) + varint_field(2, place[1])
    return bytes_field(7, bytes_field(1, extent))


def made_checkpoint(folder: Path, entries: dict[bytes, bytes]) -> TensorFlowCheckpoint:
    """A checkpoint of 16 zero bytes with this index."""
    table = build_table(sorted({b"": build_header(shards=1), **entries}.items()))
    (folder / "made.index").write_bytes(table)
    (folder / "made.data-00000-of-00001").write_bytes(bytes(16))
    return read_checkpoint(folder / "made")
