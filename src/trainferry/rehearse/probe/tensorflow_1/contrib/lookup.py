"""`tf.contrib.lookup`: tables, with the names of arguments that they had."""

import tensorflow.compat.v1 as tf
from tensorflow.python.ops import lookup_ops as _now
from tensorflow.python.ops.lookup_ops import (
    FastHashSpec,
    HasherSpec,
    IdTableWithHashBuckets,
    InitializableLookupTableBase,
    KeyValueTensorInitializer,
    LookupInterface,
    MutableHashTable,
    StrongHashSpec,
    TableInitializerBase,
    TextFileIdTableInitializer,
    TextFileIndex,
    TextFileInitializer,
    TextFileStringTableInitializer,
    index_table_from_file,
    index_to_string_table_from_file,
)

string_to_index_table_from_file = index_table_from_file


class HashTable(_now.StaticHashTableV1):
    """A table that is filled once."""

    def __init__(self, initializer, default_value, shared_name=None, name=None):
        super().__init__(initializer, default_value, name=name or shared_name)

    @property
    def init(self):
        return self.initializer


class MutableDenseHashTable(_now.DenseHashTable):
    """A table that is filled as it goes; one key marks empty places."""

    def __init__(
        self,
        key_dtype,
        value_dtype,
        default_value,
        empty_key,
        deleted_key,
        initial_num_buckets=None,
        shared_name=None,
        name="MutableDenseHashTable",
        checkpoint=True,
    ):
        super().__init__(
            key_dtype,
            value_dtype,
            default_value,
            empty_key,
            deleted_key,
            initial_num_buckets=initial_num_buckets,
            name=shared_name or name,
            checkpoint=checkpoint,
        )


def index_table_from_tensor(
    mapping,
    num_oov_buckets=0,
    default_value=-1,
    hasher_spec=FastHashSpec,
    dtype=tf.string,
    name=None,
):
    """A table from each word of `mapping` to its place."""
    return _now.index_table_from_tensor(
        mapping, num_oov_buckets, default_value, hasher_spec, dtype, name
    )


string_to_index_table_from_tensor = index_table_from_tensor


def string_to_index(tensor, mapping, default_value=-1, name=None):
    """The place of each word of `tensor` in `mapping`."""
    return index_table_from_tensor(mapping, default_value=default_value, name=name).lookup(tensor)


def index_to_string_table_from_tensor(mapping, default_value="UNK", name=None):
    """A table from each place of `mapping` to the word there."""
    return _now.index_to_string_table_from_tensor(mapping, default_value, name)


def index_to_string(tensor, mapping, default_value="UNK", name=None):
    """The word of `mapping` at each place of `tensor`."""
    return index_to_string_table_from_tensor(mapping, default_value, name).lookup(tensor)
