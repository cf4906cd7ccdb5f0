"""Unknown dimensions, followed to the operators they come from."""

from __future__ import annotations

from trainferry.rehearse.facts import Operator, Shape
from trainferry.rehearse.tracing.rank import TrainStep, is_open

QUEUES = (
    "QueueDequeue",
    "QueueDequeueV2",
    "QueueDequeueMany",
    "QueueDequeueManyV2",
    "QueueDequeueUpTo",
    "QueueDequeueUpToV2",
)
# How many elements come out depends on the values that go in.
DATA_DEPENDENT = frozenset(
    {
        "Where",
        "Unique",
        "UniqueV2",
        "UniqueWithCounts",
        "UniqueWithCountsV2",
        "ListDiff",
        "NonMaxSuppression",
        "NonMaxSuppressionV2",
        "NonMaxSuppressionV3",
        "NonMaxSuppressionWithOverlaps",
        "DynamicPartition",
        "DeserializeSparse",
        "DeserializeManySparse",
        "ParseExample",
        "ParseSingleExample",
        "CTCGreedyDecoder",
        "CTCBeamSearchDecoder",
        "DenseToDenseSetOperation",
        "DenseToSparseSetOperation",
        "SparseToSparseSetOperation",
        "SparseFillEmptyRows",
        "SparseSlice",
        "SparseConcat",
        "StringSplit",
        "StringSplitV2",
        "RaggedRange",
        "RaggedTensorToSparse",
    }
)
# Shapes that Python knows are lost here when a graph is inferred anew.
_HIDES = (
    *QUEUES,
    "Exit",
    "RefExit",
    "TensorArrayGatherV3",
    "TensorArrayReadV3",
    "TensorArrayConcatV3",
)


def shape_text(shape: Shape) -> str:
    """`[32, ?, 3]`; `[...]` where not even the rank is known."""
    if shape is None:
        return "[...]"
    return f"[{', '.join('?' if size is None else str(size) for size in shape)}]"


def open_inputs(step: TrainStep) -> list[Operator]:
    """Inputs of a train step that leave a dimension open.

    A variant holds a sparse or ragged tensor, which no full shape would mend: another check tells.
    """
    return [
        one
        for one in step.inputs
        if any(is_open(output.shape) for output in one.outputs if output.dtype != "variant")
    ]


def lost_dimensions(step: TrainStep) -> list[Operator]:
    """The operators at which dimensions are lost although the shapes of all inputs are known.

    What loops, queues and data-dependent operators hide is told of as such, and not counted here.
    """
    opened = step.still_open
    if not opened:
        return []
    clouded = _behind_others(step)
    return [
        one
        for one in step.main
        if one.name in opened
        and one.name not in clouded
        and not any(name in opened for name in step.graph.inputs_of(one))
    ]


def _behind_others(step: TrainStep) -> set[str]:
    todo = [
        one
        for one in step.main
        if one.name in step.inside_loops or one.kind in _HIDES or one.kind in DATA_DEPENDENT
    ]
    clouded = {one.name for one in todo}
    while todo:
        for reader in step.graph.readers(todo.pop()):
            if reader.name not in clouded:
                clouded.add(reader.name)
                todo.append(reader)
    return clouded
