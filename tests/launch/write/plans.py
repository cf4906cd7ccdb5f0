"""Plans, and a program that writes down what it was started with."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path, PurePosixPath
from typing import Any

from hypothesis import strategies

from trainferry.launch.write.plan import LaunchPlan

# Anything a person can type, and more: quotes, dollars, line ends of every kind, other scripts.
TEXTS = strategies.text(
    strategies.one_of(
        strategies.sampled_from("\"'\\$`!#&;|<>(){}[]*?~%@: -\n\r\t\x85\u2028\u2029\ufeff"),
        strategies.characters(exclude_categories=["Cs"], exclude_characters="\0"),
    ),
    max_size=20,
)
NASTY = (
    "it's",
    "$HOME `id` $(id)",
    'a "b" \\',
    "# no\n#SBATCH --x",
    "@NODE@",
    "",
    "读 \u2028 y",
    "-n",
)

PROGRAM = """\
import json, os, sys
name = os.environ.get("RANK_ID", "none")
with open(os.path.join(sys.argv[1], name + ".json"), "w") as file:
    json.dump({"words": sys.argv[2:], "environment": dict(os.environ), "cwd": os.getcwd()}, file)
print("rank", name, "was here")
sys.exit(int(os.environ.get("FAIL_WITH", "0")) if name == os.environ.get("FAIL_RANK") else 0)
"""


def plan(**changed: Any) -> LaunchPlan:
    """A plan as most tests need it: two machines of four NPUs."""
    values: dict[str, Any] = {
        "name": "read-words",
        "command": ("trainferry", "train", "crnn", "--data", "/data", "--run", "/runs/a"),
        "nodes": 2,
        "devices_per_node": 4,
        "data_folder": PurePosixPath("/data"),
        "output_folder": PurePosixPath("/runs"),
    }
    return LaunchPlan(**{**values, **changed})


def recording_plan(folder: Path, **changed: Any) -> LaunchPlan:
    """A plan whose ranks write to `folder/seen` what they were started with."""
    program = folder / "program.py"
    program.write_text(PROGRAM)
    (folder / "seen").mkdir()
    values: dict[str, Any] = {
        "command": (sys.executable, str(program), str(folder / "seen"), *NASTY),
        "starter": "ranks",
        "device": "cpu",
        "data_folder": None,
        "output_folder": PurePosixPath(folder / "output"),
        "environment": {"GREETING": 'it\'s $HOME\n"x"'},
    }
    return plan(**{**values, **changed})


def seen_by_ranks(folder: Path) -> dict[int, dict[str, Any]]:
    """What each rank of a recording plan wrote down."""
    paths = (folder / "seen").glob("*.json")
    return {int(path.stem): json.loads(path.read_text()) for path in paths}


def clean_environment(**more: str) -> dict[str, str]:
    """The environment of this process without what a launcher sets."""
    names = ("PATH", "HOME", "LANG", "LD_LIBRARY_PATH", "OMP_NUM_THREADS")
    kept = {name: os.environ[name] for name in names if name in os.environ}
    return {**kept, "PYTHON": sys.executable, **more}
