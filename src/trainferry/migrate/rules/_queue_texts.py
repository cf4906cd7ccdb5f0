"""The tf.data text for each way to read data with queues, with the user's own arguments."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import NamedTuple

from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rules._dataflow import constant, text_in_line


class ToBatches(NamedTuple):
    """Where a function that makes batches has its arguments; -1 for only by name."""

    size: int = 1
    kept: int = -1  # `min_after_dequeue`
    many: int = -1  # `enqueue_many`
    pads: int = -1  # `dynamic_pad`
    smaller: int = -1  # `allow_smaller_final_batch`


TO_BATCHES = {
    "tf.train.batch": ToBatches(many=4, pads=6, smaller=7),
    "tf.train.batch_join": ToBatches(many=3, pads=5, smaller=6),
    "tf.train.maybe_batch": ToBatches(size=2, many=5, pads=7, smaller=8),
    "tf.train.maybe_batch_join": ToBatches(size=2, many=4, pads=6, smaller=7),
    "tf.train.maybe_shuffle_batch": ToBatches(kept=3, many=7, smaller=9),
    "tf.train.maybe_shuffle_batch_join": ToBatches(kept=3, many=6, smaller=8),
    "tf.train.shuffle_batch": ToBatches(kept=3, many=6, smaller=8),
    "tf.train.shuffle_batch_join": ToBatches(kept=3, many=5, smaller=7),
    "tf.contrib.training.bucket": ToBatches(size=2),
    "tf.contrib.training.bucket_by_sequence_length": ToBatches(size=2),
}
PRODUCERS = (
    "tf.train.input_producer",
    "tf.train.range_input_producer",
    "tf.train.slice_input_producer",
    "tf.train.string_input_producer",
)
READERS = {
    "tf.FixedLengthRecordReader": "tf.data.FixedLengthRecordDataset({files}, {0})",
    "tf.IdentityReader": "tf.data.Dataset.from_tensor_slices({files})",
    "tf.LMDBReader": "tf.contrib.data.LMDBDataset({files})",
    "tf.TFRecordReader": "tf.data.TFRecordDataset({files})",
    "tf.TextLineReader": "tf.data.TextLineDataset({files})",
    "tf.WholeFileReader": "tf.data.Dataset.from_tensor_slices({files}).map(tf.read_file)",
}
_SLIM = ("tf.contrib.slim", "tf.contrib.slim.python.slim.data", "tf_slim", "tf_slim.data")
PROVIDERS = (
    *(f"{slim}.dataset_data_provider.DatasetDataProvider" for slim in _SLIM),
    *(f"{slim}.parallel_reader.parallel_read" for slim in _SLIM),
    *(f"{slim}.parallel_reader.single_pass_read" for slim in _SLIM),
    *(f"{slim}.prefetch_queue.prefetch_queue" for slim in _SLIM),
    "tf.estimator.inputs.numpy_input_fn",
    "tf.estimator.inputs.pandas_input_fn",
)
QUEUES = tuple(
    f"{module}.{queue}"
    for module in ("tf", "tf.queue", "tf.io")
    for queue in ("FIFOQueue", "PaddingFIFOQueue", "PriorityQueue", "RandomShuffleQueue")
)
_REPEATS = 1  # where all producers but `input_producer` have `num_epochs`; `shuffle` follows it


def text_for_batch(call: Call, file: File) -> str:
    places = TO_BATCHES[call.name]
    text = ""
    if constant(_given(call, places.many, "enqueue_many")) is True:
        text += ".apply(tf.data.experimental.unbatch())"
    if "shuffle" in call.name:
        text += f".shuffle({_text(file, _given(call, places.kept, 'min_after_dequeue'), '...')})"
    size = _text(file, _given(call, places.size, "batch_size"), "batch_size")
    if "bucket" in call.name or constant(_given(call, places.pads, "dynamic_pad")) is True:
        return f"{text}.padded_batch({size}, padded_shapes, drop_remainder=True)"
    if constant(_given(call, places.smaller, "allow_smaller_final_batch")) is True:
        text += ".repeat()"  # the samples that fill the last batch are the first ones again
    return f"{text}.batch({size}, drop_remainder=True)"


def text_for_producer(call: Call, file: File) -> str:
    place = 2 if call.name == "tf.train.input_producer" else _REPEATS
    data = call.node.args[0] if call.node.args else None
    if data is None and call.node.keywords:
        data = call.node.keywords[0].value
    text = _text(file, data, "files")
    if call.name == "tf.train.range_input_producer":
        made = f"tf.data.Dataset.range({text})"
    else:
        is_list = call.name == "tf.train.slice_input_producer"
        data_text = _as_tuple(file, data, text) if is_list else text
        made = f"tf.data.Dataset.from_tensor_slices({data_text})"
    shuffles = constant(_given(call, place + 1, "shuffle")) is not False
    size = text if call.name == "tf.train.range_input_producer" else "number_of_samples"
    if call.name == "tf.train.string_input_producer":
        size = "number_of_files"
    return f"{made}{f'.shuffle({size})' if shuffles else ''}{_repeat(file, call, place)}"


def text_for_reader(call: Call, file: File) -> str:
    text = READERS[call.name].format(
        _text(file, _given(call, 0, "record_bytes"), "record_bytes"), files=_files_near(call, file)
    )
    header = _given(call, 0, "skip_header_lines")
    if call.name == "tf.TextLineReader" and header is not None:
        text += f".skip({_text(file, header, '')})"
    return text


def text_for_provider(call: Call, file: File) -> str:
    first = _text(file, call.node.args[0] if call.node.args else None, "")
    kind = call.name.rpartition(".")[2]
    if kind == "prefetch_queue":
        return f".prefetch({_text(file, _given(call, 1, 'capacity'), '1')})"
    if kind.endswith("_input_fn"):
        return _text_for_input_fn(call, file)
    if kind == "DatasetDataProvider":
        name = first or "dataset"
        decoded = f".map(lambda record: tuple({name}.decoder.decode(record)))"
        return _records(file, call, f"{name}.data_sources", 1, 3) + decoded
    readers, shuffles = (3, 5) if kind == "parallel_read" else (-1, -1)
    return _records(file, call, first or "data_sources", readers, shuffles)


def _text_for_input_fn(call: Call, file: File) -> str:
    parts = [_given(call, 0, "x"), _given(call, 1, "y")]
    texts = [
        text_in_line(file, one) for one in parts if one is not None and constant(one) is not None
    ]
    data = texts[0] if len(texts) == 1 else f"({', '.join(texts)})"
    if call.name.endswith("pandas_input_fn"):
        data = data.replace(texts[0], f"dict({texts[0]})", 1) if texts else "dict(x)"
    size = _text(file, _given(call, 2, "batch_size"), "128")
    epochs = _given(call, 3, "num_epochs")
    repeat = "" if epochs is None or constant(epochs) == 1 else _repeat(file, call, 3)
    shuffles = constant(_given(call, 4, "shuffle")) is not False
    shuffle = ".shuffle(1000)" if shuffles else ""
    drops = ", drop_remainder=True" if shuffles else ""  # without it, to evaluate or predict
    return (
        f"lambda: tf.data.Dataset.from_tensor_slices({data}){shuffle}{repeat}.batch({size}{drops})"
    )


def _records(file: File, call: Call, sources: str, readers: int, shuffles: int) -> str:
    cycle = _text(file, _given(call, readers, "num_readers"), "1")
    shuffle = _given(call, shuffles, "shuffle")
    listed = sources
    if shuffle is not None and constant(shuffle) is not True:
        listed += f", shuffle={text_in_line(file, shuffle)}"
    return (
        f"tf.data.Dataset.list_files({listed})"
        f".interleave(tf.data.TFRecordDataset, cycle_length={cycle})"
    )


def _files_near(call: Call, file: File) -> str:
    """What the one producer of file names in the same function is given."""
    found = {
        text_in_line(file, one.node.args[0])
        for one in file.calls_of("tf.train.string_input_producer")
        if one.node.args and file.function(one.node) is file.function(call.node)
    }
    return found.pop() if len(found) == 1 else "files"


def _repeat(file: File, call: Call, place: int) -> str:
    epochs = _given(call, place, "num_epochs")
    if epochs is None or constant(epochs) is None:
        return ".repeat()"
    return "" if constant(epochs) == 1 else f".repeat({_text(file, epochs, '')})"


def _as_tuple(file: File, data: ast.expr | None, text: str) -> str:
    """`from_tensor_slices` takes a list for one tensor, a tuple for several."""
    if not isinstance(data, ast.List):
        return f"tuple({text})"
    return f"({_joined(text_in_line(file, one) for one in data.elts)})"


def _joined(texts: Iterable[str]) -> str:
    found = list(texts)
    return f"{found[0]}," if len(found) == 1 else ", ".join(found)


def _given(call: Call, place: int, name: str) -> ast.expr | None:
    if place >= 0:
        return call.argument(place, name)
    keyword = call.keyword(name)
    return None if keyword is None else keyword.value


def _text(file: File, node: ast.expr | None, default: str) -> str:
    return default if node is None else text_in_line(file, node)
