"""TensorFlow 2.15 behind the import layer is the interface of 1.15."""

from __future__ import annotations

import ast
import functools
import json
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.rehearse.stand_in.tensorflows import environment, python_for

HERE = Path(__file__).parent
RUN = HERE.parent / "stand_in" / "inside" / "run_checks.py"


def sentences(file: str) -> list[str]:
    tree = ast.parse((HERE / "inside" / file).read_text("utf-8"))
    return [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]


@functools.cache
def outcomes(file: str) -> dict[str, str]:
    python = python_for("2.15")
    with tempfile.TemporaryDirectory() as folder:
        variables = environment("2.15")
        variables["PYTHONPATH"] += f":{HERE / 'inside'}"
        done = subprocess.run(
            [python, str(RUN), file],
            env=variables,
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
    if "No module named 'tf_slim'" in done.stderr:
        pytest.skip("the TensorFlow of TRAINFERRY_TF215 is without tf_slim")
    if done.returncode:
        raise AssertionError(done.stderr[-4000:])
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("sentence", sentences("layer_checks.py"))
def test_behind_the_layer(sentence: str) -> None:
    assert outcomes("layer_checks.py")[sentence] == ""


@pytest.mark.slow
@pytest.mark.parametrize("sentence", sentences("slim_checks.py"))
def test_with_slim(sentence: str) -> None:
    assert outcomes("slim_checks.py")[sentence] == ""


@pytest.mark.slow
def test_a_script_called_keras_does_not_hide_keras(tmp_path: Path) -> None:
    script = tmp_path / "keras.py"
    script.write_text("import tensorflow as tf\nprint(tf.estimator, tf.keras.layers.Dense)\n")
    done = subprocess.run(
        [python_for("2.15"), str(script)],
        env=environment("2.15"),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert "layers.core.dense.Dense" in done.stdout, done.stderr
