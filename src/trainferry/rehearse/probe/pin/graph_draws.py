"""Pins the random operators of graphs, by name and kind instead of by how many came before."""

import functools
import itertools
import weakref

from tensorflow.core.framework import attr_value_pb2
from tensorflow.python.eager import context
from tensorflow.python.framework import ops, random_seed

from .callers import calling_function
from .replace import replace_everywhere

_numbers = weakref.WeakKeyDictionary()
_count = itertools.count(1)
_draws = {}


def pin(seeds):
    """Give every random operator without a seed of the user's one that migrating does not change.

    Iterations of a loop run one after the other: those that run at once draw in any order.
    """
    create = ops.Graph._create_op_internal

    @functools.wraps(create)
    def _create_op_internal(self, *args, **kwargs):
        op = create(self, *args, **kwargs)
        kind = op.type
        if kind in ("Enter", "RefEnter"):
            op._set_attr("parallel_iterations", attr_value_pb2.AttrValue(i=1))
        elif _draws[kind] if kind in _draws else _is_draw(op):
            _seed(op, seeds)
        return op

    ops.Graph._create_op_internal = _create_op_internal
    _leave_seeds_open()
    _pin_generators(seeds)


def number_of(graph):
    """Graphs are numbered from 1 in the order in which they first draw; functions count to theirs.

    None of this changes when the migrated script makes another graph that draws nothing.
    """
    graph = outermost(graph)
    if graph not in _numbers:
        _numbers[graph] = next(_count)
    return _numbers[graph]


def outermost(graph):
    """The graph that a function's graph is part of."""
    while True:
        outer = getattr(graph, "outer_graph", None) or getattr(graph, "_outer_graph", None)
        if outer is None:
            return graph
        graph = outer


def _is_draw(op):
    names = {attribute.name for attribute in op.op_def.attr}
    _draws[op.type] = names >= {"seed", "seed2"}
    return _draws[op.type]


def _seed(op, seeds):
    first, second = op.get_attr("seed"), op.get_attr("seed2")
    shape = op.outputs[0].shape if op.outputs else None
    shape = None if shape is None or shape.ndims is None else shape.as_list()
    given = None if (first, second) == (0, 0) else second
    seed = seeds.of_draw(number_of(op.graph), op.type, op.name, shape, given)
    if given is None:
        op._set_attr("seed", attr_value_pb2.AttrValue(i=seeds.seed))
    if seed != given:
        op._set_attr("seed2", attr_value_pb2.AttrValue(i=seed))


def _leave_seeds_open():
    """TensorFlow counts operators where only the graph has a seed; leave these to `_seed`."""
    choose = random_seed.get_seed

    @functools.wraps(choose)
    def get_seed(op_seed):
        if op_seed is None and not context.executing_eagerly():
            return None, None
        return choose(op_seed)

    replace_everywhere(choose, get_seed)


def _pin_generators(seeds):
    from tensorflow.python.ops import stateful_random_ops

    def from_non_deterministic_state(cls, alg=None):
        seed = seeds.next_of("Generator", calling_function(2))
        return cls.from_seed(seed) if alg is None else cls.from_seed(seed, alg=alg)

    kind = stateful_random_ops.Generator
    kind.from_non_deterministic_state = classmethod(from_non_deterministic_state)
