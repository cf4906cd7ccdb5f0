"""What fuzzing found, each as a small test."""

from __future__ import annotations

import ast
import json
from pathlib import Path, PurePosixPath

import pytest

from tests.migrate.rules.migrated import check_migrated, findings, migrate, outcomes, text_after
from trainferry.migrate.find import Call
from trainferry.migrate.migration import MigratedFile
from trainferry.migrate.options import Options
from trainferry.migrate.pipeline import migrate_project
from trainferry.migrate.read import Source, read_source
from trainferry.migrate.rounds import apply_rules
from trainferry.migrate.rule import Outcome, all_rules

PATCHED = Options(adapter="patched")


@pytest.mark.parametrize(
    "body",
    [
        "def npu_ops(self): pass",
        "class npu_ops: pass",
        "from x import npu_ops",
        "def f(self, x=tf.nn.dropout(y, 0.5)): pass\n    npu_ops = 1",
    ],
)
def test_a_name_that_the_class_around_has_is_taken(body: str) -> None:
    text = f"import tensorflow as tf\nclass A:\n    net = tf.nn.dropout(x, 0.5)\n    {body}\n"
    result = migrate({"program.py": text}, "fused_dropout")
    assert text_after(result) == text
    assert set(outcomes(findings(result))) == {Outcome.BY_HAND}


@pytest.mark.parametrize(
    "text",
    [
        "net = tf.nn.dropout(x, 0.5)\nglobal npu_ops\n",
        "net = tf.nn.dropout(x, 0.5)\nclass A:\n    global npu_ops\n",
        "def f():\n    net = tf.nn.dropout(x, 0.5)\n    global npu_ops\n",
        "if True:\n    import horovod.tensorflow as hvd\n    hvd.init()\n    global npu_session\n",
        "import horovod.tensorflow as hvd\nhvd.init()\ndef npu_session(): pass\n",
        "import horovod.tensorflow as hvd\ndef f(npu_session):\n    hvd.init()\n",
    ],
)
def test_a_name_that_is_declared_anywhere_is_taken(text: str) -> None:
    result = migrate({"program.py": f"import tensorflow as tf\n{text}"}, "*")
    assert "npu_ops.dropout(" not in text_after(result)
    assert "init_resource" not in text_after(result)
    assert Outcome.BY_HAND in outcomes(findings(result))


def test_the_adapter_is_imported_before_a_session_in_the_same_try() -> None:
    check_migrated(
        """\
        try:
            import tensorflow as tf
            sess = tf.Session()
        finally:
            pass
        """,
        """\
        from npu_bridge import npu_init
        try:
            import tensorflow as tf
            sess = tf.Session()
        finally:
            pass
        """,
        "adapter_import",
        PATCHED,
    )


def test_the_whole_try_around_an_import_of_horovod_is_told() -> None:
    text = """\
        try:
            import horovod.tensorflow as hvd
        except ImportError:
            hvd = None
        """
    result = migrate({"program.py": text}, "horovod_to_hccl")
    assert text_after(result) == ""
    (told,) = findings(result)
    assert (told.start, told.end) == (0, result.before[0].data.rindex(b"\n"))


def test_form_feeds_and_carriage_returns_end_no_line_of_a_diff() -> None:
    before, after = "a\x0c\rb\nc", "a\x0c\rd\nc"
    file = MigratedFile(PurePosixPath("x.py"), before.encode(), after.encode(), before, after)
    assert file.diff().split("\n")[2:] == [
        "@@ -1,2 +1,2 @@",
        "-a\x0c\rb",
        "+a\x0c\rd",
        " c",
        "\\ No newline at end of file",
        "",
    ]


