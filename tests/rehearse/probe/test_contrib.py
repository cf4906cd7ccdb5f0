"""What we rebuilt of `tf.contrib` computes what the real one computes."""

from __future__ import annotations

import ast
import functools
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.rehearse.stand_in.tensorflows import environment, python_for

CASES = Path(__file__).parent / "inside" / "contrib_cases.py"


def names() -> list[str]:
    tree = ast.parse(CASES.read_text("utf-8"))
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    return [name for name in functions if not name.startswith("_") and name != "main"]


@functools.cache
def results(version: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [python_for(version), str(CASES)],
            env=environment(version),
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
    if done.returncode:
        raise AssertionError(done.stderr[-4000:])
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", names())
def test_rebuilt_part(name: str) -> None:
    real, ours = results("1.15")[name], results("2.15")[name]
    if isinstance(ours, str) and "tf_slim" in ours:
        pytest.skip("the TensorFlow of TRAINFERRY_TF215 is without tf_slim")
    assert not isinstance(real, str), real
    assert not isinstance(ours, str), ours
    assert ours[0] == real[0]
    assert len(ours[1]) == len(real[1])
    for our_value, real_value in zip(ours[1], real[1], strict=True):
        if isinstance(real_value, str):
            assert our_value == real_value
        else:
            np.testing.assert_allclose(our_value, real_value, rtol=1e-5, atol=1e-6)
