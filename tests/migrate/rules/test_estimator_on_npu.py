"""Estimators get a configuration that went through the adapter, where it stood."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import (
    check_migrated,
    check_project,
    check_unchanged,
    migrate,
    outcomes,
    text_after,
)
from trainferry.migrate.options import Options
from trainferry.migrate.rule import Outcome
from trainferry.migrate.rules._estimators import ESTIMATORS

RULE = "estimator_on_npu"


def test_a_configuration_by_name_is_wrapped() -> None:
    told = check_migrated(
        """\
        import tensorflow as tf
        e = tf.estimator.Estimator(model_fn=f, config=run_config,  # ours
                                   params=p)
        """,
        """\
        import tensorflow as tf
        from npu_bridge.npu_init import npu_run_config_init
        e = tf.estimator.Estimator(model_fn=f, config=npu_run_config_init(run_config=run_config),  # ours
                                   params=p)
        """,  # noqa: E501
        RULE,
    )
    assert outcomes(told) == [Outcome.CHANGED]


def test_a_configuration_by_place_keeps_its_place() -> None:
    check_migrated(
        """\
        import tensorflow.compat.v1 as tf
        e = tf.estimator.Estimator(f, 'dir', cfg, {})
        """,
        """\
        import tensorflow.compat.v1 as tf
        from npu_bridge.npu_init import npu_run_config_init
        e = tf.estimator.Estimator(f, 'dir', npu_run_config_init(run_config=cfg), {})
        """,
        RULE,
    )


def test_a_missing_configuration_is_added() -> None:
    check_migrated(
        """\
        from tensorflow.estimator import Estimator as E
        e = E(
            f,
            model_dir=PATH,
        )
        """,
        """\
        from tensorflow.estimator import Estimator as E
        from npu_bridge.npu_init import npu_run_config_init
        e = E(
            f,
            model_dir=PATH,
            config=npu_run_config_init(),
        )
        """,
        RULE,
    )


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_every_estimator_is_known(name: str) -> None:
    module, _, last = name.replace("tf.", "tensorflow.", 1).rpartition(".")
    before = f"from {module} import {last}\nx = {last}(a, config=c)\n"
    after = text_after(migrate({"program.py": before}, RULE))
    assert after.endswith(f"x = {last}(a, config=npu_run_config_init(run_config=c))\n")


def test_keras_models_too() -> None:
    check_migrated(
        """\
        import tensorflow as tf
        e = tf.keras.estimator.model_to_estimator(model, None, None, d, c)
        """,
        """\
        import tensorflow as tf
        from npu_bridge.npu_init import npu_run_config_init
        e = tf.keras.estimator.model_to_estimator(model, None, None, d, npu_run_config_init(run_config=c))
        """,  # noqa: E501
        RULE,
    )


def test_contrib_learn_gets_a_configuration_of_its_kind() -> None:
    check_migrated(
        """\
        from tensorflow.contrib import learn
        e = learn.Estimator(f)
        """,
        """\
        from tensorflow.contrib import learn
        from npu_bridge.npu_init import npu_run_config_init
        e = learn.Estimator(f, config=npu_run_config_init(run_config=learn.RunConfig()))
        """,
        RULE,
    )
    told = check_unchanged("from tensorflow.contrib.learn import Estimator\nEstimator(f)\n", RULE)
    assert outcomes(told) == [Outcome.BY_HAND]


def test_a_configuration_named_in_passing_gets_brackets() -> None:
    check_migrated(
        """\
        import tensorflow as tf
        e = tf.estimator.Estimator(f, config=(c := make()))
        """,
        """\
        import tensorflow as tf
        from npu_bridge.npu_init import npu_run_config_init
        e = tf.estimator.Estimator(f, config=(npu_run_config_init(run_config=(c := make()))))
        """,
        RULE,
    )


def test_a_class_of_the_project_is_configured_at_its_base() -> None:
    check_migrated(
        """\
        import tensorflow as tf
        class Mine(tf.estimator.Estimator):
            def __init__(self, config=None):
                super(Mine, self).__init__(self.model_fn, config=config)
        """,
        """\
        import tensorflow as tf
        from npu_bridge.npu_init import npu_run_config_init
        class Mine(tf.estimator.Estimator):
            def __init__(self, config=None):
                super(Mine, self).__init__(self.model_fn, config=npu_run_config_init(run_config=config))
        """,  # noqa: E501
        RULE,
    )


@pytest.mark.parametrize("call", ["Estimator(**options)", "Estimator(*arguments)"])
def test_hidden_arguments_are_left_to_the_user(call: str) -> None:
    told = check_unchanged(f"import tensorflow as tf\ne = tf.estimator.{call}\n", RULE)
    assert outcomes(told) == [Outcome.BY_HAND]


HOST = "session_config=tf.ConfigProto(device_count={'GPU': 0})"


@pytest.mark.parametrize(
    "made",
    [
        f"c = tf.estimator.RunConfig({HOST})",
        "s = tf.ConfigProto(device_count={'GPU': 0})\nc = tf.estimator.RunConfig(session_config=s)",
        f"c = tf.compat.v1.estimator.RunConfig('d', {HOST}).replace(model_dir='e')",
        f"c = tf.estimator.RunConfig()\nc = c.replace({HOST})",
        f"c = tf.estimator.RunConfig('d', 1, 100, 1000, None, {HOST.partition('=')[2]})",
    ],
)
def test_an_estimator_that_was_kept_off_the_gpu_stays_on_the_host(made: str) -> None:
    text = f"import tensorflow as tf\n{made}\ne = tf.estimator.Estimator(f, config=c)\n"
    (told,) = check_unchanged(text, RULE)
    assert told.outcome is Outcome.BY_HAND
    assert "stays on the host" in told.message


@pytest.mark.parametrize(
    "made",
    [
        "c = tf.estimator.RunConfig(session_config=tf.ConfigProto(device_count={'GPU': 1}))",
        "c = tf.estimator.RunConfig(session_config=tf.ConfigProto(device_count={'CPU': 0}))",
        "c = tf.estimator.RunConfig(session_config=given)",
        "def main(c):\n    c = c.replace(model_dir='d')",
    ],
)
def test_other_session_configurations_go_to_the_npu(made: str) -> None:
    text = f"import tensorflow as tf\n{made}\n"
    text += f"{'    ' if 'def' in made else ''}e = tf.estimator.Estimator(f, config=c)\n"
    assert "npu_run_config_init(run_config=c)" in text_after(migrate({"program.py": text}, RULE))


def test_a_partial_is_left_to_the_user() -> None:
    told = check_unchanged(
        """\
        import functools
        import tensorflow as tf
        make = functools.partial(tf.estimator.Estimator, model_fn=f)
        """,
        RULE,
    )
    assert outcomes(told) == [Outcome.BY_HAND]


@pytest.mark.parametrize(
    "text",
    [
        "import tensorflow as tf\nfrom npu_bridge.npu_init import *\n"
        "c = npu_run_config_init(run_config=c0)\ntf.estimator.Estimator(f, config=c)\n",
        "import tensorflow as tf\nfrom npu_bridge.estimator.npu.npu_config import NPURunConfig\n"
        "tf.estimator.Estimator(f, config=NPURunConfig())\n",
        "from npu_bridge.npu_init import *\ne = NPUEstimator(f, config=NPURunConfig())\n",
        "from sklearn.base import Estimator\nEstimator(config=c)\n",
        "import tensorflow as tf\nimport module\nmodule.Estimator(f, config=c)\n",
        "import tensorflow as tf\ntf.estimator.EvalSpec(f, 100, 'n', hooks, exporters)\n"
        "tf.estimator.TrainSpec(f, hooks=(h,))\n",
    ],
)
def test_what_is_not_ours_or_done_stays(text: str) -> None:
    assert check_unchanged(text, RULE) == []


def test_unit_tests_stay_on_the_cpu() -> None:
    text = """\
        import tensorflow as tf
        class NetTest(tf.test.TestCase):
            def test_it(self):
                tf.estimator.Estimator(f)
        """
    assert check_unchanged(text, RULE) == []


def test_a_patched_adapter_has_to_be_imported_too() -> None:
    text = "import tensorflow as tf\ntf.estimator.Estimator(f, config=c)\n"
    after = text_after(migrate({"program.py": text}, RULE, Options(adapter="patched")))
    assert "from npu_bridge.npu_init import npu_run_config_init" in after


def test_aliases_of_the_project_are_followed() -> None:
    check_project(
        {
            "base.py": "import tensorflow as tf\nestimators = tf.estimator\n",
            "train.py": "from base import estimators\ne = estimators.DNNClassifier(h, config=c)\n",
        },
        {
            "train.py": """\
                from base import estimators
                from npu_bridge.npu_init import npu_run_config_init
                e = estimators.DNNClassifier(h, config=npu_run_config_init(run_config=c))
                """
        },
        RULE,
    )


@pytest.mark.parametrize(
    "base", ["tf.estimator.Estimator", "tf.estimator.DNNClassifier", "tf.contrib.tpu.TPUEstimator"]
)
def test_a_class_that_its_callers_configure_is_told(base: str) -> None:
    text = f"import tensorflow as tf\nclass Mine({base}):\n    pass\nm = Mine(f, config=c)\n"
    told = check_unchanged(text, RULE)
    assert outcomes(told) == [Outcome.BY_HAND]
    assert "config=npu_run_config_init(run_config=…)" in told[0].message
    done = text.replace("=c", "=npu_run_config_init(run_config=c)")
    assert check_unchanged(done, RULE) == []


@pytest.mark.parametrize(
    "text",
    [
        "from mine import Estimator\nclass Mine(Estimator): pass\n",
        "import tensorflow as tf\nclass Mine(tf.estimator.ModeKeys): pass\n",
        "import tensorflow as tf\nclass A(tf.test.TestCase):\n"
        "    class Mine(tf.estimator.Estimator): pass\n",
    ],
)
def test_other_classes_are_not_told(text: str) -> None:
    assert check_unchanged(text, RULE) == []
