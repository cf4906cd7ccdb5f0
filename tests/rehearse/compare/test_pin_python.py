"""Python's and NumPy's own randomness is pinned before the script's first line; no TensorFlow."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.rehearse.stand_in.tensorflows import ENTRY

needs_numpy = pytest.mark.skipif(
    importlib.util.find_spec("numpy") is None, reason="NumPy is not installed"
)


def run(folder: Path, script: str, seed: int | None = 1) -> str:
    """What a script prints that is run with pinned randomness."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    watch = {"folder": str(home), "steps": None, "values": None, "seed": seed, "precision": None}
    (home / "watch.json").write_text(json.dumps(watch))
    (folder / "script.py").write_text(script)
    done = subprocess.run(
        [sys.executable, "script.py"],
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ENTRY),
            "TRAINFERRY_WATCH": str(home / "watch.json"),
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_two_runs_draw_the_same(tmp_path: Path) -> None:
    script = "import random; print(random.random(), random.Random().random())"
    assert run(tmp_path, script) == run(tmp_path, script)
    assert run(tmp_path, script) != run(tmp_path, script, seed=2)
    assert run(tmp_path, script, seed=None) != run(tmp_path, script, seed=None)


def test_a_seed_that_the_script_sets_means_what_it_always_meant(tmp_path: Path) -> None:
    import random

    printed = run(tmp_path, "import random; random.seed(7); print(random.random())")
    assert float(printed) == random.Random(7).random()


def test_a_seed_of_the_clock_is_one_of_ours(tmp_path: Path) -> None:
    script = """
import random
random.seed(); first = random.random()
random.seed(None); second = random.random()
random.seed(a=None); print(first, second, random.random())
"""
    printed = run(tmp_path, script)
    assert printed == run(tmp_path, script)
    assert len(set(printed.split())) == 3


@needs_numpy
def test_a_seed_of_the_clock_is_one_of_ours_in_numpy_too(tmp_path: Path) -> None:
    script = "import numpy; numpy.random.seed(); print(numpy.random.rand())"
    assert run(tmp_path, script) == run(tmp_path, script)


THREADS = """
import random, threading, time
drawn = {}
def draw(name, pause):
    rows = []
    for _ in range(20):
        rows.append(random.random())
        time.sleep(pause)
    drawn[name] = rows
def first(): draw("first", 0.0001)
def second(): draw("second", 0.0002)
threads = [threading.Thread(target=first), threading.Thread(target=second)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(sorted(drawn.items()), random.random())
"""


def test_threads_do_not_race_for_numbers(tmp_path: Path) -> None:
    assert run(tmp_path, THREADS) == run(tmp_path, THREADS)


def test_folders_are_listed_in_the_order_of_names(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    for name in ("c", "a", "d", "b"):
        (data / name).touch()
    script = (
        "import glob, os\nprint(os.listdir('data'))\nprint(glob.glob('data/*'))\n"
        "with os.scandir('data') as entries: print([entry.name for entry in entries])\n"
        "print(next(os.walk('data'))[2])"
    )
    listed, globbed, scanned, walked = run(tmp_path, script).splitlines()
    assert listed == scanned == walked == "['a', 'b', 'c', 'd']"
    assert globbed == "['data/a', 'data/b', 'data/c', 'data/d']"


def test_a_class_can_keep_the_functions_that_list_folders(tmp_path: Path) -> None:
    script = (
        "import os\nclass Accessor:\n  listdir = os.listdir\n  scandir = os.scandir\n"
        "print(Accessor().listdir('home'), [e.name for e in Accessor().scandir('home')])"
    )
    assert run(tmp_path, script).startswith("['watch.json'] ['watch.json']")


NUMPY = """
import pickle
import numpy as np
print(np.random.rand(2), np.random.RandomState().rand(), np.random.default_rng().random())
print(np.random.permutation(5), np.random.sample())
state = np.random.RandomState(3)
assert isinstance(state, np.random.RandomState)
assert isinstance(np.random.mtrand._rand, np.random.RandomState)
assert pickle.loads(pickle.dumps(state)).rand() == state.rand()
"""


@needs_numpy
def test_numpy_draws_the_same(tmp_path: Path) -> None:
    assert run(tmp_path, NUMPY) == run(tmp_path, NUMPY)
    assert run(tmp_path, NUMPY, seed=None) != run(tmp_path, NUMPY, seed=None)


@needs_numpy
def test_a_seed_for_numpy_means_what_it_always_meant(tmp_path: Path) -> None:
    import numpy as np

    printed = run(tmp_path, "import numpy as np; np.random.seed(7); print(np.random.rand())")
    assert float(printed) == np.random.RandomState(7).rand()
