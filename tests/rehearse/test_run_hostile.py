"""Scripts that misbehave end with a clear message, and nothing of them is left."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rehearse.fake_projects import make_project
from tests.rehearse.fake_pythons import running_python
from trainferry.cli.main import main

HOSTILE = {
    "endless loop": ("while True: pass", "was still running after 2 s and was ended"),
    "sudden exit": ("import os; os._exit(3)", "ended with exit status 3"),
    "sudden good exit": ("import os; os._exit(0)", "ended without a train step"),
    "crash": ("import os; os.abort()", "was ended by SIGABRT"),
    "endless output": ("while True: print('x' * 10000)", "was still running after 2 s"),
    "kills its group": ("import os, signal; os.killpg(0, signal.SIGKILL)", "SIGKILL"),
    "kills its watcher": (
        "import os, signal, time; os.kill(os.getppid(), signal.SIGKILL); time.sleep(600)",
        "ended the process that watched it",
    ),
    "question": ("input('Continue? ')", "EOFError"),
    "closed output": ("import os; os.close(1); os.close(2); 1 / 0", "ended with exit status 1"),
    "no Python": ("def (:", "SyntaxError"),
    "sleeping child": (
        "import subprocess, sys\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(601)'],"
        " start_new_session=True)\nimport steps; steps.train()",
        "",
    ),
    "facts of its own": (
        "import steps; steps.train(); steps.FACTS.write('garbage')",
        "",
    ),
    "removes its run folder": (
        "import shutil, steps; steps.train(); shutil.rmtree(steps.WATCH['folder'])",
        "ended without a train step",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_script_ends_with_a_clear_message(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    program, message = HOSTILE[name]
    python = running_python(tmp_path / "bin" / "python")
    make_project(tmp_path / "here" / "project", program)
    monkeypatch.chdir(tmp_path / "here")
    words = ["rehearse", "project", "--entry", "train.py", "--python", str(python)]
    code = main([*words, "--timeout", "2"])
    out = capsys.readouterr().out
    assert code == (1 if message else 0)
    assert out.startswith("did not run" if message else "runs")
    assert message in out
    assert sorted(path.name for path in Path().iterdir()) == ["project", "rehearsal"]
    names = sorted(path.name for path in Path("project").iterdir())
    assert names == ["steps.py", "train.py"]
    assert not left_behind()


def left_behind() -> list[str]:
    """Processes of these tests that are still there."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().decode(errors="replace")
        except OSError:
            continue
        if "time.sleep(601)" in line or ("/here/rehearsal/migrated" in line and "python" in line):
            found.append(line)
    return found
