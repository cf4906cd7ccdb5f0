"""Take the strategy out of the configuration of an Estimator.

An Estimator that is given a strategy divides its loss by the number of replicas, because
TensorFlow's strategies add the gradients of all replicas up. On NPUs the wrapped optimizer takes
their mean, so with `NPUStrategy` the gradients would be divided twice: on eight devices a plain
SGD would learn at an eighth of its rate. Nothing else of the strategy is needed here.

    -config = tf.estimator.RunConfig(model_dir=folder, train_distribute=strategy)
    +config = tf.estimator.RunConfig(model_dir=folder)

By hand: strategies in a `DistributeConfig`, or given by place.
Not touched: with `--distributed none` or `horovod`; projects with parameter servers, whose
strategy has to stay.

Source: TF Adapter 1.15, npu_bridge/estimator/npu/npu_strategy.py, `NPUExtended`, and
npu_optimizer.py, `npu_distributed_optimizer_wrapper`; TensorFlow 1.15,
python/training/optimizer.py, `_scale_loss`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.file import File, ProjectFiles
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_call
from trainferry.migrate.rules._distributed import is_made_parallel, wants_strategy
from trainferry.migrate.rules._estimators import RUN_CONFIG_FIELDS, RUN_CONFIGS
from trainferry.migrate.rules._npu_estimators import is_chosen

CONCERN = Concern.DISTRIBUTED

_FIELDS = ("train_distribute", "eval_distribute")
_WHY = "an Estimator would divide the loss by the number of devices, the optimizer once more"


@on_call(*RUN_CONFIGS, "tf.estimator.RunConfig.replace")
def strategy_in_run_config(call: Call, file: File) -> Iterator[Finding]:
    if is_chosen(file) or not _is_parallel(file.project):
        return
    for keyword in map(call.keyword, _FIELDS):
        if keyword is not None and not _is_none(keyword.value):
            message = f"`{keyword.arg}` is left out: with it {_WHY}"
            spot = Spot(file.source, keyword)
            yield Finding(spot, Outcome.CHANGED, message, (call.remove_argument(keyword),))
    if len(call.node.args) > RUN_CONFIG_FIELDS.index(_FIELDS[0]):
        message = f"give None for `train_distribute`: with a strategy {_WHY}"
        yield Finding(call, Outcome.BY_HAND, message)


@on_call("tf.contrib.distribute.DistributeConfig")
def distribute_config(call: Call, file: File) -> Iterator[Finding]:
    if _is_parallel(file.project):
        message = f"leave it out of the configuration: with a strategy {_WHY}"
        yield Finding(call, Outcome.BY_HAND, message)


def _is_parallel(project: ProjectFiles) -> bool:
    if not wants_strategy(project.options) or not is_made_parallel(project):
        return False
    return not any(name.endswith(".ParameterServerStrategy") for name in project.used)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
