"""Find sparse tensors in the model.

A sparse tensor holds another number of values in each batch, so what is computed from it has
no fixed shape: the NPU compiles anew, or cannot. Of some sparse operators the vendor's list says
both that they run and that they do not. Dense tensors of a fixed length, with the lengths
beside them, are the known way.

    -ids = tf.sparse_placeholder(tf.int32)
    +ids = tf.placeholder(tf.int32, [batch_size, longest])

In a project that multiplies sparse matrices, as networks on graphs do, dense ones are told instead.

By hand: always. Not told: sparse features in input pipelines, which stay on the host.

Source: Ascend TF Adapter 1.15 API list of 2026-07; the vendor's own port of a CRNN.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, on_call
from trainferry.migrate.rules._device_code import is_on_device
from trainferry.migrate.support import Verdict, verdict

CONCERN = Concern.RUN

_MAKERS = (
    "tf.SparseTensor",
    "tf.sparse.SparseTensor",
    "tf.sparse_placeholder",
    "tf.sparse.placeholder",
    "tf.sparse.from_dense",
    "tf.contrib.layers.dense_to_sparse",
)
_OLD_NAMES = (
    "add",
    "mask",
    "reduce_max",
    "reduce_sum",
    "segment_mean",
    "segment_sum",
    "split",
)
_PRODUCTS = frozenset(
    ("tf.sparse_tensor_dense_matmul", "tf.sparse.matmul", "tf.sparse.sparse_dense_matmul")
)
_SEQUENCE = (
    "the number of its values changes from batch to batch: use a dense tensor of fixed length "
    "with the lengths beside it, or keep it in the input pipeline"
)
_MATRIX = (
    "where it is a matrix with another number of values in each step, use a dense one and "
    "`tf.matmul`; one that is always the same may run as it is"
)
_TOLD = (Verdict.DISPUTED, Verdict.UNSUPPORTED)


@on_call(*_MAKERS)
def sparse_tensor(call: Call, file: File) -> Iterator[Finding]:
    if is_on_device(file, call.node):
        is_matrix = not file.project.used.isdisjoint(_PRODUCTS)
        yield Finding(call, Outcome.BY_HAND, _MATRIX if is_matrix else _SEQUENCE)


@on_call(
    "tf.sparse.*",
    "tf.nn.embedding_lookup_sparse",
    *(f"tf.sparse_{name}" for name in _OLD_NAMES),
)
def sparse_operator(call: Call, file: File) -> Iterator[Finding]:
    name = call.name.replace("tf.sparse_", "tf.sparse.")
    if name in _MAKERS or verdict(name).verdict not in _TOLD:
        return
    if is_on_device(file, call.node):
        yield Finding(
            call,
            Outcome.BY_HAND,
            "the vendor's list says both that it runs and that it does not: compute it in the "
            "input pipeline, or with dense tensors",
        )
