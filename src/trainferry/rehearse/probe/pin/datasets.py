"""Pins `tf.data`: shuffles have seeds by kind and order, parallel parts run one after the other."""

import functools
import sys

from tensorflow.python.data.experimental.ops import batching, interleave_ops
from tensorflow.python.data.ops import dataset_ops
from tensorflow.python.data.util import random_seed
from tensorflow.python.framework import ops

from .graph_draws import number_of
from .replace import replace_everywhere


def pin(seeds):
    """Make datasets give the same elements in the same order each time."""
    _pin_seeds(seeds)
    for kind in (dataset_ops.DatasetV1, dataset_ops.DatasetV2):
        for name in ("map", "interleave", "map_with_legacy_function"):
            if name in vars(kind):
                setattr(kind, name, _one_at_a_time(vars(kind)[name]))
        if "with_options" in vars(kind):
            kind.with_options = _deterministic(kind.with_options)
    _pin_older_functions()


def _pin_seeds(seeds):
    choose = random_seed.get_seed

    @functools.wraps(choose)
    def get_seed(seed):
        if seed is not None:
            return choose(seed)
        graph = ops.get_default_graph()
        maker = sys._getframe(1)
        kind = type(maker.f_locals.get("self")).__name__
        drawn = seeds.of_draw(number_of(graph), "tf.data " + kind, "dataset", None)
        return choose(drawn)

    replace_everywhere(choose, get_seed)


def _one_at_a_time(method):
    @functools.wraps(method)
    def called(*args, **kwargs):
        if kwargs.get("num_parallel_calls") is not None:
            kwargs["num_parallel_calls"] = None
        position = _place_of_parallel(method)
        if position is not None and len(args) > position:
            args = (*args[:position], None, *args[position + 1 :])
        if "deterministic" in kwargs:
            kwargs["deterministic"] = None
        return method(*args, **kwargs)

    return called


def _place_of_parallel(method):
    code = getattr(method, "__wrapped__", method).__code__
    names = code.co_varnames[: code.co_argcount]
    return names.index("num_parallel_calls") if "num_parallel_calls" in names else None


def _deterministic(method):
    @functools.wraps(method)
    def with_options(self, options, *args, **kwargs):
        options.experimental_deterministic = True
        return method(self, options, *args, **kwargs)

    return with_options


def _pin_older_functions():
    """`parallel_interleave` and `map_and_batch` take no sloppy order and no parallel calls."""
    interleave = interleave_ops.parallel_interleave

    @functools.wraps(interleave)
    def parallel_interleave(map_func, cycle_length, block_length=1, *others, **options):
        return lambda dataset: dataset.interleave(map_func, cycle_length, block_length)

    replace_everywhere(interleave, parallel_interleave)
    for name in ("map_and_batch", "map_and_batch_with_legacy_function"):
        if hasattr(batching, name):
            function = getattr(batching, name)
            replace_everywhere(function, _map_then_batch(function))


def _map_then_batch(function):
    @functools.wraps(function)
    def map_and_batch(
        map_func,
        batch_size,
        num_parallel_batches=None,
        drop_remainder=False,
        num_parallel_calls=None,
    ):
        return lambda dataset: dataset.map(map_func).batch(batch_size, drop_remainder)

    return map_and_batch
