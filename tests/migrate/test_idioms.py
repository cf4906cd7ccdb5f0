"""Idioms on which converters that match calls by their last word go wrong: one test each.

All rules take part, as in `trainferry migrate`. Each test gives the exact text that comes out, or
says that not a byte changes, and what is told. Whatever comes out compiles, and a second run
changes nothing.
"""

from __future__ import annotations

import json
import os
import textwrap
from pathlib import Path

import pytest

from tests.migrate.rules.migrated import findings, migrate, text_after
from tests.migrate.written import make_project
from trainferry.migrate.migration import Migration
from trainferry.migrate.options import Options
from trainferry.migrate.pipeline import migrate_project
from trainferry.migrate.write import write_tree

PLAIN = Options()
HCCL = Options(distributed="hccl")
GELU = Options(also=frozenset(("fused_gelu",)))
# Said once to every project, whatever its idioms.
ADVICE = frozenset(("faster_when_asked", "gradient_split", "precision_mode"))
TF = "import tensorflow as tf\n"


def becomes(before: str, after: str, options: Options = PLAIN) -> list[str]:
    """Check what comes out; return what was told, as `rule: OUTCOME`, in the order of the text."""
    before, after = textwrap.dedent(before), textwrap.dedent(after)
    result = migrate({"program.py": before}, "*", options)
    assert text_after(result) == after
    compile(after, "program.py", "exec")
    again = migrate({"program.py": after}, "*", options)
    assert text_after(again) == after, "a second run changed it again"
    return [
        f"{one.rule.name}: {one.outcome.name}"
        for one in findings(result)
        if one.rule.name not in ADVICE
    ]


def stays(text: str, options: Options = PLAIN) -> list[str]:
    """Not a byte may change; return what was told."""
    return becomes(text, text, options)


