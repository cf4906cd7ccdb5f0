"""The few attributes of operators that checks ask for, as plain values."""

import zlib

from tensorflow.python.framework import dtypes, tensor_util

MARK = "_trainferry_stand_in"
_NOISE = {"_class", "_output_shapes", "_gradient_op_type", MARK, "_trainferry_place"}
_IMAGE = ("data_format", "strides", "padding", "ksize", "dilations")
_SEEDS = ("seed", "seed2")
_QUEUE = ("capacity", "shared_name")
_SMALL = 16  # numbers of a constant that are worth writing down
_CHOSEN = {
    "AvgPool": _IMAGE,
    "BiasAdd": _IMAGE,
    "Bitcast": ("type",),
    "Conv2D": _IMAGE,
    "Conv2DBackpropFilter": _IMAGE,
    "Conv2DBackpropInput": _IMAGE,
    "Conv3D": _IMAGE,
    "CropAndResize": ("method",),
    "CTCLoss": (
        "preprocess_collapse_repeated",
        "ctc_merge_repeated",
        "ignore_longer_outputs_than_inputs",
    ),
    "CudnnRNN": ("rnn_mode", "input_mode", "direction"),
    "DepthwiseConv2dNative": _IMAGE,
    "Enter": ("frame_name", "is_constant", "parallel_iterations"),
    "FIFOQueueV2": _QUEUE,
    "FusedBatchNorm": ("epsilon", "data_format", "is_training"),
    "FusedBatchNormV2": ("epsilon", "data_format", "is_training"),
    "FusedBatchNormV3": ("epsilon", "data_format", "is_training"),
    "IteratorV2": ("shared_name",),
    "MaxPool": _IMAGE,
    "MaxPoolWithArgmax": _IMAGE,
    "Multinomial": _SEEDS,
    "PaddingFIFOQueueV2": _QUEUE,
    "ParseExampleDataset": ("sparse_keys", "dense_keys"),
    "PyFunc": ("token",),
    "RandomShuffle": _SEEDS,
    "RandomShuffleQueueV2": (*_QUEUE, *_SEEDS, "min_after_dequeue"),
    "RandomStandardNormal": _SEEDS,
    "RandomUniform": _SEEDS,
    "RandomUniformInt": _SEEDS,
    "RefEnter": ("frame_name",),
    "ResizeBilinear": ("align_corners",),
    "Squeeze": ("squeeze_dims",),
    "StridedSlice": (
        "begin_mask",
        "end_mask",
        "ellipsis_mask",
        "new_axis_mask",
        "shrink_axis_mask",
    ),
    "TensorArrayV3": ("dynamic_size", "element_shape", "identical_element_shapes"),
    "TruncatedNormal": _SEEDS,
    "VarHandleOp": ("shared_name", "container"),
    "VariableV2": ("shared_name", "container"),
}


def read_attributes(node):
    """What a node says of itself: its attributes, its stand-in, the functions it calls."""
    found, stand_in, functions = {}, "", ()
    chosen = _CHOSEN.get(node.op, ())
    for name, value in node.attr.items():
        if name == MARK:
            stand_in = value.s.decode("utf-8")
        elif value.HasField("func"):
            found[name] = value.func.name
            functions += (value.func.name,)
        elif name in chosen or (name[0] == "_" and name not in _NOISE):
            found[name] = plain_value(value)
        elif name == "value" and node.op == "Const":
            _add_constant(found, value.tensor)
        elif name == "branches" and value.list.func:
            found[name] = [function.name for function in value.list.func]
            functions += tuple(found[name])
    return found, stand_in, functions


def plain_value(value):
    """An attribute, or an option of a session, as JSON can hold it; None where it cannot."""
    field = value.WhichOneof("value")
    if field == "s":
        return value.s.decode("utf-8", "replace")
    if field in ("b", "i", "f"):
        return getattr(value, field)
    if field == "type":
        return dtypes.as_dtype(value.type).name
    if field == "shape":
        return plain_shape(value.shape)
    if field == "list":
        return _plain_list(value.list)
    return None


def plain_shape(proto):
    """A shape as a list with None for what is open; None where even the rank is."""
    if proto.unknown_rank:
        return None
    return [None if part.size < 0 else part.size for part in proto.dim]


def _plain_list(values):
    if values.s:
        return [part.decode("utf-8", "replace") for part in values.s[:_SMALL]]
    if values.type:
        return [dtypes.as_dtype(part).name for part in values.type[:_SMALL]]
    if values.shape:
        return [plain_shape(part) for part in values.shape[:_SMALL]]
    return [*values.i[:_SMALL], *values.f[:_SMALL], *values.b[:_SMALL]]


def _add_constant(found, tensor):
    count = 1
    for part in tensor.tensor_shape.dim:
        count *= part.size
    if count <= _SMALL and tensor.dtype != dtypes.string.as_datatype_enum:
        found["value"] = tensor_util.MakeNdarray(tensor).tolist()
    elif count <= _SMALL:
        found["value"] = [part.decode("utf-8", "replace")[:80] for part in tensor.string_val]
    else:
        found["crc"] = zlib.crc32(tensor.SerializeToString())
