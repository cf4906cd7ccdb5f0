"""All devices start with the weights of rank 0."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import (
    check_migrated,
    check_unchanged,
    findings,
    migrate,
    outcomes,
)
from trainferry.migrate.options import Options
from trainferry.migrate.rule import Outcome

RULE = "initial_broadcast"
HCCL = Options(distributed="hccl")
HOOK = "NPUBroadcastGlobalVariablesHook(0)"
IMPORT = "from npu_bridge.estimator.npu.npu_hook import NPUBroadcastGlobalVariablesHook"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tf.train.MonitoredTrainingSession(config=c)",
         f"tf.train.MonitoredTrainingSession(config=c, hooks=[{HOOK}])"),
        ("tf.train.MonitoredTrainingSession(hooks=[h])",
         f"tf.train.MonitoredTrainingSession(hooks=[{HOOK}, h])"),
        ("tf.train.SingularMonitoredSession([])", f"tf.train.SingularMonitoredSession([{HOOK}])"),
        ("tf.estimator.TrainSpec(f, 100, None)", f"tf.estimator.TrainSpec(f, 100, [{HOOK}])"),
        ("tf.estimator.TrainSpec(f, hooks=(h,))",
         f"tf.estimator.TrainSpec(f, hooks=[{HOOK}] + list(((h,)) or ()))"),
        ("tf.estimator.TrainSpec(f, hooks=a if b else None)",
         f"tf.estimator.TrainSpec(f, hooks=[{HOOK}] + list((a if b else None) or ()))"),
    ],
)  # fmt: skip
def test_hooks_get_the_adapters_and_keep_the_users(before: str, after: str) -> None:
    told = check_migrated(
        f"import tensorflow as tf\nx = {before}\n",
        f"import tensorflow as tf\n{IMPORT}\nx = {after}\n",
        RULE,
        HCCL,
    )
    assert outcomes(told) == [Outcome.CHANGED]


def test_an_estimator_gets_it_too_and_a_keras_model_a_callback_by_another_rule() -> None:
    check_migrated(
        """\
        import tensorflow as tf
        tf.estimator.Estimator(f).train(g, hooks=[
            h])
        tf.estimator.Estimator(f).train(g, mine)
        tf.keras.Sequential().fit(x, y, callbacks=[c])
        """,
        f"""\
        import tensorflow as tf
        {IMPORT}
        tf.estimator.Estimator(f).train(g, hooks=[{HOOK},
            h])
        tf.estimator.Estimator(f).train(g, [{HOOK}] + list(mine or ()))
        tf.keras.Sequential().fit(x, y, callbacks=[c])
        """,
        RULE,
        HCCL,
    )


def test_an_estimator_that_becomes_the_adapters_sends_by_itself() -> None:
    text = "import tensorflow as tf\ntf.estimator.Estimator(f).train(g)\n"
    options = Options(distributed="hccl", also=frozenset(("npu_estimator",)))
    assert check_unchanged(text, RULE, options) == []


def test_initialisers_that_are_run_by_hand_are_told_with_the_text() -> None:
    told = check_unchanged(
        """\
        import tensorflow as tf
        train = optimizer.minimize(loss)
        sess.run(tf.global_variables_initializer())
        """,
        RULE,
        HCCL,
    )
    assert outcomes(told) == [Outcome.BY_HAND]
    assert "hccl_ops.broadcast([variable], 0)" in told[0].message


MODEL = "class Net:\n    def __init__(self):\n        self.step = opt.minimize(self.loss)\n"
RUN = "with tf.Session() as sess:\n    sess.run(tf.global_variables_initializer())\n"


def test_initialisers_beside_a_model_of_another_file_are_told() -> None:
    files = {
        "model.py": "import tensorflow as tf\n" + MODEL,
        "run.py": "import tensorflow as tf\nfrom model import Net\n" + RUN,
        "predict.py": "import tensorflow as tf\nfrom model import Net\n" + RUN,
        "convert.py": "import tensorflow as tf\n" + RUN,
    }
    told = findings(migrate(files, RULE, HCCL))
    assert [str(one.path) for one in told] == ["run.py"]


def test_slim_is_told() -> None:
    text = "import tensorflow as tf\ntf.contrib.slim.learning.train(op, d)\n"
    assert "init_fn" in check_unchanged(text, RULE, HCCL)[0].message


def test_hidden_arguments_are_told() -> None:
    text = "import tensorflow as tf\ntf.estimator.TrainSpec(**options)\n"
    assert outcomes(check_unchanged(text, RULE, HCCL)) == [Outcome.BY_HAND]


@pytest.mark.parametrize(
    "text",
    [
        "tf.train.MonitoredTrainingSession(hooks=[NPUBroadcastGlobalVariablesHook(0)])",
        "NPUEstimator(f)\ntf.estimator.TrainSpec(f)",
        "LogisticRegression().fit(X, y)",
    ],
)
def test_what_sends_already_or_is_not_ours_stays(text: str) -> None:
    program = f"import tensorflow as tf\nfrom npu_bridge.npu_init import *\n{text}\n"
    assert check_unchanged(program, RULE, HCCL) == []


def test_a_program_for_one_device_stays() -> None:
    text = "import tensorflow as tf\ntf.train.MonitoredTrainingSession()\n"
    assert check_unchanged(text, RULE) == []
