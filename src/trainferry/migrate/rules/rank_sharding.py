"""Give every rank its own part of the data.

With one process per device each process must read its own part, or all train on the same
samples. `dataset.shard` with the numbers of workers and GPUs of the original cluster gives all
ranks the same part; the numbers on the NPU are `get_rank_size()` and `get_rank_id()`, known after
the collective start.

    -dataset = dataset.shard(FLAGS.num_workers, FLAGS.worker_index)
    +dataset = dataset.shard(get_rank_size(), get_rank_id())

By hand: always; whether a `shard` means ranks or only every n-th sample is not certain from the
code, and the second must stay.
Told too: `shard` with the numbers of a strategy's input context. The strategy of the NPU has one
pipeline per process, so these are 1 and 0 on every rank; without a strategy there is no context.
Not touched: `shard` with a number written out (every n-th sample), with the numbers of Horovod,
which are replaced where they come from, and with the adapter's own; projects for one device.

Source: Ascend TF Adapter 1.x migration guide, distributed training, data sharding.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from trainferry.migrate.file import File, ProjectFiles
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, on_call, on_file
from trainferry.migrate.rules._dataflow import constant, only_value, text_in_line
from trainferry.migrate.rules._feeding import feeds_training
from trainferry.migrate.rules._npu import is_distributed

CONCERN = Concern.DISTRIBUTED

_SHARD = "`dataset.shard(get_rank_size(), get_rank_id())`"
_FROM = "(`from hccl.manage.api import get_rank_id, get_rank_size`)"
_RANK_CALLS = frozenset(("size", "rank", "local_size", "local_rank"))
_SAMPLING = re.compile(r"sample|every|_of_|fold|split|stride|skip", re.IGNORECASE)
_SOURCES = frozenset(
    (
        "tf.data.Dataset.list_files",
        "tf.data.FixedLengthRecordDataset",
        "tf.data.TFRecordDataset",
        "tf.data.TextLineDataset",
        "tf.data.Dataset.from_tensor_slices",
        "tf.data.Dataset.from_generator",
    )
)


@on_call("tf.data.Dataset.shard")
def rank_sharding(call: Call, file: File) -> Iterator[Finding]:
    number, index = call.argument(0, "num_shards"), call.argument(1, "index")
    if number is None or index is None or not is_distributed(file.project):
        return
    if _is_sampling(file, number, index) or _is_by_rank(file, number, index):
        return
    if _is_of_strategy(number):
        message = (
            "every rank has one pipeline of its own here, so this takes no part: write "
            f"{_SHARD} {_FROM}, also where no context is passed"
        )
        yield Finding(call, Outcome.BY_HAND, message)
        return
    message = (
        f"if `{text_in_line(file, number)}` and `{text_in_line(file, index)}` tell the ranks "
        f"apart, write {_SHARD} {_FROM}; if they choose a part of the samples, leave them"
    )
    yield Finding(call, Outcome.BY_HAND, message)


@on_file
def missing_shard(file: File) -> Iterator[Finding]:
    if file.options.distributed != "hccl" or _shards(file.project):
        return
    seen: set[ast.AST | None] = set()
    for call in file.calls:
        function = file.function(call.node)
        is_source = call.name in _SOURCES and function not in seen
        if is_source and feeds_training(file, call.node):
            seen.add(function)
            message = f"every rank reads all of this data: put {_SHARD} behind it {_FROM}"
            yield Finding(call, Outcome.BY_HAND, message)


def _is_sampling(file: File, number: ast.expr, index: ast.expr) -> bool:
    """Whether it takes every n-th sample: a rank is never written as a number."""
    if isinstance(constant(number), int) or isinstance(constant(index), int):
        return True
    return bool(_SAMPLING.search(file.text(number)))


def _is_by_rank(file: File, *numbers: ast.expr) -> bool:
    """Whether the numbers come from Horovod, a wrapper of it, or the adapter."""
    for number in numbers:
        value = only_value(file, number) if isinstance(number, ast.Name) else number
        if value is not None and any(_is_rank(file, node) for node in ast.walk(value)):
            return True
    return False


def _is_rank(file: File, node: ast.AST) -> bool:
    if isinstance(node, ast.Call) and not (node.args or node.keywords):
        return isinstance(node.func, ast.Attribute) and node.func.attr in _RANK_CALLS
    if not isinstance(node, ast.Name | ast.Attribute):
        return False
    name = file.full_name(node) or ""
    return name.startswith(("horovod.", "hccl.", "npu_bridge."))


def _is_of_strategy(number: ast.expr) -> bool:
    return isinstance(number, ast.Attribute) and number.attr == "num_input_pipelines"


def _shards(project: ProjectFiles) -> bool:
    """Whether the project takes parts of its data anywhere, not counting every n-th sample."""
    for file in project.files:
        for call in file.method_calls("shard"):
            number, index = call.argument(0, "num_shards"), call.argument(1, "index")
            if number is None or index is None or not _is_sampling(file, number, index):
                return True
    return False
