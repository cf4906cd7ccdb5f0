"""Puts roundings into graphs, before a session sees them."""

import contextlib
import functools
import weakref

from tensorflow.python.client import session as client
from tensorflow.python.framework import ops
from tensorflow.python.ops.script_ops import py_func_common

from ..watch.losses import gradients_of
from ..watch.places import line_of
from .constants import tell_constants
from .kinds import MATRIX, ROUNDED, is_rounded, outputs_of

_graphs = weakref.WeakKeyDictionary()
_SCOPE = "trainferry_precision/"
_STRAIGHT = "TrainferryRounded"


@ops.RegisterGradient(_STRAIGHT)
def _straight(op, gradient):
    """What is rounded passes gradients on; those are rounded by themselves."""
    return gradient


def round_sessions(kind, counts):
    """From now on, what a session gets of a graph that trains is rounded to `kind`."""
    extend = client.BaseSession._extend_graph

    @functools.wraps(extend)
    def _extend_graph(self):
        if self.graph not in _graphs:
            _graphs[self.graph] = _Rounding(kind, counts)
        _graphs[self.graph].round_new(self.graph)
        extend(self)

    client.BaseSession._extend_graph = _extend_graph


class _Rounding:
    """The roundings of one graph; an operator that a session has cannot be changed any more."""

    def __init__(self, kind, counts):
        self._kind = kind
        self._counts = counts
        self._sent = set()
        self._rounded = {}  # {name of a tensor: name of the rounded one}
        self._version = 0
        self._calls = 0

    def round_new(self, graph):
        """Round what was added since a session last took the graph."""
        if graph.version == self._version:
            return
        was_final = graph.finalized
        graph._unsafe_unfinalize()
        self._round(graph)
        if was_final:
            graph.finalize()
        self._sent.update(op.name for op in graph.get_operations())
        self._version = graph.version

    def _round(self, graph):
        calls = len(gradients_of(graph))
        operators = _behind_gradients(graph) if calls else _behind_weights(graph)
        rounded = [op for op in operators if op.type in ROUNDED]
        late = 0
        for op in rounded:
            if op.name in self._sent:
                late += any(tensor.name not in self._rounded for tensor in outputs_of(op))
            elif op.type in MATRIX:
                self._round_inputs(op)
        for op in rounded:
            for tensor in outputs_of(op):
                self._round_consumers(tensor)
        if calls != self._calls:
            self._calls = calls
            tell_constants(operators, self._kind, self._counts)
            self._counts.tell("emulated", type=self._kind.name, operators=len(rounded), late=late)

    def _round_inputs(self, op):
        for place, tensor in enumerate(list(op.inputs)):
            if is_rounded(tensor) and not tensor.op.name.startswith(_SCOPE):
                op._update_input(place, self._rounding_of(tensor))

    def _round_consumers(self, tensor):
        consumers = [
            op
            for op in tensor.consumers()
            if op.name not in self._sent and not op.name.startswith(_SCOPE)
        ]
        for op in consumers:
            for place, other in enumerate(list(op.inputs)):
                if other is tensor or other.name == tensor.name:
                    op._update_input(place, self._rounding_of(tensor))

    def _rounding_of(self, tensor):
        graph = tensor.graph
        if tensor.name not in self._rounded:
            self._rounded[tensor.name] = self._make_rounding(graph, tensor).name
        return graph.get_tensor_by_name(self._rounded[tensor.name])

    def _make_rounding(self, graph, tensor):
        op = tensor.op
        function = self._counts.rounding(self._kind, tensor.name, op.type, _line(op))
        name = _SCOPE + op.name
        with contextlib.ExitStack() as stack:
            stack.enter_context(graph.as_default())
            stack.enter_context(graph.control_dependencies(None))
            stack.enter_context(graph.device(None))
            stack.enter_context(graph.name_scope(None))
            stack.enter_context(graph.gradient_override_map({"PyFunc": _STRAIGHT}))
            outside = graph._get_control_flow_context()
            graph._set_control_flow_context(op._get_control_flow_context())
            (rounded,) = py_func_common(
                function, [tensor], [tensor.dtype.base_dtype], stateful=True, name=name
            )
            graph._set_control_flow_context(outside)
        rounded.set_shape(tensor.shape)
        return rounded


def _line(op):
    """The user's line of an operator; of a gradient's operator, that of what it differentiates."""
    return line_of(getattr(op, "_original_op", None) or op)


def _behind_gradients(graph):
    """The operators that compute losses and gradients, in the order in which they were made."""
    starts = []
    for record in gradients_of(graph):
        starts += [loss.op for loss in record.losses]
        starts += [getattr(gradient, "values", gradient).op for _, gradient in record.pairs]
    return _reached(graph, starts, lambda op: [tensor.op for tensor in op.inputs])


def _behind_weights(graph):
    """The operators that compute with trainable weights, where nothing is differentiated (yet)."""
    starts = [variable.op for variable in graph.get_collection("trainable_variables")]
    return _reached(
        graph, starts, lambda op: [one for tensor in op.outputs for one in tensor.consumers()]
    )


def _reached(graph, starts, neighbours):
    found, waiting = set(), list(starts)
    while waiting:
        op = waiting.pop()
        if op not in found:
            found.add(op)
            waiting.extend(neighbours(op))
    return [op for op in graph.get_operations() if op in found]
