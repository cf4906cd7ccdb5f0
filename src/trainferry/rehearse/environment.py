"""Makes an environment with a TensorFlow to rehearse with; whole or not at all."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from trainferry.errors import RehearsalError
from trainferry.rehearse.environment_plan import Plan
from trainferry.rehearse.interpreter import Interpreter, check_interpreter
from trainferry.rehearse.start import Ending, Limits, Script, read_end, start_script

_UNFINISHED = ".trainferry-unfinished"
_LOG = "trainferry-setup.log"
_MINUTES = 60
_LOOK_SECONDS = 0.5
_SPARE = 1.5  # pip unpacks beside what it installs

Progress = Callable[[str], None]


def make_environment(plan: Plan, folder: Path, progress: Progress) -> Interpreter:
    """Carry out `plan` in `folder`, which must not exist, and try the result.

    On failure, also when interrupted, the folder is removed again. One that a killed attempt
    left behind is known by a file in it, and replaced.
    """
    folder = folder.absolute()
    _check_place(plan, folder)
    folder.mkdir(parents=True)
    (folder / _UNFINISHED).touch()
    try:
        progress(f"making an environment in {folder}")
        venv: list[str | Path] = [plan.python, "-I", "-m", "venv", folder]
        _run(venv, folder, "cannot make an environment", progress)
        progress(f"installing {' '.join(plan.kind.packages)}")
        pip: list[str | Path] = [folder / "bin/python", "-I", "-m", "pip", "install", "--no-input"]
        quiet = ["--disable-pip-version-check", "--progress-bar", "off"]
        _run([*pip, *quiet, *plan.kind.packages], folder, "cannot install TensorFlow", progress)
        progress("trying it")
        interpreter = check_interpreter(folder / "bin/python")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    (folder / _UNFINISHED).unlink()
    return interpreter


def _check_place(plan: Plan, folder: Path) -> None:
    if (folder / _UNFINISHED).exists():
        shutil.rmtree(folder)
    if folder.exists():
        raise RehearsalError(
            f"{folder} exists already",
            hint="name a folder that does not; to use what is there, pass "
            f"`--python {folder / 'bin/python'}`",
        )
    parent = next(path for path in folder.parents if path.exists())
    if not os.access(parent, os.W_OK):
        raise RehearsalError(f"{parent} cannot be written to", hint="name another folder")
    needed = int(plan.kind.disk_megabytes * _SPARE)
    free = shutil.disk_usage(parent).free >> 20
    if free < needed:
        raise RehearsalError(
            f"{parent} has {free} MB left; making the environment needs about {needed} MB",
            hint="make room, or name a folder on another disk",
        )


def _run(command: Sequence[str | Path], folder: Path, problem: str, progress: Progress) -> None:
    script = start_script(
        command,
        folder=folder,
        environment={name: value for name, value in os.environ.items() if name != "PYTHONHOME"},
        output=folder / _LOG,
        limits=Limits(timeout_seconds=_MINUTES * 60),
    )
    try:
        ending = _wait(script, folder / _LOG, progress)
    except BaseException:
        script.stop()
        raise
    if not ending.is_good:
        told = "\n".join(f"  {line}" for line in ending.last_lines[-15:])
        raise RehearsalError(
            f"{problem}: {Path(command[0]).name} {ending}\n{told}".rstrip(),
            hint="see the lines above; pip needs the network, or `PIP_FIND_LINKS` with the wheels",
        )


def _wait(script: Script, log: Path, progress: Progress) -> Ending:
    shown: tuple[str, ...] = ()
    while (ending := script.poll()) is None:
        time.sleep(_LOOK_SECONDS)
        line = read_end(log, lines=1)
        if line and line != shown and not line[0].startswith("WARNING"):
            progress(line[0])
            shown = line
    return ending
