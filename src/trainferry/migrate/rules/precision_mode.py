"""Choose the precision of the computation.

The NPU can compute a network written in float32 faster in smaller formats. What it does when
nothing is said depends on the chip: the first generation (910) computes in float16 wherever an
operator has no float32, the newer ones keep the formats of the network. So the choice is
better written down: it decides accuracy and speed, and makes runs comparable. There are two keys
for it, `precision_mode` and the newer `precision_mode_v2`; setting both is an error.

    +custom_op.parameter_map["precision_mode_v2"].s = tf.compat.as_bytes("mixed_float16")

With `mixed_float16` scale the loss (`NPULossScaleOptimizer`); `mixed_bfloat16`, on newer chips,
does not need it. Told once per project, at the session, Estimator or configuration that looks
most like training.

By hand: always. Not told: projects that set either key anywhere.

Source: Ascend TF Adapter 1.x migration guide, mixed precision training.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.migrate.file import File, ProjectFiles
from trainferry.migrate.find import Call
from trainferry.migrate.options import Options
from trainferry.migrate.phases import Phase, phase_of
from trainferry.migrate.rule import Concern, Finding, Outcome, on_project
from trainferry.migrate.rules._host_sessions import is_in_test, only_makes_data
from trainferry.migrate.rules._loss_scale import DYNAMIC
from trainferry.migrate.rules._npu_optimizer import sets_precision

CONCERN = Concern.PRECISION
LINT = True

_SCALES = (
    *(b"loss_scale", b"scale_loss", b"scaled_loss"),
    *(b"lossscale", b"scaleloss", b"scaledloss"),
)
_FAR = {Phase.TRAIN: 0, Phase.EVALUATE: 2, Phase.PREDICT: 2}
_UPDATES = ("apply_gradients", "fit", "fit_generator", "minimize", "train")
_LOOPS = frozenset(
    (
        "tf.contrib.slim.learning.train",
        "tf.contrib.training.train",
        "tf_slim.learning.train",
    )
)
_ADAPTERS_OWN = frozenset(("NPURunConfig", "NPUEstimator"))
_ESTIMATOR = frozenset(("RunConfig", "NPURunConfig", "Estimator", "NPUEstimator", "TPUEstimator"))
_SESSION = frozenset(
    (
        "ConfigProto",
        "InteractiveSession",
        "MonitoredTrainingSession",
        "Session",
        "SingularMonitoredSession",
        "Supervisor",
        "set_keras_session_npu_config",
    )
)


@on_project
def precision_mode(project: ProjectFiles) -> Iterator[Finding]:
    if any(sets_precision(file) for file in project.files):
        return
    found = [(file, call) for file in project.files for call in _places(file)]
    if not found:
        return
    _, call = min(found, key=lambda one: _distance_from_training(*one))
    yield Finding(call, Outcome.BY_HAND, _message(project))


def _places(file: File) -> Iterator[Call]:
    """What opens a session or makes its configuration; other rules may wrap it, not move it."""
    for call in file.calls:
        package, _, last = call.name.rpartition(".")
        is_ours = package.partition(".")[0] in ("tf", "npu_bridge")
        is_place = (is_ours and last in _ESTIMATOR | _SESSION) or call.name in _LOOPS
        if is_place and not is_in_test(file, call.node) and not only_makes_data(file):
            yield call
            return


def _distance_from_training(file: File, call: Call) -> tuple[bool, int, bool, bool]:
    # What the migration itself has added comes last: the place is told once, from the first round.
    is_added = call.name.startswith("npu_bridge")
    return is_added, _FAR.get(phase_of(file, call.node), 1), not _updates(file), not _trains(file)


def _updates(file: File) -> bool:
    return any(name.endswith(("Optimizer", ".TrainSpec")) for name in file.used) or any(
        file.names.attribute_calls(file.source, method) for method in _UPDATES
    )


def _trains(file: File) -> bool:
    """Whether a file may train; programs that only run a network look like it, too."""
    return any(
        name.endswith(("Optimizer", ".global_variables_initializer", ".RunConfig", ".TrainSpec"))
        or name.rpartition(".")[2] in _ESTIMATOR
        for name in file.used
    )


def _message(project: ProjectFiles) -> str:
    key, mode, default = _choice(project.options)
    setting = (
        f'`custom_op.parameter_map["{key}"].s = tf.compat.as_bytes("{mode}")` for the '
        "`NpuOptimizer` among the `custom_optimizers` of its configuration"
    )
    if _has_npu_estimators(project):
        setting = f'`NPURunConfig({key}="{mode}")` for Estimators, {setting} for sessions'
    message = f"choose the precision: {default}; for mixed precision set {setting}"
    if project.options.chip != "310p" and _needs_scale(project):
        message += f", and scale the loss: `NPULossScaleOptimizer(optimizer, {DYNAMIC})`"
    return message


def _needs_scale(project: ProjectFiles) -> bool:
    """Whether the project trains, and nothing in it scales a loss."""
    if any(_may_scale(file) for file in project.files):
        return False
    return any(_trains(file) for file in project.files)


def _may_scale(file: File) -> bool:
    text = file.source.data.lower()
    return any(word in text for word in _SCALES)


def _has_npu_estimators(project: ProjectFiles) -> bool:
    """Whether Estimators are the adapter's own: TensorFlow's do not look at its fields."""
    return "npu_estimator" in project.options.also | project.options.only or any(
        name.rpartition(".")[2] in _ADAPTERS_OWN for name in project.used
    )


def _choice(options: Options) -> tuple[str, str, str]:
    """The key that the chip is for, its mode of mixed precision, and what it does by itself."""
    if options.saturates:
        default = "by default a 910 computes in float16 where an operator has no float32"
        return "precision_mode", "allow_mix_precision", default
    if options.chip == "310p":
        return "precision_mode_v2", "mixed_float16", "by default inference computes in float16"
    default = "by default the formats of the network stay"
    return "precision_mode_v2", "mixed_float16", default
