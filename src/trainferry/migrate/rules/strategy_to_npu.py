"""Replace TensorFlow's strategies by the strategy of the NPU.

On NPUs every device has a process of its own, so a strategy no longer lists devices.
`NPUStrategy` counts the processes as replicas. It gives each its share only of a dataset that the
program itself distributes with the strategy: the input of an Estimator has to be sharded. Gradients
are reduced by the optimizers, which another rule wraps.

    -strategy = tf.distribute.MirroredStrategy(devices=["/gpu:0", "/gpu:1"])
    +strategy = npu_strategy.NPUStrategy()

By hand: strategies for one device, for parameter servers, for central storage and for TPUs, each
with its own way; classes that are passed on without being called.
Not touched: with `--distributed none` or `horovod`; a project's own function that chooses a
strategy keeps its name and is migrated inside.

Source: Ascend TF Adapter 1.x migration guide, distributed training; TF Adapter 1.15,
npu_bridge/estimator/npu/npu_strategy.py, `NPUStrategy`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.edit import Edit
from trainferry.migrate.file import File, ProjectFiles
from trainferry.migrate.find import Call
from trainferry.migrate.rule import (
    Concern,
    Finding,
    Outcome,
    Spot,
    on_call,
    on_name,
    on_project,
)
from trainferry.migrate.rules._distributed import MIRRORED, first_use, imports_of, wants_strategy

CONCERN = Concern.DISTRIBUTED

_OTHERS = {
    "OneDeviceStrategy": "every process has one device: use `npu_strategy.NPUStrategy()` here too, "
    "or no strategy at all where the project always runs on one device",
    "CentralStorageStrategy": "variables cannot stay on the host: use "
    "`npu_strategy.NPUStrategy()`, one process per device",
    "TPUStrategy": "use `npu_strategy.NPUStrategy()`, and remove what connects to the TPU",
    "ParameterServerStrategy": "parameter servers work with `NPUEstimator` only: give the strategy "
    "to `NPURunConfig(distribute=..., mix_compile_mode=True, iterations_per_loop=1)`, with "
    "`TF_CONFIG` and one worker per device; or use `npu_strategy.NPUStrategy()` without servers",
}
_OTHER_NAMES = tuple(
    f"{module}.{name}"
    for module in (
        "tf.distribute",
        "tf.distribute.experimental",
        "tf.contrib.distribute",
        "tf.compat.v2.distribute",
        "tf.compat.v2.distribute.experimental",
    )
    for name in _OTHERS
)


@on_project
def strategy_is_left(project: ProjectFiles) -> Iterator[Finding]:
    found = None if wants_strategy(project.options) else first_use(project, MIRRORED)
    if found is not None:
        message = f"strategies are left, as `--distributed {project.options.distributed}` asks"
        yield Finding(Spot(found[0].source, found[1]), Outcome.BY_HAND, message)


@on_call(*MIRRORED)
def strategy_to_npu(call: Call, file: File) -> Iterator[Finding]:
    if not wants_strategy(file.options):
        return
    if call.has_star_arguments or call.name.endswith(".DistributionStrategy"):
        yield Finding(call, Outcome.BY_HAND, "write `npu_strategy.NPUStrategy()`")
        return
    is_plain = not call.node.args and not call.node.keywords
    message = "start one process per device, with the batch of one"
    if not is_plain:
        message += "; the list of devices and how they reduce are dropped"
    message += (
        "; an `input_fn` is not sharded by it: write "
        "`dataset.shard(get_npu_rank_size(), get_npu_rank_id())` there"
    )
    edit = Edit(*file.source.span(call.node), "npu_strategy.NPUStrategy()")
    yield Finding(call, Outcome.CHECK, message, (edit,), imports_of("npu_strategy"))


@on_call(*_OTHER_NAMES)
def other_strategy(call: Call, file: File) -> Iterator[Finding]:
    if wants_strategy(file.options):
        yield Finding(call, Outcome.BY_HAND, _OTHERS[call.name.rpartition(".")[2]])


@on_name(*MIRRORED, *_OTHER_NAMES)
def strategy_class(spot: Spot, name: str, file: File) -> Iterator[Finding]:
    above = file.parent(spot.node)
    if isinstance(above, ast.Call) and above.func is spot.node:
        return
    if wants_strategy(file.options):
        last = name.rpartition(".")[2]
        message = f"`{last}` is `npu_strategy.NPUStrategy` on NPUs, which takes no devices"
        yield Finding(spot, Outcome.BY_HAND, message)
