"""What watching costs: the same train steps with and without the watch, in turn, in one run.

    python benchmarks/rehearse_overhead.py PYTHON [--rounds 3] [--case NAME] [--json]

PYTHON has TensorFlow 1.15 or 2.x. Each case is a small script that is run in a process of its own;
both kinds of process load the probe, so that TensorFlow 2.x has its layer in both. The least of
all rounds counts: other work on the machine only ever adds. Time of the processor is told beside
that of the clock, because it depends less on what else runs. *Checks* is what happens after the
script ended: reading what the watch wrote, and running every check over it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from trainferry.rehearse.check import check_run
from trainferry.rehearse.facts import read_facts

ENTRY = Path(__file__).resolve().parents[1] / "src/trainferry/rehearse/probe/entry"

TIMED = """
import json, time
def now():
    return np.array([time.perf_counter(), time.process_time()])
import numpy as np
begun = now()
import tensorflow as tf
tf.logging.set_verbosity(tf.logging.ERROR)
{build}
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    ready = now()
    session.run([train, loss])
    first = now()
    for _ in range({steps} - 1):
        session.run([train, loss])
    end = now()
print(json.dumps(dict(operators=len(tf.get_default_graph().get_operations()),
    first=list(first - ready), rest=list(end - first), whole=list(end - begun))))
"""

CONVOLUTIONS = """
pictures = np.random.RandomState(0).rand(64, 64, 64, 3).astype("float32")
rows = tf.data.Dataset.from_tensor_slices((pictures, np.arange(64) % 10)).repeat().batch(32)
net, labels = rows.make_one_shot_iterator().get_next()
for filters in (32, 64, 64, 128):
    net = tf.layers.conv2d(net, filters, 3, padding="same")
    net = tf.nn.relu(tf.layers.batch_normalization(net, training=True))
    net = tf.layers.max_pooling2d(net, 2, 2)
logits = tf.layers.dense(tf.layers.flatten(net), 10)
loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
train = tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss)
"""

SMALL = """
values = np.random.RandomState(0).rand(512, 784).astype("float32")
rows = tf.data.Dataset.from_tensor_slices((values, np.arange(512) % 10)).repeat().batch(128)
net, labels = rows.make_one_shot_iterator().get_next()
logits = tf.layers.dense(tf.layers.dense(net, 512, tf.nn.relu), 10)
loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
train = tf.train.AdamOptimizer().minimize(loss)
"""

LARGE = """
values = np.random.RandomState(0).rand(64, 16).astype("float32")
rows = tf.data.Dataset.from_tensor_slices(values).repeat().batch(8)
net = rows.make_one_shot_iterator().get_next()
for number in range(520):
    weights = tf.get_variable("weights_%d" % number, [16, 16])
    offset = tf.get_variable("offset_%d" % number, [16])
    net = tf.nn.relu(tf.matmul(net, weights) + offset)
loss = tf.reduce_mean(tf.square(net))
train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
"""


@dataclass(frozen=True)
class Case:
    """A script and how many train steps it makes."""

    name: str
    build: str
    steps: int


CASES = (
    Case("convolutions", CONVOLUTIONS, 30),
    Case("small", SMALL, 1000),
    Case("large graph", LARGE, 10),
)


@dataclass(frozen=True)
class Times:
    """Seconds of one script: by the clock, and of the processor."""

    operators: int
    first: tuple[float, float]
    """The first step; TensorFlow prepares the graph in it, and the watch describes it."""
    rest: tuple[float, float]
    whole: tuple[float, float]
    checks: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class Row:
    """One case, without and with the watch."""

    case: str
    steps: int
    plain: Times
    watched: Times


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("python", help="an interpreter with TensorFlow 1.15 or 2.x")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--case", choices=[case.name for case in CASES])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    cases = [case for case in CASES if options.case in (None, case.name)]
    rows = [measure(options.python, case, options.rounds) for case in cases]
    if options.json:
        print(json.dumps([asdict(row) for row in rows]))
    else:
        print(table(rows))
    return 0


def measure(python: str, case: Case, rounds: int) -> Row:
    plain, watched = [], []
    for _ in range(rounds):
        plain.append(run(python, case, watch=False))
        watched.append(run(python, case, watch=True))
    return Row(case.name, case.steps, least(plain), least(watched))


def least(times: Sequence[Times]) -> Times:
    def of(name: str) -> tuple[float, float]:
        clock, processor = zip(*(getattr(one, name) for one in times), strict=True)
        return min(clock), min(processor)

    return Times(times[0].operators, of("first"), of("rest"), of("whole"), of("checks"))


def run(python: str, case: Case, *, watch: bool) -> Times:
    """Run a case once in a process of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        script = folder / "script.py"
        script.write_text(TIMED.format(build=case.build, steps=case.steps))
        environment = {
            **{key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ},
            "PYTHONPATH": str(ENTRY),
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "CUDA_VISIBLE_DEVICES": "-1",
        }
        if watch:
            asked = {"folder": str(folder), "steps": None, "values": None, "seed": None}
            (folder / "watch.json").write_text(json.dumps(asked))
            environment["TRAINFERRY_WATCH"] = str(folder / "watch.json")
        done = subprocess.run(
            [python, str(script)],
            env=environment,
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(done.stderr[-4000:])
        times = Times(**json.loads(done.stdout.splitlines()[-1]))
        return replace(times, checks=check(folder)) if watch else times


def check(folder: Path) -> tuple[float, float]:
    """Run all checks over what a script left; return seconds of the clock and the processor."""
    began = time.perf_counter(), time.process_time()
    check_run([read_facts(folder)])
    return time.perf_counter() - began[0], time.process_time() - began[1]


def table(rows: Sequence[Row]) -> str:
    lines = [
        "| case | operators | steps | plain | watched | watching adds | to later steps "
        "| to the first | checks |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        for number, kind in enumerate(("clock", "processor")):
            plain, watched = row.plain, row.watched
            lines.append(
                f"| {row.case}, {kind} | {plain.operators:,} | {row.steps} "
                f"| {plain.whole[number]:.1f} s | {watched.whole[number]:.1f} s "
                f"| {percent(plain.whole[number], watched.whole[number])} "
                f"| {percent(plain.rest[number], watched.rest[number])} "
                f"| +{watched.first[number] - plain.first[number]:.2f} s "
                f"| {watched.checks[number]:.2f} s |"
            )
    return "\n".join(lines)


def percent(plain: float, watched: float) -> str:
    return f"{(watched / plain - 1) * 100:+.0f} %"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
