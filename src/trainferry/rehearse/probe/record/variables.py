"""The variables of a graph, by name."""

from tensorflow.python.distribute import values as distributed
from tensorflow.python.framework import errors, ops

_OLD = hasattr(distributed.DistributedValues, "primary")  # TensorFlow 1


def by_name(graph):
    """All variables that a checkpoint would hold, in the order in which they were made."""
    found = {}
    for variable in graph.get_collection(ops.GraphKeys.GLOBAL_VARIABLES):
        found.setdefault(variable.op.name, _plain(variable))
    return found


def _plain(variable):
    """A strategy keeps a copy for each device, and adds operators to read them all: take one."""
    if isinstance(variable, distributed.DistributedValues):
        return variable.primary if _OLD else variable._primary
    return variable


def trainable(graph):
    """The names of those that optimizers train by default."""
    known = by_name(graph)
    collected = graph.get_collection(ops.GraphKeys.TRAINABLE_VARIABLES)
    return [name for name in dict.fromkeys(one.op.name for one in collected) if name in known]


def kinds(graph):
    """{name: [dtype, shape]} as the graph knows them."""
    return {
        name: [variable.dtype.base_dtype.name, _shape(variable)]
        for name, variable in by_name(graph).items()
    }


def _shape(variable):
    return None if variable.shape.ndims is None else variable.shape.as_list()


def read_all(step):
    """{name: (variable, value)} of all variables that have a value."""
    found = by_name(step.run.graph)
    try:
        values = step.read(list(found.values()))
    except errors.FailedPreconditionError:
        return _read_each(step, found)
    return dict(zip(found, zip(found.values(), values)))


def _read_each(step, variables):
    found = {}
    for name, variable in variables.items():
        value = _read_one(step, variable)
        if value is not None:
            found[name] = variable, value
    return found


def _read_one(step, variable):
    try:
        return step.read(variable)
    except errors.FailedPreconditionError:
        return None  # nothing has initialised it, so no step reads it