class TestWrongEditsOfOthers:
    def test_1_every_nth_sample_is_no_share_of_a_rank(self) -> None:
        told = stays(
            """\
            import tensorflow as tf

            def build(config, files):
                dataset = tf.data.TFRecordDataset(files)
                if config.sample_1_of_n_examples > 1:
                    dataset = dataset.shard(config.sample_1_of_n_examples, 0)
                return dataset
            """,
            HCCL,
        )
        assert told == []

    def test_2_a_wrapper_around_horovod_works_afterwards(self) -> None:
        told = becomes(
            """\
            import tensorflow as tf
            try:
              import horovod.tensorflow as mgw
              print('using Horovod')
            except ImportError:
              try:
                import tfplus.tensorflow as mgw
              except ImportError:
                print('no')

            class MultiGpuWrapper(object):
              @classmethod
              def size(cls, *args):
                try:
                  return mgw.size(*args)
                except NameError:
                  raise NameError('module <mgw> not imported')
            """,
            """\
            import tensorflow as tf
            from npu_bridge.npu_init import get_npu_rank_size
            try:
              import horovod.tensorflow as mgw
              print('using Horovod')
            except ImportError:
              try:
                import tfplus.tensorflow as mgw
              except ImportError:
                print('no')

            class MultiGpuWrapper(object):
              @classmethod
              def size(cls, *args):
                try:
                  return get_npu_rank_size(*args)
                except NameError:
                  raise NameError('module <mgw> not imported')
            """,
        )
        assert told == ["horovod_to_hccl: BY_HAND", "horovod_to_hccl: CHECK"]

    @pytest.mark.parametrize("method", ["evaluate", "predict"])
    def test_3_evaluation_and_prediction_lose_no_samples(self, method: str) -> None:
        program = """\
            import tensorflow as tf
            {imports}
            def input_fn():
                return tf.data.Dataset.from_tensor_slices(sentences).batch(32)

            def main(_):
                estimator = tf.estimator.Estimator(model_fn{config})
                estimator.{method}(input_fn)
            """
        after = {
            "imports": "from npu_bridge.npu_init import npu_run_config_init\n",
            "config": ", config=npu_run_config_init()",
        }
        program = textwrap.dedent(program)
        told = becomes(
            program.format(imports="", config="", method=method),
            program.format(**after, method=method),
        )
        assert told == ["static_batch: BY_HAND", "estimator_on_npu: CHANGED"]

    def test_4_an_estimator_with_keras_layers_gets_no_session_of_keras(self) -> None:
        program = """\
            import tensorflow as tf{imports}

            def model_fn(features, labels, mode):
                model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
                return tf.estimator.EstimatorSpec(mode, predictions=model(features))

            if __name__ == "__main__":
                tf.estimator.Estimator(model_fn, 'dir'{config}).train(input_fn)
            """
        program = textwrap.dedent(program)
        told = becomes(
            program.format(imports="", config=""),
            program.format(
                imports="\nfrom npu_bridge.npu_init import npu_run_config_init",
                config=", config=npu_run_config_init()",
            ),
        )
        assert told == ["estimator_on_npu: CHANGED"]

    def test_4_an_eager_program_gets_no_session_of_keras(self) -> None:
        told = stays(
            """\
            import tensorflow as tf
            tf.enable_eager_execution()
            model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
            with tf.GradientTape() as tape:
                loss = model(x)
            """
        )
        assert told == ["eager_mode: BY_HAND"]

    def test_5_nothing_stands_behind_tf_app_run(self) -> None:
        told = becomes(
            """\
            import tensorflow as tf
            from hccl.manage.api import get_rank_id

            def main(_):
                print(get_rank_id())

            if __name__ == "__main__":
                tf.app.run()
            """,
            """\
            import tensorflow as tf
            import atexit
            from npu_bridge.npu_init import close_session
            from npu_bridge.npu_init import init_resource
            from npu_bridge.npu_init import shutdown_resource
            from hccl.manage.api import get_rank_id

            def main(_):
                print(get_rank_id())

            if __name__ == "__main__":
                npu_session, npu_shutdown = init_resource()
                atexit.register(close_session, npu_session)
                atexit.register(shutdown_resource, npu_session, npu_shutdown)
                tf.app.run()
            """,
        )
        assert told == ["collective_lifecycle: CHECK"]

    def test_6_functions_that_place_variables_stay(self) -> None:
        told = stays(
            """\
            import tensorflow as tf
            def main(_):
                with tf.device(tf.train.replica_device_setter(FLAGS.ps_tasks)):
                    a = 1
                with tf.device(deploy_config.variables_device()):
                    b = 1
                with tf.device(device_function):
                    c = 1
            """
        )
        assert told == ["parameter_servers: BY_HAND"]

    def test_7_pictures_are_decoded_on_the_host(self) -> None:
        told = stays(
            """\
            import tensorflow as tf

            class ImageCoder(object):
                def __init__(self):
                    self._sess = tf.Session()
                    self._png = tf.placeholder(dtype=tf.string)
                    self._image = tf.image.decode_png(self._png)

                def decode(self, data):
                    return self._sess.run(self._image, feed_dict={self._png: data})

            def convert(path, out):
                with tf.python_io.TFRecordWriter(out) as writer:
                    writer.write(ImageCoder().decode(path))
            """
        )
        assert told == ["session_on_npu: BY_HAND"]

    def test_7_a_setup_file_is_not_ours(self) -> None:
        text = "from setuptools import setup\nsetup(name='x', install_requires=['tensorflow'])\n"
        assert stays(text) == []

    def test_8_sessions_of_the_web_are_not_ours(self) -> None:
        text = "import requests\nsession = requests.Session()\nwith requests.Session() as s: pass\n"
        assert stays(text) == []
        assert stays(f"{TF}{text}") == []

    def test_8_a_file_without_tensorflow_gets_no_import(self) -> None:
        assert stays("import numpy as np\nx = np.zeros(3)\n") == []

    def test_8_horovod_leaves_no_bare_none(self) -> None:
        told = becomes(f"{TF}import horovod.tensorflow as hvd\nx = 1\n", f"{TF}x = 1\n")
        assert told == ["horovod_to_hccl: CHANGED"]

    def test_8_two_wrappers_become_one(self) -> None:
        program = "from npu_bridge.npu_init import *\n" + TF + "with tf.Session(config={}) as s:\n"
        program += "    s.run(x)\n"
        once = "npu_config_proto(config_proto={})"
        told = becomes(
            program.format(once.format(once.format("config"))),
            program.format(once.format("config")),
        )
        assert told == ["double_wrapping: CHANGED"]
        assert stays(program.format(once.format("config"))) == []

    def test_9_a_rate_that_is_a_difference_keeps_its_value(self) -> None:
        told = becomes(
            f"{TF}y = tf.nn.dropout(x, rate=1 - keep)\n",
            f"{TF}from npu_bridge.estimator import npu_ops\n"
            "y = npu_ops.dropout(x, keep_prob=1 - (1 - keep))\n",
        )
        assert told == ["fused_dropout: CHECK"]

    def test_9_drop_remainder_stays_in_its_place(self) -> None:
        program = """\
            import tensorflow as tf{imports}
            def train_input():
                return tf.data.Dataset.range(9).batch(32, {value})
            tf.estimator.Estimator(fn{config}).train(train_input)
            """
        program = textwrap.dedent(program)
        told = becomes(
            program.format(imports="", config="", value=False),
            program.format(
                imports="\nfrom npu_bridge.npu_init import npu_run_config_init",
                config=", config=npu_run_config_init()",
                value=True,
            ),
        )
        assert told == ["static_batch: CHANGED", "estimator_on_npu: CHANGED"]

    def test_9_the_run_configuration_of_an_estimator_stays_in_its_place(self) -> None:
        told = becomes(
            f"{TF}estimator = tf.estimator.Estimator(fn, 'dir', cfg, {{}})\n",
            f"{TF}from npu_bridge.npu_init import npu_run_config_init\n"
            "estimator = tf.estimator.Estimator(fn, 'dir', npu_run_config_init(run_config=cfg), "
            "{})\n",
        )
        assert told == ["estimator_on_npu: CHANGED"]

    def test_9_the_optimizer_of_compile_stays_in_its_place(self) -> None:
        told = becomes(
            f"{TF}model = tf.keras.Sequential()\nmodel.compile('adam', 'mse')\n",
            f"{TF}from npu_bridge.estimator.npu.npu_optimizer import "
            "npu_distributed_optimizer_wrapper\n"
            "model = tf.keras.Sequential()\n"
            "model.compile(npu_distributed_optimizer_wrapper(tf.keras.optimizers.get('adam')), "
            "'mse')\n",
            HCCL,
        )
        assert told == ["keras_distributed: CHANGED"]

    def test_9_a_tuple_of_hooks_is_kept(self) -> None:
        told = becomes(
            f"{TF}spec = tf.estimator.TrainSpec(input_fn, hooks=(hook,))\n",
            f"{TF}from npu_bridge.estimator.npu.npu_hook import NPUBroadcastGlobalVariablesHook\n"
            "spec = tf.estimator.TrainSpec(input_fn, "
            "hooks=[NPUBroadcastGlobalVariablesHook(0)] + list(((hook,)) or ()))\n",
            HCCL,
        )
        assert told == ["initial_broadcast: CHANGED"]

    @pytest.mark.parametrize(
        "text",
        [
            "from sklearn.linear_model import LogisticRegression\nLogisticRegression().fit(X, y)\n",
            "import re, regex\nregex.compile('x')\nre.compile('y')\n",
            "cluster.shard(key)\n",
        ],
    )
    def test_9_methods_of_other_libraries_are_not_ours(self, text: str) -> None:
        assert stays(f"{TF}{text}", HCCL) == []

    def test_9_the_shard_of_a_tpu_keeps_its_arguments(self) -> None:
        text = "from tensorflow.contrib import tpu\ntpu.shard(fn, inputs, num_shards=8)\n"
        assert stays(text, HCCL) == ["tpu_only: BY_HAND"]

    def test_9_a_method_named_gelu_keeps_its_argument(self) -> None:
        program = textwrap.dedent(
            """\
            import tensorflow as tf{imports}

            class Net:
                def gelu(self, x):
                    '''Cheap one.'''  # with tanh
                    return {value}
            """
        )
        told = becomes(
            program.format(
                imports="",
                value="0.5 * x * (1 + tf.tanh(0.7978845608 * (x + 0.044715 * x ** 3)))",
            ),
            program.format(
                imports="\nfrom npu_bridge.estimator.npu_unary_ops import npu_unary_ops",
                value="npu_unary_ops.gelu(x)",
            ),
            GELU,
        )
        assert told == ["fused_gelu: CHECK"]

    def test_9_a_start_with_a_communicator_is_told(self) -> None:
        told = stays(f"{TF}import horovod.tensorflow as hvd\nhvd.init(comm=[0, 1])\n")
        assert told == ["horovod_to_hccl: BY_HAND", "horovod_to_hccl: BY_HAND"]

    def test_9_a_package_file_brings_the_names_that_it_uses(self) -> None:
        files = {"pkg/__init__.py": f"{TF}def f(x):\n    return tf.nn.dropout(x, 0.5)\n"}
        after = text_after(migrate(files, "*"), "pkg/__init__.py")
        assert after == (
            f"{TF}from npu_bridge.estimator import npu_ops\n"
            "def f(x):\n    return npu_ops.dropout(x, 0.5)\n"
        )


