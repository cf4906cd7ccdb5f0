"""Replace what only a TPU has.

The functions of `tf.contrib.tpu` and `tf.tpu` split, compile and feed a program for TPU cores;
there is nothing for them on an NPU host. Code that runs only under a test of a TPU flag, such as
`if FLAGS.use_tpu:`, can stay.

    -optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
    +optimizer = npu_distributed_optimizer_wrapper(optimizer)

By hand: always. All places of a file that defines a `TPUEstimator` of its own, a copied
`tpu_estimator.py`, are told with one sentence: take TensorFlow's, and leave the copy out.

Not touched: `TPUEstimator`, `TPUEstimatorSpec`, `TPUConfig` and the run configuration, which
work without a TPU.

Source: Ascend TF Adapter 1.x migration guide, unsupported APIs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, on_call
from trainferry.migrate.rules._estimators import is_tpu_copy
from trainferry.migrate.rules._host_sessions import is_in_test
from trainferry.migrate.rules._npu import called

CONCERN = Concern.RUN
_CAN_STAY = frozenset(
    ("RunConfig", "TPUConfig", "InputPipelineConfig", "TPUEstimator", "TPUEstimatorSpec")
)
_COMPILED = "call the function itself: the whole graph is compiled for the NPU"
_FEED = "feed the model from a `tf.data` pipeline; an NPU has no such queue"
_ADVICE = {
    "CrossShardOptimizer": (
        "use the inner optimizer itself, and for several devices "
        "`npu_distributed_optimizer_wrapper(optimizer)`"
    ),
    "bfloat16_scope": "remove the scope and choose a `precision_mode` for the session instead",
    "cross_replica_sum": 'write `hccl_ops.allreduce(x, "sum")`, or `x` itself for one device',
    "shard": "call the function itself on the batch of one device, one process per device",
    "batch_parallel": "call the function itself on the batch of one device, one process per device",
    "replicate": "call the function itself on the inputs of one device, one process per device",
    "rewrite": _COMPILED,
    "outside_compilation": (
        "call the function itself; use `npu_scope.without_npu_compile_scope()` around what must "
        "stay on the host"
    ),
    "core": "remove the scope: one process has one NPU",
    "while_loop": "write `tf.while_loop`",
    "repeat": "write `tf.while_loop`, or let the Estimator loop with `iterations_per_loop`",
    "initialize_system": "remove it; collective communication starts with `init_resource()`",
    "initialize_tpu_system": "remove it; collective communication starts with `init_resource()`",
    "shutdown_system": "remove it; collective communication ends with `shutdown_resource(…)`",
    "keras_to_tpu_model": "use the Keras model itself",
    "AsyncCheckpointSaverHook": "write `tf.train.CheckpointSaverHook(…)`",
    "StreamingFilesDataset": "read the files with `tf.data.TFRecordDataset`",
    "TPUClusterResolver": "leave it out, with the `cluster` or `master` that it is made for",
}
_COPY = (
    "this file defines a `TPUEstimator` of its own, and this is part of it: use "
    "`tf.contrib.tpu.TPUEstimator`, which other rules know, and leave the copy out"
)


@on_call(
    "tf.contrib.tpu.*",
    "tf.tpu.*",
    "tf.estimator.tpu.*",
    "tf.contrib.cluster_resolver.TPUClusterResolver",
    "tf.distribute.cluster_resolver.TPUClusterResolver",
)
def tpu_only(call: Call, file: File) -> Iterator[Finding]:
    name = call.name.rpartition(".")[2]
    if name in _CAN_STAY or "profiler" in call.name or _is_part_of_another(call, file):
        return
    if is_in_test(file, call.node) or _is_behind_a_switch(call, file):
        return
    if file.once(is_tpu_copy):
        yield Finding(call, Outcome.BY_HAND, _COPY)
        return
    advice = (
        _FEED if "feed" in name else _ADVICE.get(name, f"remove `{name}`, which is for TPUs only")
    )
    yield Finding(call, Outcome.BY_HAND, advice)


def _is_part_of_another(call: Call, file: File) -> bool:
    """`CrossShardOptimizer(opt).minimize(…)` is told once, at the inner call."""
    func = call.node.func
    return isinstance(func, ast.Attribute) and (called(file, func.value) or "").startswith("tf.")


def _is_behind_a_switch(call: Call, file: File) -> bool:
    below: ast.AST = call.node
    for above in file.parents(call.node):
        if isinstance(above, ast.If | ast.IfExp) and below is not above.test:
            test = file.text(above.test).lower()
            in_body = below is above.body if isinstance(above, ast.IfExp) else below in above.body
            if "tpu" in test and in_body and not test.startswith("not "):
                return True
        below = above
    return False