def test_two_edits_that_would_empty_a_block_together_are_made_one_after_the_other() -> None:
    check_migrated(
        """\
        def main():
            from horovod import rank
            import horovod
        """,
        """\
        def main():
            pass
        """,
        "horovod_to_hccl",
    )


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_line_that_goes_on_after_a_backslash_is_one_line_for_an_import(end: str) -> None:
    before = "import tensorflow as tensor;\\\n   tf = tensor\nnet = tf.nn.dropout(x, 0.5)\n"
    result = migrate({"program.py": before.replace("\n", end)}, "fused_dropout")
    assert text_after(result).replace(end, "\n") == (
        "from npu_bridge.estimator import npu_ops\n"
        "import tensorflow as tensor;\\\n   tf = tensor\nnet = npu_ops.dropout(x, 0.5)\n"
    )


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_nothing_is_put_into_a_line_that_goes_on_after_a_backslash(end: str) -> None:
    text = "import horovod.tensorflow as hvd\nif x: \\\n    hvd.init()\n".replace("\n", end)
    migrated = text_after(migrate({"program.py": text}, "*"))
    assert f"if x: \\{end}    npu_session, npu_shutdown = init_resource();" in migrated
    ast.parse(migrated)


def test_a_model_that_runs_in_the_body_of_a_class_breaks_nothing() -> None:
    text = """\
        import tensorflow as tf
        class Model:
            model = tf.keras.Sequential([])
            model.fit(x)
        """
    result = migrate({"program.py": text}, "keras_session", PATCHED)
    assert "import tensorflow as tf\nfrom npu_bridge import npu_init\n" in text_after(result)


def test_imports_go_before_the_decorator_of_the_first_function_of_a_notebook() -> None:
    code = "@f\ndef g():\n    import tensorflow as tf\n    return tf.nn.dropout(x, 0.5)\n"
    result = migrate({"program.ipynb": notebook_of(code)}, "fused_dropout")
    assert text_after(result, "program.ipynb").startswith(
        "from npu_bridge.estimator import npu_ops\n@f\ndef g():"
    )


def test_no_quotes_are_put_into_an_f_string() -> None:
    text = "import tensorflow as tf\nx = f'{tf.keras.layers.CuDNNLSTM(1)}'\n"
    result = migrate({"program.py": text}, "cudnn_rnn")
    assert text_after(result) == text
    assert outcomes(findings(result)) == [Outcome.BY_HAND]


@pytest.mark.parametrize("scope", ["def f():", "class A:"])
def test_a_star_of_python_2_in_a_function_or_class_may_take_any_name(scope: str) -> None:
    text = (
        f"import tensorflow as tf\n{scope}\n    from .x import *\n"
        "    e = tf.estimator.Estimator(g)\n"
    )
    result = migrate({"program.py": text}, "estimator_on_npu")
    assert text_after(result) == text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a=1,  # one\n  eval_distribute=s,\n)", "a=1,  # one\n)"),
        ("a=1  # one\n  ,\n  eval_distribute=s)", "a=1  # one\n  ,\n  )"),
        ("a=1,  # one\n  eval_distribute=s,  # two\n  b=2)", "a=1,  # one\n  b=2)"),
        ("a=1,  # one\n  eval_distribute=s, b=2)", "a=1,  # one\n  b=2)"),
        ("a=1,\n  eval_distribute=s,  # two\n)", "a=1,  # two\n)"),
        ("*a,  # one\n  eval_distribute=s)", "*a)"),
    ],
)
def test_the_comment_of_one_argument_stays_when_the_next_goes(before: str, after: str) -> None:
    text = f"import tensorflow as tf\nc = tf.f({before}\n"
    source = read_source(PurePosixPath("x.py"), text.encode(), "x")
    assert isinstance(source, Source)
    (node,) = source.nodes.of(ast.Call)
    call = Call(source, node, "tf.f")
    keyword = call.keyword("eval_distribute")
    assert keyword is not None
    assert source.edited([call.remove_argument(keyword)]) == (
        f"import tensorflow as tf\nc = tf.f({after}\n".encode()
    )


