"""The calls that make batches of a dataset, and iterators that serve several datasets."""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rules._configs import assigned_values

# Where the calls have `batch_size` and `drop_remainder`.
PLACES = {
    "tf.data.Dataset.batch": (0, 1),
    "tf.data.Dataset.padded_batch": (0, 3),
    "tf.data.experimental.map_and_batch": (1, 3),
    "tf.data.experimental.map_and_batch_with_legacy_function": (1, 3),
    "tf.contrib.data.map_and_batch": (1, 3),
}
_SHARED_ITERATORS = (
    "tf.data.Iterator.from_structure",
    "tf.data.Iterator.from_string_handle",
)


def batches(file: File) -> Iterator[Call]:
    """All calls of a file that make batches."""
    methods = (one for name in ("batch", "padded_batch") for one in file.method_calls(name))
    return (call for call in (*file.calls, *methods) if call.name in PLACES)


def size_of(call: Call) -> str:
    """The text of a batch's size, on one line; empty where it is not written."""
    size = call.argument(PLACES[call.name][0], "batch_size")
    return "" if size is None else " ".join(call.source.text_of(size).split())


def shares_iterator(file: File) -> bool:
    """Whether an iterator takes the shapes of one dataset, to serve several."""
    for call in file.calls_of(*_SHARED_ITERATORS):
        place = 1 if call.name.endswith("from_structure") else 2
        shapes = call.argument(place, "output_shapes")
        values = [] if shapes is None else [shapes, *assigned_values(file, shapes)]
        if any("output_shapes" in file.text(one) for one in values):
            return True
    return False
