"""The command on real TensorFlow: the examples against their originals, and scripts that misbehave.

Needs an interpreter with TensorFlow, named by TRAINFERRY_TF115 or TRAINFERRY_TF215.
"""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import pytest

from tests.rehearse.stand_in.tensorflows import python_for
from trainferry.cli.main import main

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
# What a rehearsal says of each migrated example; examples/README.md says why.
FOUND = {
    "estimator": {("note", "gpu-options")},
    "session": {("note", "gpu-options")},
    "keras": {("note", "conditional")},
    "horovod": {("note", "gpu-options")},
    "strategy": set(),
    "slim_queues": {
        ("refused", "queue-input"),
        ("risk", "finite-check"),
        ("note", "gpu-options"),
    },
}
TRAINS = """
import os
import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *

x = tf.placeholder(tf.float32, [4, 3])
w = tf.Variable(tf.ones([3, 1]))
loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
sess = tf.Session(config=npu_config_proto())
sess.run(tf.global_variables_initializer())
step = lambda: sess.run([train_op, loss], {x: np.ones([4, 3])})
"""

pytestmark = pytest.mark.slow


def rehearse(folder: Path, version: str, project: Path, *words: str) -> tuple[int, dict[str, Any]]:
    run = folder / "run"
    how = ["--entry", "train.py", "--python", python_for(version), "--to", str(run)]
    code = main(["rehearse", str(project), *how, *words])
    return code, json.loads((run / "rehearsal.json").read_text())


@pytest.mark.parametrize("version", ["1.15", "2.15"])
def test_an_original_for_gpus_is_compared_without_any(version: str, tmp_path: Path) -> None:
    ends = "for _ in range(10): step()\n"
    for name, program in {
        "migrated": TRAINS + ends,
        "original": TRAINS.replace("from npu_bridge.npu_init import *\n", "")
        .replace("w = tf.Variable", "with tf.device('/gpu:0'): w = tf.Variable")
        .replace("config=npu_config_proto()", "")
        + ends,
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.py").write_text(program)
    original = str(tmp_path / "original")
    code, made = rehearse(tmp_path, version, tmp_path / "migrated", "--original", original)
    assert (code, made["verdict"]) == (0, "runs")
    assert made["compared"][0]["agrees"]


@pytest.mark.parametrize("style", FOUND)
@pytest.mark.parametrize("version", ["1.15", "2.15"])
def test_migrated_examples_compute_what_their_originals_do_and_nothing_else_is_found(
    style: str, version: str, tmp_path: Path
) -> None:
    original = EXAMPLES / style / "before"
    words = ["--original", str(original), "--steps", "5"]
    code, told = rehearse(tmp_path, version, EXAMPLES / style / "after", *words)
    assert [len(side["ranks"][0]["losses"]) for side in told["sides"]] == [5, 5]
    (compared,) = told["compared"]
    assert compared["agrees"], compared["summary"]
    assert compared["steps"] == 5
    assert {(one["severity"], one["check"]) for one in told["findings"]} == FOUND[style]
    assert code == (1 if style == "slim_queues" else 0)


@pytest.mark.cluster
@pytest.mark.parametrize("style", ["horovod", "strategy"])
def test_distributed_examples_run_on_two_ranks(style: str, tmp_path: Path) -> None:
    words = ["--ranks", "2", "--steps", "4"]
    code, told = rehearse(tmp_path, "1.15", EXAMPLES / style / "after", *words)
    assert (code, told["verdict"]) == (0, "runs")
    assert [len(rank["losses"]) for rank in told["sides"][0]["ranks"]] == [4, 4]


@pytest.mark.cluster
def test_a_project_for_one_device_is_refused_on_two(tmp_path: Path) -> None:
    words = ["--ranks", "2", "--steps", "3"]
    code, told = rehearse(tmp_path, "1.15", EXAMPLES / "session" / "after", *words)
    assert (code, told["verdict"]) == (1, "refused")
    found = {finding["check"]: finding for finding in told["findings"]}
    assert {"weights-differ", "no-allreduce"} <= set(found)
    assert found["no-allreduce"]["places"][0].startswith("train.py:")


ENDINGS = {
    "a loop without end": ("while True: step()", "runs", 3),
    "a loop that catches everything": (
        "while True:\n    try: step()\n    except BaseException: pass",
        "runs",
        3,
    ),
    "a sudden exit": ("step(); step(); os._exit(5)", "did_not_run", 2),
    "a sudden good exit": ("step(); step(); os._exit(0)", "runs", 2),
    "an error": ("step(); raise ValueError('boom')", "did_not_run", 1),
    "a refusal": ("step(); NPURunConfig(nothing=1)", "refused", 1),
    "no training": ("sess.run(loss, {x: np.ones([4, 3])})", "did_not_run", 0),
    "a child that trains": (
        "import sys, subprocess\n"
        "if len(sys.argv) == 1:\n"
        "    sess.close()\n"
        "    subprocess.check_call([sys.executable, __file__, 'child'])\n"
        "else:\n"
        "    while True: step()",
        "runs",
        3,
    ),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_every_way_to_end_has_its_verdict(name: str, tmp_path: Path) -> None:
    program, verdict, steps = ENDINGS[name]
    project = tmp_path / "project"
    project.mkdir()
    (project / "train.py").write_text(TRAINS + textwrap.dedent(program))
    words = ["--steps", "3", "--timeout", "120"]
    code, told = rehearse(tmp_path, "1.15", project, *words)
    assert told["verdict"] == verdict
    assert code == (0 if verdict == "runs" else 1)
    assert len(told["sides"][0]["ranks"][0]["losses"]) == steps
