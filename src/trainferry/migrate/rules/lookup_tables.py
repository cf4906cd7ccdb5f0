"""Leave lookup tables on the host.

A lookup table is made and filled on the host. When the whole graph is compiled for the NPU, the
initialiser and the lookup end up in different places, and the run stops with "Table not
initialized". `mix_compile_mode` leaves operators that the NPU does not have on the host.

    +custom_op.parameter_map["mix_compile_mode"].b = True

By hand: always, because the option belongs to the session that uses the table, and it excludes
several steps per loop (`iterations_per_loop` above 1). Tables may also go: look words up before
the data is written, or with NumPy.
Not touched: the initialisers of tables, whose tables are told, and unit tests.

Source: Ascend TF Adapter 1.x migration guide, frequent problems, "Table not initialized".
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, on_call
from trainferry.migrate.rules._host_sessions import is_in_test

CONCERN = Concern.RUN

_MESSAGE = (
    "tables live on the host: set `mix_compile_mode` to True in the NPU options of the session "
    '(`custom_op.parameter_map["mix_compile_mode"].b = True`, or '
    "`NPURunConfig(mix_compile_mode=True)`)"
)
# Not the same as the public ones of these names, but tables too.
_PRIVATE = (
    *("HashTable", "StaticHashTable", "StaticHashTableV1", "StaticVocabularyTable"),
    *("StaticVocabularyTableV1", "DenseHashTable"),
    *("index_table_from_tensor", "index_to_string_table_from_tensor"),
)


@on_call(
    "tf.contrib.lookup.HashTable",
    "tf.contrib.lookup.IdTableWithHashBuckets",
    "tf.contrib.lookup.MutableDenseHashTable",
    "tf.contrib.lookup.MutableHashTable",
    "tf.contrib.lookup.index_table_from_file",
    "tf.contrib.lookup.index_table_from_tensor",
    "tf.contrib.lookup.index_to_string",
    "tf.contrib.lookup.index_to_string_table_from_file",
    "tf.contrib.lookup.index_to_string_table_from_tensor",
    "tf.contrib.lookup.string_to_index",
    "tf.contrib.lookup.string_to_index_table_from_file",
    "tf.contrib.lookup.string_to_index_table_from_tensor",
    "tf.lookup.StaticHashTable",
    "tf.lookup.StaticVocabularyTable",
    "tf.lookup.experimental.DenseHashTable",
    *(f"tensorflow.python.ops.lookup_ops.{name}" for name in _PRIVATE),
)
def lookup_tables(call: Call, file: File) -> Iterator[Finding]:
    if not is_in_test(file, call.node):
        yield Finding(call, Outcome.BY_HAND, _MESSAGE)
