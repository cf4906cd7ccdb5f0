"""What holds for every command: exit codes, and where its words go."""

from __future__ import annotations

import argparse
import errno
import itertools
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from trainferry import __version__
from trainferry.cli import doctor
from trainferry.cli import main as main_module
from trainferry.cli.main import COMMANDS, main

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("closed", ["1", "2"])
def test_a_command_works_where_the_caller_closed_a_stream(closed: str) -> None:
    script = f'exec {closed}>&-; exec "$@"'
    command = [sys.executable, "-m", "trainferry", "doctor", "--json"]
    done = subprocess.run(
        ["/bin/sh", "-c", script, "sh", *command], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


def test_python_runs_the_package_as_the_command() -> None:
    command = [sys.executable, "-m", "trainferry", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"trainferry {__version__}\n"


def test_help_names_every_command_and_fits_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    told = [line.split()[0] for line in shown.err.splitlines() if line.startswith("  ")]
    assert sorted(told[2:]) == sorted(itertools.chain(*COMMANDS.values()))
    assert max(map(len, shown.err.splitlines())) <= 80


def test_words_beyond_the_encoding_of_a_stream_are_told_with_backslashes() -> None:
    command = [sys.executable, "-m", "trainferry", "data", "check", "数据"]
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=ascii_only)
    assert done.returncode == 1
    assert r"\u6570\u636e" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_package_that_is_not_installed_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(_: argparse.Namespace) -> int:
        raise ModuleNotFoundError("No module named 'torch'", name="torch")

    monkeypatch.setattr(doctor, "run", run)
    assert main(["doctor"]) == 1
    told = capsys.readouterr()
    assert not told.out
    assert "error: the package `torch` is not installed" in told.err
    assert "hint: pip install 'trainferry[train]'" in told.err


def test_a_missing_part_of_our_own_is_not_blamed_on_the_user(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def run(_: argparse.Namespace) -> int:
        raise ModuleNotFoundError("No module named 'trainferry.lost'", name="trainferry.lost")

    monkeypatch.setattr(doctor, "run", run)
    with pytest.raises(ModuleNotFoundError):
        main(["doctor"])


def test_what_the_system_refuses_is_told_with_its_path(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(_: argparse.Namespace) -> int:
        raise PermissionError(errno.EACCES, "Permission denied", "mine/data")

    monkeypatch.setattr(doctor, "run", run)
    assert main(["doctor"]) == 1
    assert "error: `mine/data`: Permission denied\n\nhint: " in capsys.readouterr().err


def test_ctrl_c_before_a_command_is_known_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(doctor, "add_parser", stop)
    assert main(["doctor"]) == 130
    assert capsys.readouterr().err == "stopped\n"


# Started in the background, as by a CI, a process ignores SIGINT unless it asks for it.
INTERRUPTED_AT = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
"""


@pytest.mark.parametrize(
    "module", ["trainferry.cli", "trainferry.cli.main", "argparse", "trainferry.cli.launch"]
)
@pytest.mark.parametrize(
    "start",
    [
        ("-m", "trainferry"),
        ("-c", "import sys; from trainferry.__main__ import main; sys.exit(main())"),
    ],
    ids=["module", "script"],
)
def test_ctrl_c_while_the_command_is_imported_is_no_traceback(
    tmp_path: Path, start: tuple[str, str], module: str
) -> None:
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTED_AT.format(module=module))
    paths = [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, *start, "launch", "--help"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )
    told = "stopped\n" if module == "trainferry.cli.launch" else ""  # that one `main` imports
    assert (done.returncode, done.stdout, done.stderr) == (130, "", told)


def test_the_script_starts_where_ctrl_c_is_caught() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["scripts"] == {"trainferry": "trainferry.__main__:main"}


@pytest.mark.parametrize(("command", "told"), [("train", True), ("predict", False)])
def test_busy_cores_are_told_where_a_command_takes_long(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    told: bool,
) -> None:
    asked = []

    def share_cores() -> str:
        asked.append(command)
        return "cores are shared"

    monkeypatch.setattr(main_module, "share_cores", share_cores)
    given = {"train": ["crnn", "--run", "x"], "predict": ["gone", "gone.jpg"]}
    main([command, *given[command]])
    assert asked == [command]
    assert ("cores are shared" in capsys.readouterr().err) is told
