"""Finds a Python of the user with a TensorFlow that projects of 1.15 run on."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainferry.errors import RehearsalError
from trainferry.rehearse.pythons import find_pythons

_FACTS = Path(__file__).resolve().parent / "probe" / "interpreter_facts.py"
_SETUP = "`trainferry rehearse --setup FOLDER` makes an interpreter that can be used"
NAMES = ("python3.7", "python3.11", "python3.10", "python3.9", "python3.8", "python3", "python")
FACTS_SECONDS = 90.0


@dataclass(frozen=True)
class Interpreter:
    """A Python that projects can be rehearsed with."""

    executable: Path
    python: tuple[int, int, int]
    tensorflow: str
    slim: str | None
    """The version of tf_slim, from which most of `tf.contrib` comes on 2.x; None without it."""

    @property
    def is_tensorflow_1(self) -> bool:
        return self.tensorflow.startswith("1.")

    def __str__(self) -> str:
        python = ".".join(map(str, self.python))
        text = f"{self.executable} (Python {python}, TensorFlow {self.tensorflow}"
        if self.is_tensorflow_1:
            return text + ")"
        if self.slim is None:
            return f"{text} as 1.x, without tf_slim: much of tf.contrib is missing)"
        return f"{text} as 1.x, tf_slim {self.slim})"


def find_interpreter(
    asked: Path | None = None,
    *,
    also: Sequence[Path] = (),
    timeout_seconds: float = FACTS_SECONDS,
) -> Interpreter:
    """Check the interpreter `asked` for, or find one: the active environment, `also`, the PATH.

    TensorFlow 1.15 is taken before 2.x. Raises RehearsalError, which says of each interpreter
    that was found why it cannot be used.
    """
    if asked is not None:
        return check_interpreter(_executable(asked), timeout_seconds)
    refused: list[str] = []
    usable: list[Interpreter] = []
    for executable in _candidates(also):
        try:
            found = check_interpreter(executable, timeout_seconds)
        except RehearsalError as error:
            refused.append(f"  {error}")
            continue
        if found.is_tensorflow_1:
            return found
        usable.append(found)
    if usable:
        return usable[0]
    raise RehearsalError(
        "no Python here has a TensorFlow that 1.15 projects run on (1.15, or 2.4 to 2.15):\n"
        + ("\n".join(refused) or "  found no Python at all"),
        hint=f"pass `--python EXE`; {_SETUP}",
    )


def check_interpreter(executable: Path, timeout_seconds: float = FACTS_SECONDS) -> Interpreter:
    """Ask `executable` what it has; raise RehearsalError if projects cannot run on it."""
    facts = _ask(executable, timeout_seconds)
    version = tuple(facts["python"])
    shown = ".".join(map(str, version[:2]))
    if version < (3, 6):
        raise _refusal(executable, f"is Python {shown}; the rehearsal needs 3.6 or later", _SETUP)
    if facts["tensorflow_error"]:
        problem = f"cannot import TensorFlow: {facts['tensorflow_error']}"
        raise _refusal(executable, problem, _import_hint(facts["tensorflow_error"]))
    tensorflow = facts["tensorflow"]
    if tensorflow is None:
        problem = f"(Python {shown}) has no TensorFlow"
        if version >= (3, 12):
            problem += ", and none that has tf.estimator runs on this Python"
        hint = f"install one there, or pass another `--python`; {_SETUP}"
        raise _refusal(executable, problem, hint)
    _check_tensorflow(executable, tensorflow, facts)
    return Interpreter(executable, version, tensorflow, facts["tf_slim"])


def _check_tensorflow(executable: Path, tensorflow: str, facts: dict[str, Any]) -> None:
    number = tuple(map(int, re.findall(r"\d+", tensorflow)[:2]))
    if number == (1, 15):
        return
    if number < (2, 4) or tuple(facts["python"]) < (3, 7):
        problem = (
            f"has TensorFlow {tensorflow}; the rehearsal knows 1.15, and 2.4 to 2.15 on Python 3.7 "
            "or later"
        )
        raise _refusal(executable, problem, _SETUP)
    if number > (2, 15):
        problem = f"has TensorFlow {tensorflow}, which is without tf.estimator; 2.15 has it"
        raise _refusal(executable, problem, _SETUP)
    if facts["tensorflow_estimator"] is None:
        problem = f"has TensorFlow {tensorflow} without tf.estimator"
        hint = f"pip install 'tensorflow-estimator=={number[0]}.{number[1]}.*'"
        raise _refusal(executable, problem, hint)
    if (facts["keras"] or "").startswith("3."):
        problem = f"has TensorFlow {tensorflow} with Keras {facts['keras']}, without tf.layers"
        raise _refusal(executable, problem, f"pip install 'keras=={number[0]}.{number[1]}.*'")


def _import_hint(error: str) -> str:
    if "Descriptors cannot" in error or "protobuf" in error:
        return "pip install 'protobuf<3.21' in that environment"
    if "numpy" in error.lower():
        return "pip install 'numpy<1.19' for TensorFlow 1.15, 'numpy<2' for 2.x"
    return f"repair it, or pass another `--python`; {_SETUP}"


def _refusal(executable: Path, problem: str, hint: str) -> RehearsalError:
    return RehearsalError(f"{executable} {problem}", hint=hint)


def _executable(asked: Path) -> Path:
    """A path, or a name on the PATH."""
    found = shutil.which(asked) or shutil.which(asked.absolute())
    if found is None:
        raise RehearsalError(
            f"{asked} is not a program that can be run",
            hint="pass `--python` the path of an interpreter, such as ENVIRONMENT/bin/python",
        )
    return Path(found).absolute()


def _candidates(also: Sequence[Path]) -> Iterator[Path]:
    """Interpreters to ask, each once; a link elsewhere may be an environment of its own."""
    places = [
        *(Path(os.environ[name]) / "bin/python" for name in _ACTIVE if os.environ.get(name)),
        *also,
        Path(sys.executable),
        *find_pythons(NAMES),
    ]
    seen = set()
    for place in places:
        path = place.absolute()
        known = (path.parent, path.resolve())
        if known not in seen and os.access(path, os.X_OK) and path.is_file():
            seen.add(known)
            yield path


_ACTIVE = ("VIRTUAL_ENV", "CONDA_PREFIX")


def _ask(executable: Path, timeout_seconds: float) -> dict[str, Any]:
    # A start that prints something of its own must not be taken for the answer.
    mark = uuid.uuid4().hex
    environment = {
        **{name: value for name, value in os.environ.items() if name != "PYTHONHOME"},
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "CUDA_VISIBLE_DEVICES": "-1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    with tempfile.TemporaryDirectory(prefix="trainferry-") as folder:
        # Copied, because the folder of a script is where its interpreter looks for modules first.
        script = shutil.copy(_FACTS, folder)
        try:
            done = subprocess.run(
                [executable, script, mark],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=timeout_seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            problem = f"did not import TensorFlow within {timeout_seconds:.0f} s"
            raise _refusal(executable, problem, f"try again; {_SETUP}") from None
        except OSError as error:
            problem = f"cannot be started: {error.strerror}"
            raise _refusal(executable, problem, "pass another `--python`") from None
    for line in done.stdout.decode(errors="replace").splitlines():
        if line.startswith(mark):
            facts: dict[str, Any] = json.loads(line[len(mark) :])
            return facts
    raise _refusal(executable, _silence(done), "pass another `--python`")


def _silence(done: subprocess.CompletedProcess[bytes]) -> str:
    """Why there is no answer: it is no Python 3, or importing TensorFlow killed it."""
    if done.returncode < 0:
        return f"was ended by signal {-done.returncode} while it imported TensorFlow"
    lines = done.stderr.decode(errors="replace").strip().splitlines() or [""]
    told = lines[-1] if "Traceback" in lines[0] else lines[0]
    return f"is not a Python 3 that works: {told}".rstrip(": ")