def test_an_import_goes_behind_an_empty_line_that_a_backslash_asks_for() -> None:
    text = "if True:\n    import tensorflow as tf\n    net = tf.nn.dropout(x, 0.5)\\\n\n"
    migrated = text_after(migrate({"program.py": text}, "fused_dropout"))
    assert "npu_ops.dropout(x, 0.5)" in migrated
    text = "if True:\n    import tensorflow as tf\n    def f(): tf.nn.dropout(x, 0.5)\\\n\n"
    migrated = text_after(migrate({"program.py": text}, "fused_dropout"))
    assert migrated.endswith("\\\n\nfrom npu_bridge.estimator import npu_ops\n")


@pytest.mark.parametrize(
    "cells",
    [
        ("def f():\n", "    tf.nn.dropout(x, 0.5)"),
        ("@f", "def g(): tf.nn.dropout(x, 0.5)"),
        ("x = tf.nn.dropout(y, \\", " 0.5)"),
        ("if x: pass", "else: tf.nn.dropout(x, 0.5)"),
    ],
)
def test_a_statement_that_goes_on_in_the_next_cell_of_a_notebook_cannot_be_read(
    cells: tuple[str, str],
) -> None:
    data = notebook_of("import tensorflow as tf", *cells, "y = tf.nn.dropout(x, 0.5)").encode()
    source = read_source(PurePosixPath("x.ipynb"), data, "x")
    assert isinstance(source, Source)
    assert source.unreadable
    result = apply_rules([source], all_rules(), Options())
    assert result.failures == []
    assert b"npu_ops.dropout(x, 0.5)" in result.after[source.path].data


@pytest.mark.parametrize("name", ["keras.\\\n  layers", "keras . layers", "\\\n keras.layers"])
def test_the_name_of_a_module_may_go_over_lines(name: str) -> None:
    text = f"from {name} import Dense\n"
    migrated = text_after(migrate({"program.py": text}, "standalone_keras"))
    assert migrated.replace("\\\n ", "") == "from tensorflow.keras.layers import Dense\n"


def test_what_new_lines_need_is_imported_before_them() -> None:
    text = """\
        if True:
            import atexit
            import horovod.tensorflow as hvd
            x = hvd.local_rank()
        """
    migrated = text_after(migrate({"program.py": text}, "*"))
    assert migrated.index("import atexit\n") < migrated.index("atexit.register(")


def test_the_default_of_a_parameter_needs_its_import_at_once() -> None:
    check_migrated(
        """\
        import tensorflow as tf
        def f(x=tf.nn.dropout(y, 0.5)): pass
        from npu_bridge.estimator import npu_ops
        """,
        """\
        import tensorflow as tf
        from npu_bridge.estimator import npu_ops
        def f(x=npu_ops.dropout(y, 0.5)): pass
        from npu_bridge.estimator import npu_ops
        """,
        "fused_dropout",
    )


def notebook_of(*cells: str) -> str:
    made = [{"cell_type": "code", "source": one, "metadata": {}, "outputs": []} for one in cells]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 2})


def test_a_long_chain_of_branches_does_not_stop_a_migration(tmp_path: Path) -> None:
    chain = "".join(f"elif x == {number}:\n    ds = ds.map(f{number})\n" for number in range(400))
    text = (
        "import tensorflow as tf\nds = tf.data.Dataset.range(9)\nif x:\n    pass\n"
        f"{chain}ds = ds.batch(3)\nsess = tf.Session()\n"
    )
    (tmp_path / "train.py").write_text(text)
    migration = migrate_project(tmp_path, Options())
    assert migration.failures == ()
    assert "tf.Session(config=npu_config_proto())" in migration.files[0].text_after


