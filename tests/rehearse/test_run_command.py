"""The command from end to end, with scripts that need no TensorFlow."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rehearse.fake_projects import make_project
from tests.rehearse.fake_pythons import running_python
from trainferry.cli.main import main

SOURCE = Path(__file__).resolve().parents[2] / "src"
TRAINS = "import steps; steps.train()"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    yield folder
    assert {path.name for path in folder.iterdir()} <= {"rehearsal", "project", "original"}


@pytest.fixture
def python(here: Path) -> Path:
    return running_python(here.parent / "bin" / "python")


def rehearse(python: Path, program: str, *words: str) -> int:
    make_project(Path("project"), program)
    return main(["rehearse", "project", "--entry", "train.py", "--python", str(python), *words])


def report() -> dict[str, object]:
    told: dict[str, object] = json.loads(Path("rehearsal/rehearsal.json").read_text())
    return told


def test_a_script_that_trains_runs(
    python: Path, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rehearse(python, TRAINS, "--steps", "4") == 0
    out, error = capsys.readouterr()
    assert out.startswith("runs\n  migrated: 4 train steps in ")
    assert "loss 2 to 0.5" in out
    assert "step 4 of 4" in error
    names = {path.name for path in (here / "rehearsal").iterdir()}
    assert {"report.html", "report.md", "report.json", "report.sarif", "command.json"} <= names


def test_the_result_is_told_even_if_the_report_cannot_be_written(
    python: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert rehearse(python, TRAINS, "--report", str(tmp_path / "file" / "report")) == 1
    out, error = capsys.readouterr()
    assert out.startswith("runs\n  migrated: ")
    assert "file/report`: Not a directory" in error


def test_json_goes_to_stdout_alone(python: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rehearse(python, TRAINS, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["verdict"], told["sides"][0]["ranks"][0]["losses"][0]) == ("runs", 2.0)
    assert told == report()


def test_arguments_after_the_dashes_go_to_the_script(python: Path) -> None:
    program = "import sys; print(sys.argv[1:]); import steps; steps.train()"
    assert rehearse(python, program, "--", "--steps", "3", "--", "-x", "rehearse") == 0
    printed = Path("rehearsal/migrated/rank_0/output.txt").read_text()
    assert "['--steps', '3', '--', '-x', 'rehearse']" in printed


@pytest.mark.parametrize("name", ["__main__.py", "train.py"])
def test_a_script_that_imports_from_its_own_package_is_a_module(python: Path, name: str) -> None:
    package = make_project(Path("project"), TRAINS) / "reader"
    package.mkdir()
    (package / "net.py").write_text("size = 3\n")
    (package / name).write_text("from .net import size\nimport steps\nsteps.train(size)\n")
    words = ["rehearse", "project", "--entry", f"reader/{name}", "--python", str(python)]
    assert main(words) == 0
    (package / name).write_text("from net import size\nimport sys; print(sys.argv[0])\n")
    assert main(words) == 1
    printed = Path("rehearsal/migrated/rank_0/output.txt").read_text().strip()
    assert printed.endswith(f"project/reader/{name}")


def test_ranks_know_themselves(python: Path) -> None:
    program = """\
        import json, os, steps
        table = json.load(open(os.environ["RANK_TABLE_FILE"]))
        print(os.environ["RANK_ID"], os.environ["RANK_SIZE"], table["server_count"])
        steps.train()
        """
    assert rehearse(python, program, "--ranks", "3") == 0
    for rank in range(3):
        printed = Path(f"rehearsal/migrated/rank_{rank}/output.txt").read_text()
        assert printed == f"{rank} 3 1\n"


def test_ranks_of_another_job_are_forgotten(python: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK_TABLE_FILE", "/elsewhere.json")
    monkeypatch.setenv("CM_WORKER_SIZE", "8")
    program = """\
        import os, steps
        assert "RANK_TABLE_FILE" not in os.environ and "CM_WORKER_SIZE" not in os.environ
        steps.train()
        """
    assert rehearse(python, program) == 0


def test_a_failure_shows_its_end_and_ends_the_other_ranks(
    python: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from trainferry.rehearse import ranks

    monkeypatch.setattr(ranks, "_GRACE_SECONDS", 0.5)
    program = """\
        import os, steps, time
        steps.start()
        steps.step(1)
        if os.environ["RANK_ID"] == "1":
            raise ValueError("boom")
        time.sleep(600)
        """
    assert rehearse(python, program, "--ranks", "2") == 1
    out = capsys.readouterr().out
    assert out.startswith("did not run\n  rank 1 of the migrated script ended with exit status 1")
    assert "  | ValueError: boom" in out
    assert "rank_1/output.txt" in out
    assert "rank 0 was ended after" in out


def test_where_the_migrated_script_fails_the_original_says_whether_it_did_before(
    python: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_project(Path("original"), TRAINS)
    assert rehearse(python, "raise ValueError('boom')", "--original", "original") == 1
    out = capsys.readouterr().out
    assert "the original script runs, in one process: look for the cause in what migration" in out
    assert "  original: 10 train steps in " in out
    assert "原始脚本以单进程可以运行" in Path("rehearsal/report.html").read_text()

    make_project(Path("original"), "raise ValueError('boom')")
    assert rehearse(python, "raise ValueError('boom')", "--original", "original") == 1
    out = capsys.readouterr().out
    assert re.search("  the original script ended .* after . s, with the same error\n", out)
    assert "look for the cause" not in out
    assert out.count("| ValueError: boom") == 1


def test_an_original_is_not_run_after_the_time_was_up(python: Path) -> None:
    make_project(Path("original"), TRAINS)
    program = "import time; time.sleep(600)"
    assert rehearse(python, program, "--original", "original", "--timeout", "1") == 1
    assert not Path("rehearsal/original").exists()
    assert report()["prepared"] == ["original was not run: the run before it did not end well"]


def test_the_project_is_as_it_was(python: Path, here: Path) -> None:
    program = """\
        import os, steps
        os.makedirs("checkpoints")
        open("checkpoints/model", "w").write("weights")
        open("train.py", "a").write("# changed")
        os.remove("notes.txt")
        steps.train()
        """
    make_project(here / "project", program, **{"notes.txt": "keep"})
    before = {path.name: path.read_bytes() for path in (here / "project").iterdir()}
    assert rehearse(python, program) == 0
    assert {path.name: path.read_bytes() for path in (here / "project").iterdir()} == before
    assert (here / "rehearsal/migrated/project/checkpoints/model").exists()


def test_in_project_is_what_it_says(python: Path, here: Path) -> None:
    assert rehearse(python, "open('made', 'w'); import steps; steps.train()", "--in-project") == 0
    assert (here / "project" / "made").exists()
    assert not (here / "rehearsal/migrated/project").exists()


def test_a_second_rehearsal_takes_the_place_of_the_first(
    python: Path, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rehearse(python, TRAINS) == 0
    (here / "rehearsal" / "left").touch()
    assert rehearse(python, TRAINS) == 0
    assert "which is replaced" in capsys.readouterr().err
    assert not (here / "rehearsal" / "left").exists()


def test_a_folder_of_the_user_is_never_emptied(
    python: Path, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "rehearsal").mkdir()
    (here / "rehearsal" / "thesis.txt").write_text("dear")
    assert rehearse(python, TRAINS) == 2
    assert "no rehearsal made it" in capsys.readouterr().err
    assert (here / "rehearsal" / "thesis.txt").read_text() == "dear"


def test_a_script_without_a_step_did_not_run(
    python: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rehearse(python, "print('nothing to do')") == 1
    assert "ended without a train step" in capsys.readouterr().out


def test_the_recorded_command_does_it_again(python: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import shlex

    monkeypatch.setenv("PYTHONPATH", ".")
    program = "import sys, steps; steps.train(); assert sys.argv[1] == 'a b'"
    assert rehearse(python, program, "--steps", "3", "--ranks", "2", "--", "a b") == 0
    told = json.loads(Path("rehearsal/command.json").read_text())
    words = shlex.split(told["command"])
    assert words[:3] == ["PYTHONPATH=.", "trainferry", "rehearse"]
    assert main(words[2:]) == 0
    assert json.loads(Path("rehearsal/command.json").read_text()) == told


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ([], "which project"),
        (["nowhere", "--entry", "train.py"], "does not exist"),
        (["project"], "which script"),
        (["project", "--entry", "trian.py"], "did you mean `train.py`"),
        (["project", "--entry", "../outside.py"], "outside"),
        (["project", "--entry", "train.py", "--original-entry", "x"], "no --original"),
        (["project", "--entry", "train.py", "--original", "nowhere"], "does not exist"),
        (["project", "--entry", "train.py", "--to", "."], "holds the project"),
        (["project", "--entry", "train.py", "--timeout", "0"], "number of seconds"),
        (["project", "--entry", "train.py", "--overflow", "x"], "names no steps"),
        (["project", "--entry", "train.py", "--ranks", "0"], "1 or more"),
    ],
)
def test_wrong_usage_is_told_before_anything_starts(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    problem: str,
) -> None:
    make_project(tmp_path / "project", TRAINS)
    (tmp_path / "outside.py").touch()
    monkeypatch.chdir(tmp_path)
    try:
        code = main(["rehearse", *words])
    except SystemExit as stop:
        code = int(stop.code or 0)
    assert code == 2
    assert problem in capsys.readouterr().err
    assert not (tmp_path / "rehearsal").exists()


def test_ctrl_c_leaves_no_script(python: Path, here: Path) -> None:
    import signal

    program = "import os, steps, time; steps.step(1); print(os.getpid()); time.sleep(600)"
    make_project(here / "project", program)
    words = ["rehearse", "project", "--entry", "train.py", "--python", str(python)]
    # Started in the background, as by a CI, a process ignores SIGINT unless it asks for it.
    start = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from trainferry.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    ours = subprocess.Popen(
        [sys.executable, "-c", start, *words],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        stderr=subprocess.DEVNULL,
    )
    output = here / "rehearsal/migrated/rank_0/output.txt"
    deadline = time.monotonic() + 60
    while not (output.exists() and output.read_text().endswith("\n")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    ours.send_signal(signal.SIGINT)
    assert ours.wait(timeout=60) == 130
    with pytest.raises(ProcessLookupError):
        os.kill(int(output.read_text()), 0)


def hash_of_a_word(side: str, rank: int = 0) -> str:
    return Path(f"rehearsal/{side}/rank_{rank}/output.txt").read_text().splitlines()[0]


def test_sets_have_one_order_in_all_runs_that_are_compared(
    python: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "random")
    program = "print(hash('word')); import steps; steps.train()"
    make_project(Path("original"), program)
    rehearse(python, program, "--original", "original")
    assert hash_of_a_word("migrated") == hash_of_a_word("original")


def test_sets_of_ranks_have_orders_of_their_own(
    python: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    rehearse(python, "print(hash('word')); import steps; steps.train()", "--ranks", "2")
    assert hash_of_a_word("migrated", 0) != hash_of_a_word("migrated", 1)
