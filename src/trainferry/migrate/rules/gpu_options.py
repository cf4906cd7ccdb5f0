"""Take away GPU options that would fail, and tell of those without effect.

An NPU ignores `gpu_options`, `device_count={"GPU": n}`, `CUDA_VISIBLE_DEVICES` and the like:
they may stay, and one note per file says which there are. The NPU of a process is the one of
`ASCEND_DEVICE_ID`, set where the process is started. A `visible_device_list` that asks Horovod
for its rank goes, because Horovod goes.

    -config.gpu_options.visible_device_list = str(hvd.local_rank())

By hand: such a list in a place that cannot be taken away whole.

Not touched: options without effect, and with `--distributed none` also the list.

Source: Ascend TF Adapter 1.x migration guide.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_file
from trainferry.migrate.rules._gpu import (
    CONFIGS,
    GPU_OPTIONS,
    environment,
    option_stores,
    visible_device_keywords,
)
from trainferry.migrate.rules._host_sessions import hides_gpus, is_in_test
from trainferry.migrate.statements import remove_statement

CONCERN = Concern.TIDY

_VARIABLES = ("CUDA_", "TF_GPU_", "TF_CUDNN_", "TF_ENABLE_WINOGRAD", "TF_FORCE_GPU_")
_RANKS = frozenset(("local_rank", "local_rank_id", "rank", "rank_id"))
_GONE = "the launcher chooses the NPU of a process with `ASCEND_DEVICE_ID`"


@on_file
def tell_options(file: File) -> Iterator[Finding]:
    found = sorted(_without_effect(file), key=lambda one: file.source.span(one[0]))
    if not found or is_in_test(file, found[0][0]):
        return
    names = list(dict.fromkeys(f"`{name}`" for _, name in found))
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    verb = "has" if len(names) == 1 else "have"
    message = f"{listed} {verb} no effect on an NPU"
    if any("CUDA_VISIBLE_DEVICES" in name for name in names):
        message += ": choose the device with `ASCEND_DEVICE_ID` where the process is started"
    else:
        message += " and may go"
    yield Finding(Spot(file.source, found[0][0]), Outcome.BY_HAND, message)


@on_file
def remove_ranks(file: File) -> Iterator[Finding]:
    if file.options.distributed == "none":
        return
    for store, name in option_stores(file, "gpu_options"):
        if name == "visible_device_list" and _asks_for_rank(file, store.value):
            place = Spot(file.source, store)
            edit = remove_statement(file, store)
            if edit is None:
                message = f"remove this assignment: {_GONE}"
                yield Finding(place, Outcome.BY_HAND, message, concern=Concern.DISTRIBUTED)
            else:
                yield Finding(place, Outcome.CHANGED, _GONE, (edit,), concern=Concern.DISTRIBUTED)
    for call, keyword in visible_device_keywords(file):
        if _asks_for_rank(file, keyword.value):
            edits = (call.remove_argument(keyword),)
            yield Finding(call, Outcome.CHANGED, _GONE, edits, concern=Concern.DISTRIBUTED)


def _asks_for_rank(file: File, value: ast.expr) -> bool:
    """`str(hvd.local_rank())`, also through the project's own module or with the adapter's name."""
    for one in ast.walk(value):
        if isinstance(one, ast.Name) and "hvd" in one.id:
            return True
        if isinstance(one, ast.Call):
            function = file.text(one.func).rpartition(".")[2]
            if function.removeprefix("get_").removeprefix("npu_") in _RANKS:
                return True
    return False


def _without_effect(file: File) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    for store, name in option_stores(file, "gpu_options"):
        if name != "visible_device_list":
            yield store, f"gpu_options.{name}"
    for call in file.calls_of(*GPU_OPTIONS):
        yield call.node, "GPUOptions"
    for call in file.calls_of(*CONFIGS):
        count = call.keyword("device_count")
        # A count of 0 is about where the session runs: `session_on_npu` speaks of it.
        if count is not None and "GPU" in file.text(count.value) and not hides_gpus(call.node):
            yield call.node, "device_count"
    for variable in environment(file):
        if variable.name.startswith(_VARIABLES):
            yield variable.node, variable.name