@pytest.mark.parametrize("call", ["hvd.init()", "hvd.shutdown()"])
def test_all_lines_of_a_statement_that_goes_are_told(tmp_path: Path, call: str) -> None:
    text = f"import horovod.tensorflow as hvd\n((\n\n\n\n{call}\n\n\n\n))\nx = 1\n"
    (tmp_path / "train.py").write_text(text)
    migration = migrate_project(tmp_path, Options())
    assert call not in migration.files[0].text_after
    assert (2, 10) in {(told.line, told.end_line) for told in migration.told}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "npu_config_proto(npu_config_proto\n(x))",
            "(npu_config_proto\n(x))",
        ),
        (
            "npu_config_proto(config_proto=(npu_config_proto # note\n(x)))",
            "(npu_config_proto # note\n(x))",
        ),
        (
            "npu_config_proto(npu_config_proto(\n    x))",
            "npu_config_proto(\n    x)",
        ),
    ],
)
def test_lines_stay_together_when_the_call_around_them_goes(before: str, after: str) -> None:
    start = "from npu_bridge.npu_init import npu_config_proto\nconfig = "
    check_migrated(f"{start}{before}\n", f"{start}{after}\n", "double_wrapping")


def test_a_comment_in_brackets_does_not_end_the_line_when_the_brackets_go() -> None:
    check_migrated(
        """\
        import tensorflow as tf
        net = (tf
            # note
            ).nn.dropout(x, 0.5)
        """,
        """\
        import tensorflow as tf
        from npu_bridge.estimator import npu_ops
        net = (npu_ops.dropout    # note
            )(x, 0.5)
        """,
        "fused_dropout",
    )


_DYNAMIC = """\
import tensorflow as tf
ex = tf.train.experimental
opt = ex.MixedPrecisionLossScaleOptimizer(opt, ex.DynamicLossScale(1, 2, {}))
"""


def test_an_argument_in_brackets_gets_its_name_before_them() -> None:
    result = migrate({"program.py": _DYNAMIC.format("(\n    4)")}, "loss_scale_on_npu")
    assert result.failures == []
    assert "(1, 2, incr_ratio=(\n    4), decr_every_n" in text_after(result)


@pytest.mark.parametrize("number", ["0", "0.0", "1e-320"])
def test_a_loss_scale_that_grows_by_no_number_is_left_alone(number: str) -> None:
    text = _DYNAMIC.format(number)
    result = migrate({"program.py": text}, "loss_scale_on_npu")
    assert result.failures == []
    assert f"ex.DynamicLossScale(1, 2, {number})" in text_after(result)


@pytest.mark.parametrize(
    ("line", "rules"),
    [
        ('tf.Session("", None, None, config=config)', "adapter_import"),
        ("tf.estimator.Estimator(f, d, None, {}, w, warm_start_from=w)", "npu_estimator"),
        (
            "tf.estimator.Estimator(f, config=tf.estimator.RunConfig(d, model_dir=d))",
            "npu_estimator",
        ),
        (
            "tf.nn.max_pool(x, (1, 3, 3, 1), (1, 2, 2, 1), 'SAME', input=x, value=x)",
            "argmax_pooling",
        ),
    ],
)
def test_an_argument_given_twice_is_not_named_twice(line: str, rules: str) -> None:
    result = migrate({"program.py": f"import tensorflow as tf\nx = {line}\n"}, rules, PATCHED)
    assert result.failures == []
    compile(text_after(result), "program.py", "exec")


def test_a_multiplier_given_twice_is_left_to_the_user() -> None:
    text = _DYNAMIC.format("4, multiplier=4")
    result = migrate({"program.py": text}, "loss_scale_on_npu")
    assert result.failures == []
    assert "ex.DynamicLossScale(1, 2, 4, multiplier=4)" in text_after(result)


@pytest.mark.parametrize("end", ["\\\r\n", "\\\n  \\\n\n", "  # note \\\n", "\n", ""])
def test_an_import_does_not_continue_the_last_line(end: str) -> None:
    text = (
        f"def main(): x = tf.nn.dropout(y, 0.5)\ntry: import tensorflow as tf\nfinally: pass{end}"
    )
    result = migrate({"program.py": text}, "fused_dropout")
    after = text_after(result)
    assert after.startswith(text.replace("tf.nn.dropout", "npu_ops.dropout"))
    last = ast.parse(after + "\n").body[-1]
    assert ast.unparse(last) == "from npu_bridge.estimator import npu_ops"
