"""The first program of a rank keeps its log, shows it where asked, and ends as the command ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from trainferry.launch.start import rank

SPEAK = "import sys; print('out'); sys.stdout.flush(); print('err', file=sys.stderr)"


@pytest.mark.parametrize("show", [None, ""])
def test_both_streams_are_in_the_log_and_only_a_shown_rank_is_heard(
    tmp_path: Path, show: str | None
) -> None:
    done = _run(tmp_path, show, sys.executable, "-c", SPEAK)
    log = (tmp_path / "a.log").read_text()
    assert "out" in log
    assert "err" in log
    expected = ("", "") if show is None else ("out\n", "err\n")
    assert (done.stdout, done.stderr) == expected


def test_lines_carry_the_rank_where_all_are_shown(tmp_path: Path) -> None:
    done = _run(tmp_path, "[rank 3] ", sys.executable, "-c", SPEAK)
    assert (done.stdout, done.stderr) == ("[rank 3] out\n", "[rank 3] err\n")
    assert sorted((tmp_path / "a.log").read_text().split()) == ["err", "out"]


@pytest.mark.parametrize("show", [None, ""])
@pytest.mark.parametrize("code", [0, 7, -signal.SIGKILL, -signal.SIGTERM, -signal.SIGSEGV])
def test_it_ends_as_its_command_ends(tmp_path: Path, show: str | None, code: int) -> None:
    way = f"sys.exit({code})" if code >= 0 else f"os.kill(os.getpid(), {-code})"
    done = _run(tmp_path, show, sys.executable, "-c", f"import os, sys; {way}")
    assert done.returncode == code


@pytest.mark.parametrize("show", [None, ""])
def test_a_command_that_is_not_there_is_told_in_the_log(tmp_path: Path, show: str | None) -> None:
    done = _run(tmp_path, show, "/no/such/command")
    assert done.returncode == 127
    assert "cannot start /no/such/command" in (tmp_path / "a.log").read_text()


@pytest.mark.parametrize("show", [None, ""])
@pytest.mark.parametrize(
    ("script", "said"),
    [
        (b"echo no first line\n", "needs a first line such as #!/bin/bash"),
        (b"#!/no/such/shell\necho\n", "the program that its first line names is not there"),
    ],
)
def test_a_script_that_cannot_be_started_is_told_why(
    tmp_path: Path, show: str | None, script: bytes, said: str
) -> None:
    path = tmp_path / "go.sh"
    path.write_bytes(script)
    path.chmod(0o755)
    assert _run(tmp_path, show, str(path)).returncode == 127
    assert said in (tmp_path / "a.log").read_text()


def test_words_and_environment_arrive_unchanged(tmp_path: Path) -> None:
    program = "import os, sys; print(sys.argv[1:], [n for n in os.environ if 'TRAINFERRY' in n])"
    _run(tmp_path, None, sys.executable, "-c", program, "$HOME", "", "a b", "--")
    assert (tmp_path / "a.log").read_text() == "['$HOME', '', 'a b', '--'] []\n"


def _run(folder: Path, show: str | None, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "TRAINFERRY_LOG": str(folder / "a.log"),
        "TRAINFERRY_LAUNCHER": str(os.getpid()),
    }
    if show is not None:
        environment["TRAINFERRY_SHOW"] = show
    return subprocess.run(
        [sys.executable, "-P", rank.__file__, *command],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
