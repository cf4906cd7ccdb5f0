"""A script of the user runs within limits, and nothing of it is left when it has ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from trainferry.errors import RehearsalError
from trainferry.rehearse.start import (
    ENTRY,
    Ending,
    Limits,
    Script,
    read_end,
    run_script,
    script_environment,
    start_script,
)

SOURCE = Path(__file__).resolve().parents[2] / "src"


def write(folder: Path, program: str) -> Path:
    script = folder / "script.py"
    script.write_text(textwrap.dedent(program), encoding="utf-8")
    return script


def begin(folder: Path, program: str, limits: Limits | None = None) -> Script:
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    return start_script(
        [sys.executable, write(folder, program)],
        folder=folder,
        environment=script_environment([], scratch),
        output=folder / "output.txt",
        limits=limits or Limits(timeout_seconds=60),
    )


def run(folder: Path, program: str, limits: Limits | None = None) -> Ending:
    return begin(folder, program, limits).wait()


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state not in (b"Z", b"X")


def wait_for(path: Path) -> int:
    deadline = time.monotonic() + 30
    while not (path.exists() and path.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return int(path.read_text())


def test_tells_the_exit_status_and_keeps_the_output(tmp_path: Path) -> None:
    ending = run(tmp_path, "import sys; print('one'); print('two', file=sys.stderr); sys.exit(3)")
    assert (ending.code, ending.signal, ending.is_good) == (3, None, False)
    assert ending.last_lines == ("one", "two")
    assert str(ending).startswith("ended with exit status 3 after")


def test_a_good_end_is_good(tmp_path: Path) -> None:
    ending = run(tmp_path, "")
    assert ending.is_good
    assert ending.left_behind == 0


def test_sudden_exit_loses_no_line(tmp_path: Path) -> None:
    ending = run(tmp_path, "import os; print('last words'); os._exit(7)")
    assert (ending.code, ending.last_lines) == (7, ("last words",))


def test_an_endless_loop_is_ended_and_its_line_shown(tmp_path: Path) -> None:
    program = """\
        import signal
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        def train():
            while True:
                pass
        train()
        """
    ending = run(tmp_path, program, Limits(timeout_seconds=1))
    assert ending.timed_out
    assert not ending.is_good
    assert any("in train" in line and "script.py" in line for line in ending.last_lines)
    assert str(ending).startswith("was still running after 1 s")


def test_a_script_that_ignores_every_signal_is_ended(tmp_path: Path) -> None:
    program = """\
        import faulthandler, signal, time
        faulthandler.disable()
        for number in (signal.SIGTERM, signal.SIGABRT, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        time.sleep(600)
        """
    began = time.monotonic()
    ending = run(tmp_path, program, Limits(timeout_seconds=1))
    assert ending.timed_out
    assert ending.signal == signal.SIGKILL
    assert time.monotonic() - began < 30


def test_endless_output_is_cut_in_the_middle(tmp_path: Path) -> None:
    program = """\
        import sys
        print("the beginning")
        for _ in range(40):
            sys.stdout.write("x" * (1 << 20))
        print("\\nthe end")
        """
    ending = run(tmp_path, program, Limits(timeout_seconds=60, output_limit_bytes=1 << 20))
    assert ending.code == 0
    assert ending.output_bytes > 40 << 20
    assert ending.output.stat().st_size < (1 << 20) + 100
    text = ending.output.read_text()
    assert text.startswith("the beginning")
    assert "bytes left out" in text
    assert ending.last_lines[-1] == "the end"


def test_a_flood_of_output_does_not_stop_the_clock(tmp_path: Path) -> None:
    limits = Limits(timeout_seconds=1, output_limit_bytes=1 << 16)
    ending = run(tmp_path, "while True: print('x' * 1000)", limits)
    assert ending.timed_out
    assert ending.output.stat().st_size < 1 << 17


@pytest.mark.parametrize(
    "how",
    [
        "subprocess.Popen(sleep)",
        "subprocess.Popen(sleep, start_new_session=True)",
        "subprocess.Popen(['env', '-i', *sleep], start_new_session=True)",
        "subprocess.Popen([sys.executable, '-c', 'import subprocess, sys;"
        'subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"],'
        "start_new_session=True)'])",
    ],
    ids=["child", "own session", "without environment", "grandchild"],
)
def test_nothing_that_a_script_started_is_left(tmp_path: Path, how: str) -> None:
    program = f"""\
        import os, subprocess, sys, time
        sleep = [sys.executable, '-c', 'import time; time.sleep(600)']
        {how}
        time.sleep(0.5)
        os._exit(0)
        """
    before = sleepers()
    ending = run(tmp_path, program)
    assert ending.code == 0
    assert ending.left_behind >= 1
    assert sleepers() == before


def sleepers() -> int:
    count = 0
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            count += b"time.sleep(600)" in path.read_bytes()
        except OSError:
            continue
    return count


def test_a_crash_is_named(tmp_path: Path) -> None:
    ending = run(tmp_path, "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    assert (ending.code, ending.signal) == (None, signal.SIGSEGV)
    assert "SIGSEGV" in str(ending)


def test_a_script_that_kills_its_watcher_is_ended_too(tmp_path: Path) -> None:
    program = """\
        import os, pathlib, signal, time
        pathlib.Path("pid").write_text(str(os.getpid()))
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(600)
        """
    ending = run(tmp_path, program)
    pid = wait_for(tmp_path / "pid")
    assert "watched" in str(ending)
    deadline = time.monotonic() + 10
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_alive(pid)


def test_stops_when_asked(tmp_path: Path) -> None:
    script = begin(tmp_path, "import os, time; open('pid', 'w').write(str(os.getpid()))\n" + SLEEP)
    pid = wait_for(tmp_path / "pid")
    assert script.poll() is None
    ending = script.stop()
    assert ending.stopped
    assert not ending.is_good
    assert not is_alive(pid)


SLEEP = "time.sleep(600)"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_rehearsal_that_is_ended_leaves_no_script(tmp_path: Path, number: int) -> None:
    """Also when nobody can clean up: the watcher notices, and ends what it watches."""
    (tmp_path / "inner").mkdir()
    write(tmp_path / "inner", "import os, time; open('pid', 'w').write(str(os.getpid()))\n" + SLEEP)
    program = f"""\
        import signal, sys
        from pathlib import Path
        sys.path.insert(0, {str(SOURCE)!r})
        from trainferry.rehearse.start import run_script, script_environment
        # Started in the background, as by a CI, a process ignores SIGINT unless it asks for it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        folder = Path({str(tmp_path / "inner")!r})
        run_script([sys.executable, folder / "script.py"], folder=folder,
                   environment=script_environment([], folder), output=folder / "output.txt")
        """
    script = write(tmp_path, program)
    ours = subprocess.Popen([sys.executable, script], stderr=subprocess.PIPE)
    pid = wait_for(tmp_path / "inner" / "pid")
    ours.send_signal(number)
    _, said = ours.communicate(timeout=60)  # ends with the watcher, which holds the same pipe
    assert not is_alive(pid)
    assert b"BrokenPipeError" not in said


def test_several_scripts_run_at_once(tmp_path: Path) -> None:
    folders = [tmp_path / str(rank) for rank in range(3)]
    for folder in folders:
        folder.mkdir()
    scripts = [begin(folder, f"print({rank})") for rank, folder in enumerate(folders)]
    assert [script.wait().last_lines for script in scripts] == [("0",), ("1",), ("2",)]


def test_a_command_that_is_not_there_is_named(tmp_path: Path) -> None:
    ending = run_script(
        [tmp_path / "nothing"],
        folder=tmp_path,
        environment={},
        output=tmp_path / "output.txt",
    )
    assert str(ending) == f"No such file or directory: {tmp_path / 'nothing'}"


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(RehearsalError, match="does not exist"):
        run_script(["true"], folder=tmp_path / "no", environment={}, output=tmp_path / "output.txt")


def test_a_script_can_read_no_answer_from_us(tmp_path: Path) -> None:
    ending = run(tmp_path, "input('Continue? ')")
    assert ending.code == 1
    assert ending.last_lines[-1].startswith("EOFError")


def test_the_project_is_left_as_it_was(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "helper.py").write_text("NAME = 'ferry'\n")
    write(project, "import helper, tempfile; print(helper.NAME, tempfile.gettempdir())")
    scratch = tmp_path / "run"
    scratch.mkdir()
    ending = run_script(
        [sys.executable, project / "script.py"],
        folder=project,
        environment=script_environment([], scratch),
        output=scratch / "output.txt",
    )
    assert ending.last_lines == (f"ferry {scratch}",)
    assert sorted(path.name for path in project.iterdir()) == ["helper.py", "script.py"]


def test_the_users_own_path_stays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYTHONPATH", "/theirs")
    monkeypatch.setenv("PYTHONHOME", "/ours")
    environment = script_environment([ENTRY], tmp_path, {"RANK_ID": "1"})
    assert environment["PYTHONPATH"] == os.pathsep.join([str(ENTRY), "/theirs"])
    assert "PYTHONHOME" not in environment
    assert environment["RANK_ID"] == "1"


def test_the_end_of_an_output_is_shown_plainly(tmp_path: Path) -> None:
    path = tmp_path / "output.txt"
    path.write_bytes(b"start\n 10%\r 20%\r\n\x1b[31mred\x1b[0m \xff\n\n")
    assert read_end(path) == ("start", " 10%", " 20%", "red \ufffd")
    assert read_end(path, lines=1) == ("red \ufffd",)
    assert read_end(tmp_path / "none") == ()
