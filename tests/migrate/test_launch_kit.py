"""The launch kit starts the project's own programs, with their own arguments."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.migrate.written import make_project, migrated
from trainferry.migrate.launch_kit import launch_kit
from trainferry.migrate.write import write_tree

TRAIN = b"""
import argparse
import tensorflow as tf
parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True, help="where the  records are")
parser.add_argument("-b", "--batch", type=int, default=32)
if __name__ == "__main__":
    tf.Session()
"""
FLAGS = b"""
import tensorflow as tf
tf.app.flags.DEFINE_string("model_dir", "/tmp/x", "where to save")
tf.compat.v1.flags.DEFINE_integer("steps", 100, "how long")
if "__main__" == __name__:
    tf.app.run()
"""
REPORT = b"""
import os, sys, tensorflow
if __name__ == "__main__":
    names = ["RANK_ID", "RANK_SIZE", "ASCEND_DEVICE_ID", "JOB_ID"]
    print(" ".join(os.environ.get(n, "-") for n in names), sys.argv[1:], flush=True)
    sys.exit(3 if os.environ["RANK_ID"] == os.environ.get("FAIL") else 0)
"""


def kit_of(tmp_path: Path, files: dict[str, bytes]) -> dict[str, str]:
    migration = migrated(make_project(tmp_path / "project", files))
    return {str(path): data.decode() for path, data in launch_kit(migration)}


class TestEntries:
    def test_programs_of_other_frameworks_are_none(self, tmp_path: Path) -> None:
        start = b"\nif __name__ == '__main__':\n    hvd.init()\n"
        files = {
            "torch_train.py": b"import torch\nimport horovod.torch as hvd" + start,
            "mx_train.py": b"import mxnet as mx\nfrom horovod import mxnet as hvd" + start,
            "zz_train.py": b"import horovod.keras as hvd" + start,
        }
        found = [str(entry.path) for entry in migrated(make_project(tmp_path, files)).entries]
        assert found == ["zz_train.py"]

    def test_programs_are_found_with_their_arguments(self, tmp_path: Path) -> None:
        files = {"train.py": TRAIN, "tools/eval_net.py": FLAGS, "net.py": b"import tensorflow\n"}
        migration = migrated(make_project(tmp_path, files))
        found = [(str(entry.path), entry.trains) for entry in migration.entries]
        assert found == [("train.py", True), ("tools/eval_net.py", False)]
        named = [
            [(one.name, one.default, one.is_required) for one in entry.arguments]
            for entry in migration.entries
        ]
        assert named == [
            [("--data", None, True), ("--batch", "32", False)],
            [("--model_dir", '"/tmp/x"', False), ("--steps", "100", False)],
        ]

    def test_tests_and_programs_without_tensorflow_are_none(self, tmp_path: Path) -> None:
        plain = b"if __name__ == '__main__':\n    print(1)\n"
        files = {"setup.py": TRAIN, "net_test.py": TRAIN, "plain.py": plain}
        assert migrated(make_project(tmp_path, files)).entries == ()

    def test_a_program_may_use_tensorflow_through_its_own_modules(self, tmp_path: Path) -> None:
        main = b"from nets import model\nif __name__ == '__main__':\n    model.go()\n"
        files = {"main.py": main, "nets/model.py": b"import tensorflow as tf\ntf.no_op()\n"}
        assert [str(one.path) for one in migrated(make_project(tmp_path, files)).entries] == [
            "main.py"
        ]

    @pytest.mark.parametrize(
        "code",
        [
            "opt = tf.train.AdamOptimizer()\nwith tf.Session() as s:\n    s.run(opt.minimize(x))\n",
            "tf.train.AdamOptimizer()\nif ready:\n    s = tf.InteractiveSession()\n",
            "estimator = tf.estimator.Estimator(net)\nestimator.train(feed)\n",
            "model = tf.keras.Sequential([])\nmodel.fit(x, y)\n",
            "model = tf.keras.Sequential([])\nif ready:\n    model.fit_generator(x)\n",
            "tf.estimator.train_and_evaluate(a, b, c)\n",
            "def main(_):\n    tf.train.AdamOptimizer()\ntry:\n    tf.app.run()\n"
            "except ValueError:\n    pass\n",
            "def go(s):\n    tf.train.AdamOptimizer()\ndef main():\n    with tf.Session() as s:\n"
            "        go(s)\nmain()\n",
            "def open():\n    tf.train.AdamOptimizer()\n    return tf.Session()\n"
            "def main():\n    s = open()\nif ready:\n    main()\n",
        ],
    )
    def test_a_script_that_trains_at_once_is_a_program(self, tmp_path: Path, code: str) -> None:
        files = {"net.py": f"import tensorflow as tf\n{code}".encode()}
        migration = migrated(make_project(tmp_path, files))
        assert [(str(one.path), one.trains) for one in migration.entries] == [("net.py", True)]

    @pytest.mark.parametrize(
        "code",
        [
            "def go():\n    with tf.Session() as s:\n        pass\n",
            "class Net:\n    def go(self):\n        self.s = tf.Session()\n",
            "x = tf.placeholder(tf.float32)\n",
            "def loss():\n    return tf.zeros([])\nx = loss()\n",
            "def a():\n    tf.Session()\n    b()\ndef b():\n    a()\n",
        ],
    )
    def test_a_module_that_only_defines_is_none(self, tmp_path: Path, code: str) -> None:
        files = {"net.py": f"import tensorflow as tf\n{code}".encode()}
        assert migrated(make_project(tmp_path, files)).entries == ()

    def test_a_program_trains_with_the_optimizer_of_its_model(self, tmp_path: Path) -> None:
        run = b"import tensorflow as tf\nimport model\ns = tf.Session()\n"
        model = b"import tensorflow as tf\ndef step():\n    return tf.train.AdamOptimizer()\n"
        files = {"run.py": run, "predict.py": run, "demo.py": run, "model.py": model}
        entries = migrated(make_project(tmp_path, files)).entries
        assert [str(one.path) for one in entries if one.trains] == ["run.py"]
        assert len(entries) == 3

    @pytest.mark.parametrize(
        "code",
        [
            "if __name__ == '__main__':\n    DeepFM().fit(x, y)\n",
            "def run(data):\n    net = DeepFM()\n    net.fit(data)\nrun(1)\n",
        ],
    )
    def test_a_program_trains_with_a_class_of_the_project(self, tmp_path: Path, code: str) -> None:
        net = (
            b"import tensorflow as tf\nfrom sklearn.base import BaseEstimator\n"
            b"class DeepFM(BaseEstimator):\n    def __init__(self):\n"
            b"        self.step = tf.train.AdamOptimizer().minimize(loss)\n"
            b"        self.session = tf.Session()\n"
            b"    def fit(self, x, y=None):\n        self.session.run(self.step)\n"
            b"    def predict(self, x):\n        return self.session.run(self.out)\n"
        )
        main = f"import sys\nsys.path.append('..')\nfrom DeepFM import DeepFM\n{code}".encode()
        files = {
            "DeepFM.py": net,
            "example/main.py": main,
            "example/show.py": main.replace(b"fit", b"predict"),
            "train_other.py": TRAIN,
        }
        entries = migrated(make_project(tmp_path, files)).entries
        trains = [str(one.path) for one in entries if one.trains]
        assert trains == ["example/main.py", "train_other.py"]

    def test_a_class_that_makes_no_optimizer_does_not_say_that_it_trains(
        self, tmp_path: Path
    ) -> None:
        net = b"import tensorflow as tf\nclass Scaler:\n    def fit(self, x):\n        pass\n"
        main = b"from net import Scaler\nScaler().fit(1)\n"
        assert migrated(make_project(tmp_path, {"net.py": net, "main.py": main})).entries == ()

    @pytest.mark.parametrize(
        "imported", ["import tools.net", "from tools import net", "from tools.net import s"]
    )
    def test_what_another_file_imports_is_no_program(self, tmp_path: Path, imported: str) -> None:
        net = b"import tensorflow as tf\ns = tf.Session()\n"
        other = f"{imported}\n".encode()
        files = {"tools/net.py": net, "run.py": other}
        assert migrated(make_project(tmp_path, files)).entries == ()


class TestScripts:
    def test_there_is_one_pair_per_training_program(self, tmp_path: Path) -> None:
        kit = kit_of(tmp_path, {"a/train.py": TRAIN, "b/train.py": TRAIN, "eval.py": FLAGS})
        assert sorted(kit) == [
            "npu_launch/a_train_1p.sh",
            "npu_launch/a_train_8p.sh",
            "npu_launch/b_train_1p.sh",
            "npu_launch/b_train_8p.sh",
            "npu_launch/rank_table_8p.json",
        ]
        assert "--data  (required)  where the records are" in kit["npu_launch/a_train_1p.sh"]

    def test_without_a_program_there_is_no_kit(self, tmp_path: Path) -> None:
        assert kit_of(tmp_path, {"net.py": b"import tensorflow\n"}) == {}

    def test_a_name_that_the_shell_would_run_stays_a_name(self, tmp_path: Path) -> None:
        kit = kit_of(tmp_path, {"train $(touch x).py": TRAIN})
        assert all("'train $(touch x).py'" in text for path, text in kit.items() if "1p" in path)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    project = make_project(tmp_path / "project", {"train.py": REPORT})
    migration = migrated(project)
    write_tree(migration, tmp_path / "new", launch_kit(migration))
    program = tmp_path / "new" / "train.py"
    program.write_bytes(program.read_bytes().replace(b", tensorflow", b""))
    return tmp_path / "new"


def run(script: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {key: value for key, value in os.environ.items() if key != "ASCEND_DEVICE_ID"}
    return subprocess.run(
        [script, *arguments],
        env={**inherited, "PYTHON": sys.executable, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


class TestRuns:
    @pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
    @pytest.mark.parametrize("name", [b"caf\xe9.py", b"new\nline.py", b"a b.py"])
    def test_a_program_of_any_name(self, tmp_path: Path, name: bytes) -> None:
        new, stem = tmp_path / "new", os.fsdecode(name).removesuffix(".py")
        migration = migrated(make_project(tmp_path / "project", {os.fsdecode(name): REPORT}))
        write_tree(migration, new, launch_kit(migration))
        program = new / os.fsdecode(name)
        program.write_bytes(program.read_bytes().replace(b", tensorflow", b""))
        done = run(new / "npu_launch" / f"{stem}_1p.sh", "--x")
        assert "['--x']" in done.stdout
        assert "command not found" not in done.stderr

    def test_one_device(self, tree: Path) -> None:
        done = run(tree / "npu_launch/train_1p.sh", "--data", "a b")
        assert done.stdout == "0 1 0 10087 ['--data', 'a b']\n"
        assert done.returncode == 0

    def test_an_empty_rank_table_is_told(self, tree: Path) -> None:
        done = run(tree / "npu_launch/train_8p.sh")
        assert done.returncode == 1
        assert "hccn_tool" in done.stderr

    def test_eight_devices(self, tree: Path) -> None:
        _fill_in(tree)
        done = run(tree / "npu_launch/train_8p.sh", "--steps", "3")
        assert done.returncode == 0, done.stderr
        logs = sorted((tree / "npu_launch/logs").glob("rank_*.log"))
        assert [log.read_text() for log in logs] == [
            f"{rank} 8 {rank} 10087 ['--steps', '3']\n" for rank in range(8)
        ]

    def test_one_failed_rank_fails_the_run(self, tree: Path) -> None:
        _fill_in(tree)
        done = run(tree / "npu_launch/train_8p.sh", FAIL="5")
        assert done.returncode == 1
        assert "a rank failed" in done.stderr

    def test_a_required_argument_is_asked_for(self, tmp_path: Path) -> None:
        project = make_project(tmp_path / "project", {"train.py": TRAIN})
        migration = migrated(project)
        write_tree(migration, tmp_path / "new", launch_kit(migration))
        done = run(tmp_path / "new/npu_launch/train_1p.sh", "--batch", "3")
        assert done.returncode == 2
        assert "--data" in done.stderr


def test_a_program_that_imports_from_its_own_package_is_run_as_a_module(tmp_path: Path) -> None:
    program = REPORT.replace(b"import os, sys, tensorflow\n", b"from .names import os, sys\n")
    files = {
        "reader/__main__.py": program,
        "reader/train.py": program,
        "reader/names.py": b"import os, sys\nimport tensorflow as tf\nx = tf.zeros([])\n",
        "not-a-module/train_other.py": program,
    }
    migration = migrated(make_project(tmp_path / "project", files))
    kit = {path.name: data.decode() for path, data in launch_kit(migration)}
    assert '"$python" -m reader.train "$@"' in kit["train_1p.sh"]
    assert '"$python" -m reader.train "$@"' in kit["train_8p.sh"]
    assert '"$python" not-a-module/train_other.py "$@"' in kit["train_other_1p.sh"]
    modules = {str(one.path): one.module for one in migration.entries}
    assert modules["reader/__main__.py"] == "reader"


def _fill_in(tree: Path) -> None:
    table = tree / "npu_launch/rank_table_8p.json"
    text = table.read_text().replace("FILL-IN", "10.0.0.1")
    assert len(json.loads(text)["server_list"][0]["device"]) == 8
    table.write_text(text)
