"""Tell what becomes of parameter servers.

Workers on NPUs exchange gradients among themselves, so most programs need no parameter server:
one process per device, with optimizers that reduce gradients. Where servers must stay, only the
adapter's Estimator can use them.

    -server = tf.train.Server(cluster, job_name="worker", task_index=0)

A cluster with servers that is put into `TF_CONFIG`, which Estimators read, is told as well.

By hand: all of it.
Not touched: with `--distributed none`, and unit tests.

Source: Ascend TF Adapter 1.x migration guide, "Data parallelism with PS-Worker".
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_call, on_file
from trainferry.migrate.rules._dataflow import constant
from trainferry.migrate.rules._host_sessions import is_in_test

CONCERN = Concern.DISTRIBUTED

_MESSAGES = {
    "tf.train.Server": "start one process per NPU with HCCL and wrap the optimizers "
    "(`--distributed hccl`) instead of servers; to keep servers, use `NPUEstimator` with "
    "`NPURunConfig(distribute=ParameterServerStrategy(), mix_compile_mode=True, "
    "iterations_per_loop=1)` and `TF_CONFIG`",
    "tf.train.replica_device_setter": "there are no servers to put variables on with HCCL: remove "
    "this placement, so that every process has its own variables",
}


@on_call(*_MESSAGES, "tf.distribute.Server")
def parameter_servers(call: Call, file: File) -> Iterator[Finding]:
    if file.options.distributed != "none" and not is_in_test(file, call.node):
        message = _MESSAGES.get(call.name, _MESSAGES["tf.train.Server"])
        yield Finding(call, Outcome.BY_HAND, message)


@on_file
def servers_in_environment(file: File) -> Iterator[Finding]:
    names_servers = any(one.value == "ps" for one in file.nodes(ast.Constant))
    if file.options.distributed == "none" or not names_servers:
        return
    for one in file.nodes(ast.Subscript):
        is_set = isinstance(one.ctx, ast.Store) and file.full_name(one.value) == "os.environ"
        if is_set and constant(one.slice) == "TF_CONFIG" and not is_in_test(file, one):
            yield Finding(Spot(file.source, one), Outcome.BY_HAND, _MESSAGES["tf.train.Server"])
            return
