"""Tells whether a run trains: it changes trainable variables by gradients."""

import re

from .index import owner, tensor_name
from .losses import gradients_of

_APPLY = re.compile(r"(Resource)?(Sparse)?Apply[A-Z]")
_ASSIGN = re.compile(
    r"((Resource)?Scatter(Nd)?|Assign)(Add|Sub|Update)?$|Assign(Add|Sub)?VariableOp$"
)
_BETWEEN = {"Identity", "Enter", "RefEnter", "Switch", "RefSwitch", "RefIdentity"}


def is_train_run(graph, index, operators, feeds):
    """Whether one of `operators`, the closure of a run, is the update of an optimizer."""
    functions = []
    assigns = []
    for name in operators:
        node = index.nodes[name]
        if _APPLY.match(node.kind):
            return True
        if _ASSIGN.match(node.kind):
            assigns.append(node)
        functions += node.functions
    if any(_APPLY.match(kind) for kind in index.kinds_called(graph, set(functions))):
        return True
    return bool(assigns) and _assigns_gradients(graph, index, assigns, feeds)


def _assigns_gradients(graph, index, assigns, feeds):
    """Optimizers written by hand assign what they computed from gradients."""
    gradients = {gradient.op.name for record in gradients_of(graph) for _, gradient in record.pairs}
    if not gradients:
        return False
    trained = {variable.op.name for variable in graph.get_collection("trainable_variables")}
    values = [
        tensor_name(source)
        for node in assigns
        if _variable(index, node) in trained
        for source in node.inputs[1:]
        if source[0] != "^"
    ]
    return not gradients.isdisjoint(index.closure(values, feeds))


def _variable(index, node):
    name = owner(node.inputs[0])
    while index.nodes[name].kind in _BETWEEN:
        name = owner(index.nodes[name].inputs[0])
    return name