class TestSpellings:
    """Every way to write TensorFlow's name: session, Estimator, dropout, device and report."""

    PROGRAM = textwrap.dedent(
        """\
        {imports}
        def build(x):
            with tf.device({device}):
                x = {dropout}(x, 0.5)
            with tf.Session({session}) as session:
                session.run(x)
            return tf.estimator.Estimator(model_fn{config})
        """
    )
    NEEDED = (
        "\nfrom npu_bridge.estimator import npu_ops"
        "\nfrom npu_bridge.npu_init import npu_config_proto"
        "\nfrom npu_bridge.npu_init import npu_run_config_init"
    )

    @pytest.mark.parametrize(
        ("imports", "name"),
        [
            ("import tensorflow as tf", "tf"),
            ("import tensorflow.compat.v1 as tf", "tf"),
            ("import tensorflow as foo", "foo"),
            ("import tensorflow as tf", "tf.compat.v1"),
            ("from tensorflow.compat import v1", "v1"),
            ("import tensorflow", "tensorflow"),
        ],
    )
    def test_names_of_the_module(self, imports: str, name: str) -> None:
        program = self.PROGRAM.replace("tf.", f"{name}.")
        before = program.format(
            imports=imports, device="'/gpu:0'", dropout=f"{name}.nn.dropout", session="", config=""
        )
        after = program.format(
            imports=f"{imports}{self.NEEDED}",
            device="'/cpu:0'",
            dropout="npu_ops.dropout",
            session="config=npu_config_proto()",
            config=", config=npu_run_config_init()",
        )
        assert becomes(before, after) == [
            "device_placement: CHANGED",
            "fused_dropout: CHECK",
            "session_on_npu: CHANGED",
            "estimator_on_npu: CHANGED",
        ]

    @pytest.mark.parametrize(
        ("imports", "function"),
        [
            ("from tensorflow import Session", "Session"),
            ("from tensorflow import Session as S", "S"),
            ("import tensorflow as tf", "getattr(tf, 'Session')"),
            ("import tensorflow as tf\nS = tf.Session", "S"),
            ("from tensorflow.python.client import session", "session.Session"),
        ],
    )
    def test_names_of_a_session(self, imports: str, function: str) -> None:
        first, line, rest = imports.partition("\n")
        program = f"{{}}{line}{rest}\nwith {function}({{}}) as s:\n    s.run(x)\n"
        told = becomes(
            program.format(first, ""),
            program.format(
                f"{first}\nfrom npu_bridge.npu_init import npu_config_proto",
                "config=npu_config_proto()",
            ),
        )
        assert told == ["session_on_npu: CHANGED"]

    @pytest.mark.parametrize("spelling", ["tf.enable", "tf.compat.v1.enable"])
    def test_eager_mode_is_told_under_both_names(self, spelling: str) -> None:
        assert stays(f"{TF}{spelling}_eager_execution()\n") == ["eager_mode: BY_HAND"]

    def test_modules_that_are_assigned(self) -> None:
        program = textwrap.dedent(
            """\
            import tensorflow as tf{imports}
            slim = tf.contrib.slim
            K = tf.keras.backend
            layers = tf.layers
            slim.learning.train(op, logs{loop})
            K.set_session(tf.Session({session}))
            x = layers.dropout(x, 0.5)
            """
        )
        told = becomes(
            program.format(imports="", loop="", session=""),
            program.format(
                imports="\nfrom npu_bridge.npu_init import npu_config_proto"
                "\nfrom npu_bridge.estimator.npu import npu_convert_dropout",
                loop=", session_config=npu_config_proto()",
                session="config=npu_config_proto()",
            ),
        )
        assert told == [
            "session_on_npu: CHANGED",
            "session_on_npu: CHANGED",
            "layer_dropout: CHECK",
        ]

    @pytest.mark.parametrize(
        ("text", "name"),
        [
            ("import tensorflow as foo\nfoo.zeros(3)\n", "tf.zeros"),
            (f"{TF}tf.compat.v1.zeros(3)\n", "tf.zeros"),
            ("from tensorflow import zeros as z\nz(3)\n", "tf.zeros"),
            (f"{TF}getattr(tf, 'zeros')(3)\n", "tf.zeros"),
            (f"{TF}slim = tf.contrib.slim\nslim.conv2d(x, 3, 3)\n", "tf.contrib.slim.conv2d"),
            (f"{TF}K = tf.keras.backend\nK.zeros(3)\n", "tf.keras.backend.zeros"),
            (f"{TF}layers = tf.layers\nlayers.dense(x, 3)\n", "tf.layers.dense"),
        ],
    )
    def test_the_report_has_the_call_under_its_full_name(
        self, tmp_path: Path, text: str, name: str
    ) -> None:
        migration = migrate_project(make_project(tmp_path, {"a.py": text.encode()}), PLAIN)
        assert name in [use.name for use in migration.apis]


