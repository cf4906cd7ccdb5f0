"""Projects whose scripts need no TensorFlow: they write down steps as the watch does."""

from __future__ import annotations

import textwrap
from pathlib import Path

STEPS = '''\
"""Writes steps as a watched script does."""

import json
import os
import time

WATCH = json.load(open(os.environ["TRAINFERRY_WATCH"]))
FACTS = open(os.path.join(WATCH["folder"], "facts.jsonl"), "a")


def tell(kind, **fields):
    FACTS.write(json.dumps(dict(kind=kind, **fields)) + "\\n")
    FACTS.flush()


def start():
    rank = int(os.environ.get("TRAINFERRY_RANK", 0))
    ranks = int(os.environ.get("TRAINFERRY_RANKS", 1))
    folder = os.path.dirname(os.path.abspath(__file__))
    known = dict(tensorflow="1.15.5", python="3.7.9", argv=[], folder=folder)
    tell("start", rank=rank, ranks=ranks, **known)


def step(number):
    tell("step", number=number, run=1, seconds=0.01, loss=2.0 / number, tensor="loss")


def train(steps=None):
    start()
    for number in range(1, (steps or WATCH["steps"]) + 1):
        step(number)
    tell("end", steps=number, reason="limit", error=None, cut=False)
'''


def make_project(root: Path, program: str, **files: str) -> Path:
    """A project with `train.py`, which may `import steps`."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "steps.py").write_text(STEPS, encoding="utf-8")
    (root / "train.py").write_text(textwrap.dedent(program), encoding="utf-8")
    for name, text in files.items():
        (root / name).write_text(text, encoding="utf-8")
    return root
