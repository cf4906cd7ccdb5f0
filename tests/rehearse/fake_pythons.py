"""Interpreters that are small scripts, and say of themselves what a test wants."""

from __future__ import annotations

import json
import sys
from pathlib import Path

PYTHON = sys.executable  # before a test replaces it
FACTS = {
    "python": [3, 11, 7],
    "prefix": "/",
    "tensorflow": "2.15.1",
    "tensorflow_error": None,
    "tensorflow_estimator": "2.15.0",
    "tf_slim": "1.1.0",
    "keras": "2.15.0",
    "numpy": "1.26.4",
}


def write_program(path: Path, program: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{PYTHON}\nimport sys\n{program}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def fake_python(path: Path, **facts: object) -> Path:
    """A program that answers the question for facts, after some noise."""
    answer = json.dumps({**FACTS, **facts})
    return write_program(path, f"print('noise')\nprint(sys.argv[2] + {answer!r})")


def running_python(path: Path, **facts: object) -> Path:
    """A program that says it has TensorFlow, and runs scripts as this Python does."""
    answer = json.dumps({**FACTS, **facts})
    program = (
        "import os\n"
        "if sys.argv[1].endswith('interpreter_facts.py'):\n"
        f"    print(sys.argv[2] + {answer!r})\n"
        "else:\n"
        f"    os.execv({PYTHON!r}, [{PYTHON!r}, *sys.argv[1:]])"
    )
    return write_program(path, program)