BEFORE = f"{TF}y = tf.nn.dropout(x, 0.5)\n".encode()
AFTER = (f"{TF}from npu_bridge.estimator import npu_ops\ny = npu_ops.dropout(x, 0.5)\n").encode()


class TestFilesThatStopOthers:
    """One odd file costs nothing: it is migrated, or told, and the rest goes on."""

    def test_a_python_2_file_among_others(self, tmp_path: Path) -> None:
        files = {"old.py": b"print 'x'\n" + BEFORE, "new.py": BEFORE}
        out = self.written(tmp_path, files)
        assert (out / "new.py").read_bytes() == AFTER
        assert (out / "old.py").read_bytes() == (b"print 'x'\n" + AFTER)

    def test_a_file_that_is_no_python_is_told_and_kept(self, tmp_path: Path) -> None:
        files = {"odd.py": b"def f(:\n", "new.py": BEFORE}
        out = self.written(tmp_path, files)
        assert (out / "new.py").read_bytes() == AFTER
        assert (out / "odd.py").read_bytes() == b"def f(:\n"
        (told,) = migrate_project(tmp_path / "project", PLAIN).unreadable
        assert str(told.path) == "odd.py"
        assert told.line == 1

    def test_a_byte_order_mark(self, tmp_path: Path) -> None:
        out = self.written(tmp_path, {"a.py": b"\xef\xbb\xbf" + BEFORE})
        assert (out / "a.py").read_bytes() == b"\xef\xbb\xbf" + AFTER

    @pytest.mark.parametrize(("encoding", "word"), [("gbk", "训练"), ("latin-1", "Gewähr")])
    def test_a_declared_encoding(self, tmp_path: Path, encoding: str, word: str) -> None:
        top = f"# -*- coding: {encoding} -*-\n# {word}\n".encode(encoding)
        end = f"name = '{word}'; z = 1\n".encode(encoding)
        out = self.written(tmp_path, {"a.py": top + BEFORE + end})
        assert (out / "a.py").read_bytes() == top + AFTER + end

    def test_a_gelu_of_any_arguments(self) -> None:
        told = stays(f"{TF}def gelu(*args):\n    return args[0]\n", GELU)
        assert told == ["fused_gelu: BY_HAND"]

    def test_a_file_of_more_than_ten_megabytes_is_there(self, tmp_path: Path) -> None:
        big = b"x = [\n" + b"    1234567890,\n" * 700_000 + b"]\n"
        out = self.written(tmp_path, {"table.py": big, "a.py": BEFORE})
        assert (out / "table.py").read_bytes() == big
        assert (out / "a.py").read_bytes() == AFTER

    def test_a_linked_folder_is_there(self, tmp_path: Path) -> None:
        project = make_project(tmp_path / "project", {"src/a.py": BEFORE})
        (project / "link").symlink_to("src")
        out = tmp_path / "out"
        write_tree(migrate_project(project, PLAIN), out)
        assert (out / "link").is_symlink()
        assert (out / "link" / "a.py").read_bytes() == AFTER

    def test_a_notebook_is_migrated(self, tmp_path: Path) -> None:
        source = ["%matplotlib inline\n", BEFORE.decode()]
        cell: dict[str, object] = {"cell_type": "code", "source": source, "metadata": {}}
        cell |= {"outputs": [], "execution_count": None}
        book = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 2}
        out = self.written(tmp_path, {"a.ipynb": json.dumps(book).encode()})
        (after,) = json.loads((out / "a.ipynb").read_text())["cells"]
        assert "".join(after["source"]) == "%matplotlib inline\n" + AFTER.decode()

    def test_history_is_left_out_and_data_is_copied(self, tmp_path: Path) -> None:
        files = {".git/HEAD": b"ref\n", "data/one.bin": b"\0\xff", "a.py": BEFORE}
        out = self.written(tmp_path, files)
        assert not (out / ".git").exists()
        assert (out / "data" / "one.bin").read_bytes() == b"\0\xff"

    def test_a_second_run_changes_nothing(self, tmp_path: Path) -> None:
        program = textwrap.dedent(
            """\
            import tensorflow as tf
            import horovod.tensorflow as hvd

            def main(_):
                hvd.init()
                optimizer = hvd.DistributedOptimizer(tf.train.AdamOptimizer(0.1 * hvd.size()))
                hooks = [hvd.BroadcastGlobalVariablesHook(0)]
                with tf.train.MonitoredTrainingSession(hooks=hooks) as session:
                    session.run(optimizer.minimize(loss))

            if __name__ == "__main__":
                tf.app.run()
            """
        )
        out = self.written(tmp_path, {"a.py": program.encode()})
        assert b"horovod" not in (out / "a.py").read_bytes()
        assert migrate_project(out, PLAIN).changed == ()

    def test_python_of_today_is_read(self) -> None:
        stays(
            """\
            import tensorflow as tf
            async def f(x: int, /, *, y: float = 1.0) -> str:
                match x:
                    case 1:
                        return f"{x!r:>{y}}"
                if (n := x) > 1:
                    await g(n)
            """
        )

    @staticmethod
    def written(tmp_path: Path, files: dict[str, bytes]) -> Path:
        project = make_project(tmp_path / "project", files)
        migration: Migration = migrate_project(project, PLAIN)
        assert migration.failures == ()
        write_tree(migration, tmp_path / "out")
        return tmp_path / "out"


class TestFormThatOthersLose:
    def test_line_ends_modes_and_the_end_of_the_file_stay(self, tmp_path: Path) -> None:
        before = BEFORE.replace(b"\n", b"\r\n").rstrip()
        project = make_project(tmp_path / "project", {"run.py": before})
        (project / "run.py").chmod(0o755)
        write_tree(migrate_project(project, PLAIN), tmp_path / "out")
        written = tmp_path / "out" / "run.py"
        assert written.read_bytes() == AFTER.replace(b"\n", b"\r\n").rstrip()
        assert os.stat(written).st_mode & 0o777 == 0o755  # noqa: PTH116

    def test_a_main_on_one_line_still_compiles(self) -> None:
        text = f"{TF}model = tf.keras.Sequential()\nif __name__ == '__main__': model.fit(x, y)\n"
        assert stays(text) == ["keras_session: BY_HAND"]

    def test_a_docstring_and_future_imports_stay_first(self) -> None:
        names = ("absolute_import", "division", "print_function", "unicode_literals", "generators")
        top = '"""Doc."""\n' + "".join(f"from __future__ import {name}\n" for name in names)
        told = becomes(top + BEFORE.decode(), top + AFTER.decode())
        assert told == ["fused_dropout: CHECK"]
