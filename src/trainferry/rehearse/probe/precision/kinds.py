"""Kinds of operators that the device computes with 16 bits in its modes of lower precision."""

# The matrix unit: what they read is rounded too, weights among it.
MATRIX = frozenset(
    (
        "BatchMatMul",
        "BatchMatMulV2",
        "BatchMatMulV3",
        "Conv2D",
        "Conv2DBackpropFilter",
        "Conv2DBackpropInput",
        "Conv3D",
        "Conv3DBackpropFilterV2",
        "Conv3DBackpropInputV2",
        "DepthwiseConv2dNative",
        "DepthwiseConv2dNativeBackpropFilter",
        "DepthwiseConv2dNativeBackpropInput",
        "Einsum",
        "MatMul",
    )
)
VECTOR = frozenset(
    (
        "Add",
        "AddN",
        "AddV2",
        "AvgPool",
        "AvgPool3D",
        "AvgPool3DGrad",
        "AvgPoolGrad",
        "BiasAdd",
        "BiasAddGrad",
        "Div",
        "DivNoNan",
        "Elu",
        "EluGrad",
        "Erf",
        "Exp",
        "FusedBatchNorm",
        "FusedBatchNormGrad",
        "FusedBatchNormGradV2",
        "FusedBatchNormGradV3",
        "FusedBatchNormV2",
        "FusedBatchNormV3",
        "LeakyRelu",
        "LeakyReluGrad",
        "Log",
        "Log1p",
        "LogSoftmax",
        "MaxPool",
        "MaxPool3D",
        "MaxPool3DGrad",
        "MaxPoolGrad",
        "Maximum",
        "Mean",
        "Minimum",
        "Mul",
        "MulNoNan",
        "Neg",
        "Pow",
        "Prod",
        "RealDiv",
        "Reciprocal",
        "ReciprocalGrad",
        "Relu",
        "Relu6",
        "Relu6Grad",
        "ReluGrad",
        "Rsqrt",
        "RsqrtGrad",
        "Selu",
        "SeluGrad",
        "Sigmoid",
        "SigmoidGrad",
        "Softmax",
        "SoftmaxCrossEntropyWithLogits",
        "Softplus",
        "SoftplusGrad",
        "SparseSoftmaxCrossEntropyWithLogits",
        "Sqrt",
        "SqrtGrad",
        "Square",
        "SquaredDifference",
        "Sub",
        "Sum",
        "Tanh",
        "TanhGrad",
        "BlockLSTM",
        "BlockLSTMGrad",
    )
)
ROUNDED = MATRIX | VECTOR
# Only the first output is a value that is handed on; the others are statistics of 32 bits.
FIRST_ONLY = ("FusedBatchNorm", "FusedBatchNormGrad")


def outputs_of(op):
    """The outputs of an operator that are rounded."""
    outputs = op.outputs[:1] if op.type.startswith(FIRST_ONLY) else op.outputs
    return [output for output in outputs if is_rounded(output)]


def is_rounded(tensor):
    """Whether a tensor has 32 bits and is no scalar: these stay as they are."""
    return tensor.dtype.base_dtype.name == "float32" and tensor.shape.ndims != 0
