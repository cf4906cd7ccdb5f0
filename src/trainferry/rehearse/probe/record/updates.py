"""Finds the variables that a train step updates, and the gradients it updates them with."""

from tensorflow.python.framework import ops

_GRADIENTS = ("grad", "delta")
_VARIABLES = ("VarHandleOp", "VariableV2", "Variable", "VarIsInitializedOp")
# They hand on what they are given.
_PASSED = ("Switch", "RefSwitch", "Identity", "RefIdentity", "Enter", "RefEnter", "ReadVariableOp")


class Update:
    """A variable's name, its gradient as tensor or slices, and where that was found.

    `applied` is what the optimizer applies: after unscaling, clipping and averaging. `computed`
    is what `tf.gradients` gave, for optimizers made of plain arithmetic.
    """

    def __init__(self, name, values, rows, found):
        self.name = name
        self.values = values
        self.rows = rows
        self.found = found


def find_updates(run):
    """The updates of a kind of train step, by variable, in the order of the variables."""
    found = {}
    for name, values, rows in _computed(run):
        found[name] = Update(name, values, rows, "computed")
    for name, values, rows in _applied(run):
        found[name] = Update(name, values, rows, "applied")
    order = {op.name: place for place, op in enumerate(run.graph.get_operations())}
    return sorted(found.values(), key=lambda update: order.get(update.name, 0))


def _applied(run):
    for op in run.graph.get_operations():
        if op.name not in run.operators or "Apply" not in op.type:
            continue
        inputs = _inputs(op)
        gradient = next((inputs[name] for name in _GRADIENTS if name in inputs), None)
        name = variable_of(inputs["var"]) if "var" in inputs else None
        if name is None or gradient is None:
            continue
        values = _outside(gradient, run)
        rows = _outside(inputs["indices"], run) if "indices" in inputs else None
        if values is not None and ("indices" not in inputs or rows is not None):
            yield name, values, rows


def _computed(run):
    for x, gradient in run.gradients:
        name = variable_of(x)
        if name is None or gradient is None:
            continue
        if isinstance(gradient, ops.IndexedSlices):
            values, rows = gradient.values, gradient.indices
        else:
            values, rows = gradient, None
        if run.can_fetch(values) and (rows is None or run.can_fetch(rows)):
            yield name, values, rows


def _inputs(op):
    """The inputs of an operator that takes no lists, by name."""
    names = [argument.name for argument in op.op_def.input_arg]
    return dict(zip(names, op.inputs)) if len(names) == len(op.inputs) else {}


def variable_of(thing):
    """The name of the variable that a variable, its handle or its value belongs to, or None."""
    op = getattr(thing, "op", None)
    while op is not None:
        if op.type in _VARIABLES:
            return op.name
        if op.type not in _PASSED:
            return None
        op = op.inputs[0].op
    return None


def _outside(tensor, run):
    """The tensor itself, or where it enters the branch of a condition from; None in a loop."""
    while not run.can_fetch(tensor):
        if tensor.op.type not in ("Switch", "Identity"):
            return None
        tensor = tensor.op.inputs[0]
    return tensor
