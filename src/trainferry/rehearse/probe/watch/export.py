"""Writes the operators of a run, with the user's lines, as one JSON file."""

from tensorflow.python.framework import versions

from .facts_file import write_graph
from .index import Node, owner
from .places import line_of

# Not run in the step itself: what gives its iterators their data.
DATA = "@data"
# Not run either: what the script feeds, for its shapes and lines.
FED = "@feed"
_ITERATORS = ("IteratorV2", "Iterator")
_CHOSEN_LATER = "IteratorFromStringHandle"


def write_closure(graph, index, operators, feeds):
    """Write the operators `operators` of a graph and the bodies of the functions they call."""
    rows, functions = [], []
    data = _data_operators(index, operators) - operators
    fed = {owner(name) for name in feeds} - operators
    for operator in graph.get_operations():
        name = operator.name
        if name in fed:
            rows.append(_row(operator, index.nodes[name], FED))
        elif name in operators or name in data:
            node = index.nodes[name]
            rows.append(_row(operator, node, "" if name in operators else DATA))
            functions += node.functions
    rows += _bodies(graph, index, functions)
    return write_graph(
        {
            "version": graph.version,
            "producer": "tensorflow " + versions.VERSION,
            "feeds": list(feeds),
            "operators": rows,
        }
    )


def shape_of(tensor):
    """The shape of a tensor as a list with None for what is open; None without a rank."""
    shape = tensor.shape
    return None if shape.ndims is None else shape.as_list()


def _data_operators(index, operators):
    """What gives the iterators among `operators` their data."""
    kinds = {name: index.nodes[name].kind for name in operators}
    if any(kind.startswith(_CHOSEN_LATER) for kind in kinds.values()):
        iterators = list(index.makers)  # a feed says which one
    else:
        iterators = [name for name, kind in kinds.items() if kind in _ITERATORS]
    return index.closure(maker for name in iterators for maker in index.makers.get(name, ()))


def _row(operator, node, function):
    attributes = node.attributes
    forward = operator._original_op
    if forward is not None:
        attributes = dict(attributes, gradient_of=forward.name)
    return [
        operator.name,
        node.kind,
        line_of(operator),
        operator.device,
        list(node.inputs),
        [[tensor.dtype.base_dtype.name, shape_of(tensor)] for tensor in operator.outputs],
        attributes,
        node.stand_in,
        function,
    ]


def _bodies(graph, index, functions):
    rows, seen = [], set()
    while functions:
        name = functions.pop()
        if name in seen:
            continue
        seen.add(name)
        definition = graph._get_function(name)
        if definition is None:
            continue
        for row, node in _body(graph, name, definition):
            functions += node.functions
            rows.append(row)
    return rows


def _body(graph, name, definition):
    """The rows of a function's body, with their nodes."""
    body = _graph_of(definition)
    if body is not None:
        for operator in body.get_operations():
            node = Node(operator.node_def)
            yield _row(operator, node, name), node
        return
    # Only the definition is left of it, without lines and shapes.
    for proto in definition.definition.node_def:
        node = Node(proto)
        row = [proto.name, node.kind, "", proto.device, list(node.inputs), [], node.attributes]
        original = _original_of(graph, proto)
        if original is not None:
            row = _row(original, node, name)[:-2]
            row[0] = proto.name
        yield [*row, node.stand_in, name], node


def _original_of(graph, proto):
    """The operator of the graph that was copied into a function, as one-shot iterators do."""
    parts = proto.name.split("/")
    for first in range(len(parts)):
        try:
            operator = graph.get_operation_by_name("/".join(parts[first:]))
        except KeyError:
            continue
        if operator.type == proto.op:
            return operator
    return None


def _graph_of(function):
    try:
        return function.graph
    except AttributeError:  # an older kind of function
        return None
