"""The stand-ins inside TensorFlow 1.15, and inside 2.15 behind the import layer."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.rehearse.stand_in.tensorflows import (
    INTERPRETERS,
    environment,
    outcomes,
    python_for,
    sentences,
)

FILES = ("recurrent_checks.py", "config_checks.py", "training_checks.py", "estimator_checks.py")


@pytest.mark.slow
@pytest.mark.parametrize("version", INTERPRETERS)
@pytest.mark.parametrize(
    ("file", "sentence"), [(file, name) for file in FILES for name in sentences(file)]
)
def test_inside(file: str, sentence: str, version: str) -> None:
    assert outcomes(file, version)[sentence] == ""


OLDER = """
import tensorflow as tf
from npu_bridge.npu_init import *
with tf.Session() as sess:
    assert sess._config is None or not sess._config.graph_options.rewrite_options.custom_optimizers
NPURunConfig(auto_tune_mode="RL,GA")
try:
    NPURunConfig(auto_tune="RL,GA")
except TypeError as error:
    assert "auto_tune" in str(error)
    print("done")
"""


@pytest.mark.slow
@pytest.mark.parametrize("version", INTERPRETERS)
def test_older_adapters_leave_sessions_alone(version: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [python_for(version), "-c", OLDER],
        env=environment(version, TRAINFERRY_ADAPTER="explicit"),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "done\n", done.stderr[-3000:]
