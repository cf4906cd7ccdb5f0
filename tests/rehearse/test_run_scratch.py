"""Temporary files of a script stay in the run folder, if its path leaves room for sockets."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest

from tests.rehearse.fake_projects import make_project
from tests.rehearse.fake_pythons import running_python
from trainferry.cli.main import main

PROGRAM = """\
    import json, multiprocessing, os, tempfile, steps

    def make_queue():
        return multiprocessing.Manager().Queue()

    if __name__ == "__main__":
        queue = make_queue()
        steps.train()
        with open("scratch.json", "w") as file:
            json.dump(tempfile.gettempdir(), file)
"""


@pytest.mark.slow
@pytest.mark.parametrize("depth", [0, 1])
def test_sockets_of_a_script_have_room(depth: int) -> None:
    # Not in `tmp_path`, whose own length is unknown.
    with tempfile.TemporaryDirectory(prefix="t") as short:
        home = Path(short, *["a" * 60] * depth)
        home.mkdir(exist_ok=True)
        project = make_project(home / "project", PROGRAM)
        python = running_python(home / "bin" / "python")
        words = ["--entry", "train.py", "--python", str(python), "--to", str(home / "run")]
        assert main(["rehearse", str(project), *words]) == 0
        told = home / "run/migrated/project/scratch.json"
        scratch = Path(json.loads(told.read_text("utf-8")))
        own = home / "run/migrated/rank_0/scratch"
        assert (scratch == own) is (depth == 0)
        assert scratch.exists() is (depth == 0)
