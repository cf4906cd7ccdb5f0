"""Which environment to make for rehearsals on this machine, and how large it becomes."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from trainferry.errors import RehearsalError
from trainferry.rehearse.pythons import find_pythons

_TRY_SECONDS = 30


@dataclass(frozen=True)
class Kind:
    """One of the two environments that projects are known to run in."""

    name: str
    pythons: tuple[str, ...]
    packages: tuple[str, ...]
    download_megabytes: int
    disk_megabytes: int


# TensorFlow 1.15 itself, with the last versions of its packages that work with it.
ORIGINAL = Kind(
    name="TensorFlow 1.15.5",
    pythons=("python3.7",),
    packages=("tensorflow==1.15.5", "protobuf<3.21", "numpy<1.19", "h5py<3", "absl-py==0.11"),
    download_megabytes=140,
    disk_megabytes=600,
)
# The last TensorFlow with tf.estimator, which the import layer makes a 1.x.
AS_ONE = Kind(
    name="TensorFlow 2.15.1 as 1.x",
    pythons=("python3.11", "python3.10", "python3.9"),
    packages=("tensorflow-cpu==2.15.1", "tf_slim==1.1.0", "numpy<2", "keras==2.15.0"),
    download_megabytes=330,
    disk_megabytes=1300,
)
KINDS = (ORIGINAL, AS_ONE)


@dataclass(frozen=True)
class Plan:
    """What `make_environment` will do."""

    kind: Kind
    python: Path

    def __str__(self) -> str:
        return (
            f"{self.kind.name} on {self.python}: downloads about "
            f"{self.kind.download_megabytes} MB, takes about {self.kind.disk_megabytes} MB of disk"
        )


def plan_environment(python: Path | None = None) -> Plan:
    """Choose TensorFlow 1.15 where there is a Python 3.7, else 2.15; or by the `python` given."""
    if python is not None:
        found = shutil.which(python)
        version = _version_of(found) if found else None
        for kind in KINDS:
            if found and version in kind.pythons:
                return Plan(kind, Path(found).absolute())
        raise RehearsalError(
            f"{python} is {version or 'not a Python that works'}; "
            "TensorFlow 1.15 needs Python 3.7, and 2.15 needs 3.9 to 3.11",
            hint="pass `--python` one of these versions",
        )
    for kind in KINDS:
        for candidate in find_pythons(kind.pythons):
            if _version_of(str(candidate)) == candidate.name:
                return Plan(kind, candidate.absolute())
    raise RehearsalError(
        "there is no Python 3.7, 3.9, 3.10 or 3.11 here to make an environment with",
        hint="install one of them (pyenv, conda, your system's packages), or pass `--python EXE`",
    )


def _version_of(executable: str) -> str | None:
    """Such as `python3.7`; None if it does not start, or cannot make environments."""
    program = "import ensurepip, sys, venv; print('python%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run(
            [executable, "-I", "-c", program],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_TRY_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
