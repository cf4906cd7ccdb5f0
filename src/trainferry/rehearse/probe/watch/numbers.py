"""Works out numbers that nothing but shapes decides, as the compiler of a device does.

TensorFlow's own inference gives some of them up, such as the place where U-Net crops its features,
`(tf.shape(x)[1] - tf.shape(y)[1]) // 2`. They are written into the graph as constants.
"""

import numpy
from tensorflow.python.framework import dtypes, tensor_util

from .index import owner

_MOST = 64  # shapes and places are short
_DEEPEST = 100
_NAMED = {"Shape": "out_type", "Size": "out_type", "Cast": "DstT", "Rank": ""}
_OF_TWO = {
    "Add": numpy.add,
    "AddV2": numpy.add,
    "Sub": numpy.subtract,
    "Mul": numpy.multiply,
    "FloorDiv": numpy.floor_divide,
    "FloorMod": numpy.mod,
    "Maximum": numpy.maximum,
    "Minimum": numpy.minimum,
}
_DIVIDE = ("FloorDiv", "FloorMod")
_NOT_SLICED = ("ellipsis_mask", "new_axis_mask")


class Numbers:
    """The numbers of a graph whose operators have the shapes `found`."""

    def __init__(self, protos, found):
        self._protos = protos
        self._found = found
        self._known = {}

    def of(self, tensor, left=_DEEPEST):
        """The value of a tensor of whole numbers; None where shapes do not decide it."""
        if tensor.startswith("^") or left == 0:
            return None
        if tensor not in self._known:
            self._known[tensor] = None  # while it is asked for, in a loop
            self._known[tensor] = self._worked_out(tensor, left - 1)
        return self._known[tensor]

    def _worked_out(self, tensor, left):
        proto = self._protos.get(owner(tensor))
        if proto is None:
            return None
        inputs = [name for name in proto.input if not name.startswith("^")]
        if proto.op in ("Shape", "ShapeN", "Size", "Rank"):
            return self._of_shape(proto.op, inputs[_number(tensor)])
        if proto.op == "Const":
            return _constant(proto)
        if proto.op == "Unpack":
            whole = self.of(inputs[0], left)
            is_row = whole is not None and whole.ndim == 1
            return numpy.array(whole[_number(tensor)]) if is_row else None
        work = _WORK.get(proto.op)
        if work is None:
            return None
        values = [self.of(name, left) for name in inputs]
        if any(value is None for value in values) or (proto.op in _DIVIDE and not values[1].all()):
            return None
        return work(proto, values)

    def _of_shape(self, kind, tensor):
        shapes = self._found.get(owner(tensor))
        shape = None if shapes is None else shapes[_number(tensor)]
        if shape is None:
            return None
        if kind == "Rank":
            return numpy.array(len(shape), numpy.int32)
        if None in shape:
            return None
        return numpy.array(numpy.prod(shape) if kind == "Size" else shape, numpy.int64)


def write_constants(protos, found, names):
    """Make constants of numbers that operators with open outputs need; whether there were any."""
    numbers = Numbers(protos, found)
    has_written = False
    for name in names:
        if any(shape is None or None in shape for shape in found[name]):
            for tensor in protos[name].input:
                has_written |= _write(protos, tensor, numbers, found)
    return has_written


def _write(protos, tensor, numbers, found):
    proto = protos.get(owner(tensor))
    if proto is None or proto.op == "Const" or len(found.get(proto.name, ())) != 1:
        return False
    value = numbers.of(tensor)
    if value is None:
        return False
    named = _NAMED.get(proto.op, "T")
    kind = proto.attr[named].type if named in proto.attr else dtypes.int32.as_datatype_enum
    text = tensor_util.make_tensor_proto(value, dtype=kind, shape=value.shape)
    proto.op = "Const"
    del proto.input[:]
    for key in list(proto.attr):
        del proto.attr[key]
    proto.attr["dtype"].type = kind
    proto.attr["value"].tensor.CopyFrom(text)
    return True


def _number(tensor):
    return int(tensor.partition(":")[2] or 0)


def _constant(proto):
    text = proto.attr["value"].tensor
    dtype = dtypes.as_dtype(text.dtype)
    count = numpy.prod([one.size for one in text.tensor_shape.dim])
    return tensor_util.MakeNdarray(text) if dtype.is_integer and count <= _MOST else None


def _sliced(proto, values):
    value, begin, end, strides = values
    if value.ndim != 1 or len(begin) != 1 or any(proto.attr[one].i for one in _NOT_SLICED):
        return None
    if proto.attr["shrink_axis_mask"].i & 1:
        return numpy.array(value[int(begin[0])])
    first = None if proto.attr["begin_mask"].i & 1 else int(begin[0])
    last = None if proto.attr["end_mask"].i & 1 else int(end[0])
    return value[first : last : int(strides[0])]


def _cast(proto, values):
    dtype = dtypes.as_dtype(proto.attr["DstT"].type)
    return values[0].astype(dtype.as_numpy_dtype) if dtype.is_integer else None


def _reduced(how):
    def work(_, values):
        return numpy.array(how(values[0])) if values[0].ndim == 1 else None

    return work


_WORK = {
    "Cast": _cast,
    "ConcatV2": lambda _, values: numpy.concatenate(values[:-1], axis=int(values[-1])),
    "ExpandDims": lambda _, values: numpy.expand_dims(values[0], int(values[1])),
    "Identity": lambda _, values: values[0],
    "Neg": lambda _, values: -values[0],
    "Pack": lambda proto, values: numpy.stack(values, axis=proto.attr["axis"].i),
    "Prod": _reduced(numpy.prod),
    "StridedSlice": _sliced,
    **{kind: lambda _, values, how=how: how(*values) for kind, how in _OF_TWO.items()},
}
