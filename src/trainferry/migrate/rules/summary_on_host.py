"""Bring summaries back from a loop on the device.

With `NPUEstimator` several steps run on the device before the host hears of them, and
`NPURunConfig` saves no summaries of its own. Summaries of a `model_fn` then reach a file only
through `host_call` of `NPUEstimatorSpec`.

    -tf.summary.scalar("loss", loss)
    -return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
    +return NPUEstimatorSpec(mode, loss=loss, train_op=train_op, host_call=(write, [loss]))

By hand: always; told once per file.

Not touched: projects with plain Estimators, whose summaries come back as ever.

Source: TF Adapter 1.15, npu_bridge/estimator/npu/npu_estimator.py, `NPUEstimatorSpec`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.migrate.file import File, Function, ProjectFiles
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, on_file
from trainferry.migrate.rules._npu import npu_name
from trainferry.migrate.rules._npu_estimators import is_chosen

CONCERN = Concern.TIDY
_SUMMARIES = ("scalar", "histogram", "image", "audio", "text", "tensor_summary")
_MODEL_ARGUMENTS = {"features", "mode"}


@on_file
def summary_on_host(file: File) -> Iterator[Finding]:
    calls = file.calls_of(*(f"tf.summary.{name}" for name in _SUMMARIES))
    first = next((call for call in calls if _is_in_model_fn(call, file)), None)
    if first is not None and _has_npu_estimator(file) and not _has_host_call(file):
        message = (
            "to see these summaries return `NPUEstimatorSpec(…, host_call=(function, [tensors]))` "
            "whose function writes them"
        )
        yield Finding(first, Outcome.BY_HAND, message)


def _is_in_model_fn(call: Call, file: File) -> bool:
    function = file.function(call.node)
    return function is not None and _arguments(function) >= _MODEL_ARGUMENTS


def _arguments(function: Function) -> set[str]:
    return {one.arg for one in (*function.args.args, *function.args.kwonlyargs)}


def _has_npu_estimator(file: File) -> bool:
    return is_chosen(file) or file.project.once(_makes_npu_estimator)


def _makes_npu_estimator(project: ProjectFiles) -> bool:
    return any(npu_name(name) == "NPUEstimator" for name in project.used)


def _has_host_call(file: File) -> bool:
    return any(
        npu_name(call.name) == "NPUEstimatorSpec" and call.keyword("host_call")
        for call in file.calls
    )
