"""Every project hears once that it has to choose its precision."""

from __future__ import annotations

from tests.migrate.rules.migrated import check_project, check_unchanged, outcomes
from trainferry.migrate.options import Options
from trainferry.migrate.rule import Outcome

RULE = "precision_mode"
SESSION = "import tensorflow as tf\nopt = tf.train.AdamOptimizer()\nsess = tf.Session()\n"


def test_told_once_where_training_begins() -> None:
    reader = "import tensorflow as tf\nwith tf.Session() as sess: pass\n"
    files = {"a_reader.py": reader, "b_train.py": SESSION, "c_train.py": SESSION}
    told = check_project(files, {}, RULE)
    assert outcomes(told) == [Outcome.BY_HAND]
    assert str(told[0].path) == "b_train.py"
    assert SESSION[told[0].start :].startswith("tf.Session")
    assert 'parameter_map["precision_mode_v2"].s = tf.compat.as_bytes("mixed_float16")' in (
        told[0].message
    )


def test_programs_that_only_run_a_network_come_after_training() -> None:
    start = "import tensorflow as tf\nsess = tf.Session()\nsess.run({})\n"
    starts_variables = start.format("tf.global_variables_initializer()")
    files = {"export.py": SESSION, "generate.py": starts_variables, "train.py": starts_variables}
    (told,) = check_project(files, {}, RULE)
    assert str(told.path) == "train.py"
    files = {"evaluate.py": SESSION, "freeze.py": starts_variables, "main.py": SESSION}
    (told,) = check_project(files, {}, RULE)
    assert str(told.path) == "main.py"


def test_the_first_generation_has_the_older_key() -> None:
    (told,) = check_unchanged(SESSION, RULE, Options(chip="910"))
    assert 'parameter_map["precision_mode"].s = tf.compat.as_bytes("allow_mix_precision")' in (
        told.message
    )
    assert "_v2" not in told.message


def test_the_adapters_estimators_take_it_as_an_argument() -> None:
    text = "from tensorflow.estimator import RunConfig as R\nconfig = R(model_dir=d)\n"
    argument = '`NPURunConfig(precision_mode_v2="mixed_float16")`'
    (told,) = check_unchanged(text, RULE, Options(also=frozenset({"npu_estimator"})))
    assert argument in told.message
    text = "from npu_bridge.npu_init import *\nconfig = NPURunConfig(model_dir=d)\n"
    (told,) = check_unchanged(text, RULE)
    assert argument in told.message


def test_estimators_of_tensorflow_take_it_in_the_configuration_of_their_sessions() -> None:
    text = "from tensorflow.estimator import RunConfig as R\nconfig = R(model_dir=d)\n"
    (told,) = check_unchanged(text, RULE)
    assert "NPURunConfig" not in told.message
    assert 'parameter_map["precision_mode_v2"]' in told.message


def test_a_choice_anywhere_is_enough() -> None:
    choice = """\
        def fill(op):
            op.parameter_map["precision_mode"].s = FLAGS.mode
        """
    assert check_project({"a.py": SESSION, "b.py": choice}, {}, RULE) == []
    choice = "from npu_bridge.npu_init import *\nNPURunConfig(precision_mode_v2='origin')\n"
    assert check_project({"a.py": SESSION, "b.py": choice}, {}, RULE) == []


def test_a_project_without_sessions_hears_nothing() -> None:
    assert check_unchanged("import tensorflow as tf\nx = tf.constant(1)\n", RULE) == []
    assert check_unchanged("import requests\nx = requests.Session()\n", RULE) == []


def test_training_without_a_loss_scale_hears_of_it() -> None:
    (told,) = check_unchanged(SESSION, RULE)
    assert "and scale the loss: `NPULossScaleOptimizer(optimizer, Exponential" in told.message
    (told,) = check_unchanged(f"{SESSION}loss *= FLAGS.loss_scale\n", RULE)
    assert "NPULossScaleOptimizer" not in told.message
    (told,) = check_unchanged("import tensorflow as tf\nsess = tf.Session()\n", RULE)
    assert "NPULossScaleOptimizer" not in told.message


def test_the_training_loop_of_slim_is_such_a_place() -> None:
    loop = """\
        from tensorflow.contrib import slim
        import tensorflow as tf
        opt = tf.train.AdamOptimizer()
        slim.learning.train(train_op, logs)
        """
    evaluation = "import tensorflow as tf\nconfig = tf.ConfigProto()\n"
    (told,) = check_project({"eval.py": evaluation, "train.py": loop}, {}, RULE)
    assert str(told.path) == "train.py"
