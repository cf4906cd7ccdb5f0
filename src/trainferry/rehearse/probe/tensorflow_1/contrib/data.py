"""`tf.contrib.data`: what is now `tf.data.experimental`, and three functions that are gone."""

import tensorflow.compat.v1 as tf

_NOW = tf.data.experimental
AUTOTUNE = _NOW.AUTOTUNE
CheckpointInputPipelineHook = _NOW.CheckpointInputPipelineHook
Counter = _NOW.Counter
CsvDataset = _NOW.CsvDataset
Optional = _NOW.Optional
RandomDataset = _NOW.RandomDataset
Reducer = _NOW.Reducer
SqlDataset = _NOW.SqlDataset
TFRecordWriter = _NOW.TFRecordWriter
bucket_by_sequence_length = _NOW.bucket_by_sequence_length
choose_from_datasets = _NOW.choose_from_datasets
copy_to_device = _NOW.copy_to_device
dense_to_sparse_batch = _NOW.dense_to_sparse_batch
enumerate_dataset = _NOW.enumerate_dataset
get_next_as_optional = _NOW.get_next_as_optional
get_single_element = _NOW.get_single_element
group_by_reducer = _NOW.group_by_reducer
group_by_window = _NOW.group_by_window
ignore_errors = _NOW.ignore_errors
make_batched_features_dataset = _NOW.make_batched_features_dataset
make_csv_dataset = _NOW.make_csv_dataset
make_saveable_from_iterator = _NOW.make_saveable_from_iterator
map_and_batch = _NOW.map_and_batch
parallel_interleave = _NOW.parallel_interleave
parse_example_dataset = _NOW.parse_example_dataset
prefetch_to_device = _NOW.prefetch_to_device
rejection_resample = _NOW.rejection_resample
sample_from_datasets = _NOW.sample_from_datasets
scan = _NOW.scan
shuffle_and_repeat = _NOW.shuffle_and_repeat
unbatch = _NOW.unbatch
unique = _NOW.unique


def batch_and_drop_remainder(batch_size):
    """A function for `dataset.apply`."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(batch_size, padded_shapes, padding_values=None):
    """A function for `dataset.apply`."""
    return lambda dataset: dataset.padded_batch(
        batch_size, padded_shapes, padding_values, drop_remainder=True
    )


def sloppy_interleave(map_func, cycle_length, block_length=1):
    """A function for `dataset.apply`."""
    return parallel_interleave(map_func, cycle_length, block_length, sloppy=True)


def assert_element_shape(expected_shapes):
    """A function for `dataset.apply`."""

    def check(*element):
        given = element[0] if len(element) == 1 else element
        return tf.nest.map_structure(tf.ensure_shape, given, expected_shapes)

    return lambda dataset: dataset.map(check)
