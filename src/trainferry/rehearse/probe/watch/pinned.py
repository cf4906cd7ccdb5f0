"""Says which shapes stay open when the shapes of the inputs are written into the graph.

An open batch that is always the same size costs a warning; a shape that depends on values stays
open whatever the inputs are, and the device cannot compile it ahead. The operators of the run are
inferred anew in a graph of their own, which is thrown away.
"""

import time

from tensorflow.core.framework import graph_pb2
from tensorflow.python.framework import dtypes

from .carriers import Carriers
from .export import shape_of
from .facts_file import write_fact
from .index import index_of, owner
from .infer import CannotInfer, infer_shapes
from .numbers import write_constants

_OPAQUE = {"resource", "variant"}
_SHAPES = "_output_shapes"
_SECONDS = 4.0  # for loops and numbers: each round carries shapes one further


def write_pinned(run, shapes):
    """Write which operators have open shapes once the inputs have `shapes`."""
    known = {
        operator.name: [shape_of(tensor) for tensor in operator.outputs]
        for operator in run.graph.get_operations()
        if operator.name in run.operators
    }
    problem = None
    if any(_is_open(_shape_in_graph(run, name)) for name in shapes):
        try:
            known.update(_infer(run, known, shapes))
        except CannotInfer as error:
            problem = str(error)
    write_fact("pinned", graph=run.file, open=_open_ones(run, known), problem=problem)


def _infer(run, known, shapes):
    definition = _closure_definition(run, known, shapes)
    protos = {proto.name: proto for proto in definition.node}
    carriers = Carriers(index_of(run.graph), run.operators)
    started = time.perf_counter()
    while True:
        found = infer_shapes(definition, run.operators)
        learnt = carriers.learn(known, found) if carriers else {}
        is_late = time.perf_counter() - started > _SECONDS
        if is_late or not (learnt or write_constants(protos, found, run.operators)):
            found.update(learnt)
            return found
        for name, newer in learnt.items():
            _set_shapes(protos[name], newer)


def _closure_definition(run, known, shapes):
    """The operators of a run as a graph of its own; fed tensors have nothing before them."""
    definition = graph_pb2.GraphDef()
    definition.versions.CopyFrom(run.graph.graph_def_versions)
    run.graph._copy_functions_to_graph_def(definition, 0)
    fed = {owner(name) for name in (*run.feeds, *run.connected)}
    for operator in run.graph.get_operations():
        name = operator.name
        if name not in run.operators and name not in fed:
            continue
        proto = definition.node.add()
        if name in fed and name not in run.operators:
            _make_source(proto, operator)
        else:
            proto.CopyFrom(operator.node_def)
            _cut_feeds(run, proto)
        proto.attr.pop("_class", None)  # may name operators that are not in the closure
        proto.device = ""
        _set_shapes(
            proto,
            [
                shapes.get(f"{name}:{number}", known.get(name, [None] * (number + 1))[number])
                for number in range(len(operator.outputs))
            ],
        )
    return definition


def _make_source(proto, operator):
    if len(operator.outputs) != 1:
        raise CannotInfer(f"`{operator.name}` is fed, and has {len(operator.outputs)} outputs")
    proto.name, proto.op = operator.name, "Placeholder"
    proto.attr["dtype"].type = operator.outputs[0].dtype.base_dtype.as_datatype_enum


def _cut_feeds(run, proto):
    """An operator that is both fed and run would otherwise join what the feed cut."""
    kept = [name for name in proto.input if owner(name) in run.operators or _is_fed(run, name)]
    if len(kept) != len(proto.input):
        raise CannotInfer(f"`{proto.name}` needs operators that are not in the run")


def _is_fed(run, name):
    tensor = name if ":" in name else name + ":0"
    return tensor in run.feeds or tensor in run.connected


def _set_shapes(proto, shapes):
    if not any(shape is not None for shape in shapes):
        return
    listed = proto.attr[_SHAPES].list
    del listed.shape[:]
    for shape in shapes:
        written = listed.shape.add()
        if shape is None:
            written.unknown_rank = True
        else:
            for size in shape:
                written.dim.add().size = -1 if size is None else size


def _open_ones(run, known):
    found = {}
    for operator in run.graph.get_operations():
        shapes = known.get(operator.name)
        if shapes is None:
            continue
        kinds = [tensor.dtype.base_dtype.name for tensor in operator.outputs]
        if any(_is_open(shape) and kind not in _OPAQUE for shape, kind in zip(shapes, kinds)):
            found[operator.name] = shapes
    return found


def _shape_in_graph(run, name):
    tensor = run.graph.get_tensor_by_name(name)
    return [] if tensor.dtype.base_dtype in (dtypes.resource, dtypes.variant) else shape_of(tensor)


def _is_open(shape):
    return shape is None or None in shape
