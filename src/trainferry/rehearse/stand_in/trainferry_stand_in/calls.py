"""One collective in a graph: its tag, its place, and the host operator that carries it out."""

import threading

import tensorflow as tf
from tensorflow.core.framework import attr_value_pb2
from tensorflow.python.framework import ops
from tensorflow.python.ops.script_ops import py_func_common

from trainferry_stand_in import places, ranks

# On every operator that stands in for one of the device: the name of the device's operator.
MARK = "_trainferry_stand_in"
PLACE = "_trainferry_place"
_NO_GRADIENT = "TrainferryNoGradient"
_numbering = threading.Lock()
# A collective keeps a thread while it waits. Of thousands that one line makes, each waits for the
# one so many before it: ranks that begin with others would else wait with all of their threads.
_AT_ONCE = 128
_graphs = []


class Call:
    """One collective operator; every execution of it has its own tag."""

    def __init__(self, kind, operator, group, name=None):
        self.kind = kind
        self.operator = operator
        self.group = group
        self.place = places.user_line()
        graph = ops.get_default_graph()
        self.name = graph.unique_name(name or operator, mark_as_used=False)
        self._graph = _number_of(graph)
        self._lock = threading.Lock()
        self._runs = 0

    def next_tag(self):
        """Graph, operator and how often it ran: free of the order of execution."""
        with self._lock:
            self._runs += 1
            return f"{self._graph}/{self.name}#{self._runs}"


class TransferCall(Call):
    """One end of send and receive, which have no name in common: `sr_tag` joins them."""

    def __init__(self, kind, operator, group, pair):
        super().__init__(kind, operator, group)
        self._pair = pair

    def next_tag(self):
        with self._lock:
            self._runs += 1
            return f"transfer {self._pair}#{self._runs}"


def on_host(call, function, inputs, dtypes, shapes, gradient=_NO_GRADIENT):
    """Run `function` on the host as the device's operator `call.operator`.

    Shapes are kept by `ensure_shape`, which survives a round trip of the graph.
    """
    graph = ops.get_default_graph()
    together = ranks.world_size() > 1 and call.group == ranks.WORLD and call.kind in _TOGETHER
    line = _line(graph, call) if together else []
    before = [line[-_AT_ONCE]] if len(line) >= _AT_ONCE else []
    with graph.gradient_override_map({"PyFunc": gradient}), tf.control_dependencies(before):
        outputs = py_func_common(function, inputs, dtypes, stateful=True, name=call.operator)
    operator = outputs[0].op if dtypes else outputs
    mark(operator, call.operator, call.place)
    if together:
        line.append(operator)
        _collectives(graph).append(operator)
    if not dtypes:
        return operator
    fixed = []
    for output, shape in zip(outputs, shapes):
        known = tf.ensure_shape(output, tf.TensorShape(shape))
        fixed.append(mark(known, call.operator, call.place))
    return fixed


# What all ranks run together; the graphs of all ranks must hold the same of these.
_TOGETHER = ("allreduce", "allgather", "broadcast", "reduce", "reduce_scatter", "all_to_all")


def _line(graph, call):
    """The collectives of this kind that the same line of the script made, in the same context."""
    if not hasattr(graph, "_trainferry_lines"):
        graph._trainferry_lines = {}
    key = (call.kind, call.place, graph._get_control_flow_context())
    return graph._trainferry_lines.setdefault(key, [])


def collectives_of(graph):
    """The operators that all ranks run together, in the order of their making."""
    return getattr(graph, "_trainferry_collectives", [])


def mark(thing, operator, place=None):
    """Say that an operator or a tensor's operator stands in for the device's `operator`."""
    op = thing if isinstance(thing, tf.Operation) else thing.op
    place = places.user_line() if place is None else place
    for name, value in ((MARK, operator), (PLACE, place)):
        op._set_attr(name, attr_value_pb2.AttrValue(s=value.encode("utf-8")))
    return thing


def marked(operator):
    """A scope whose operators all stand in for the device's `operator`."""
    place = places.user_line()
    return ops.get_default_graph()._attr_scope(
        {
            MARK: attr_value_pb2.AttrValue(s=operator.encode("utf-8")),
            PLACE: attr_value_pb2.AttrValue(s=place.encode("utf-8")),
        }
    )


def _number_of(graph):
    """The graphs of one process in the order of their first collective."""
    with _numbering:
        number = getattr(graph, "_trainferry_number", None)
        if number is None:
            number = graph._trainferry_number = len(_graphs)
            _graphs.append(number)
        return number


def _collectives(graph):
    if not hasattr(graph, "_trainferry_collectives"):
        graph._trainferry_collectives = []
    return graph._trainferry_collectives


@ops.RegisterGradient(_NO_GRADIENT)
def _no_gradient(op, *_):
    raise LookupError(
        "the device has no gradient for `{}` (operator {}): stop it with `tf.stop_gradient`".format(
            op.get_attr(MARK).decode("utf-8"), op.name
        )
    )
