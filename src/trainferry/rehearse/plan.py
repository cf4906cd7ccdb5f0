"""What a rehearsal will do: which script, interpreter, arguments, steps and ranks."""

from __future__ import annotations

import difflib
import shlex
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from trainferry.errors import UsageError
from trainferry.rehearse.interpreter import Interpreter
from trainferry.rehearse.prepare.copy import is_run_folder

MADE_BY = "trainferry rehearse"
_NAMES = ("train.py", "main.py", "run.py")


@dataclass(frozen=True)
class Wishes:
    """How to rehearse, apart from what."""

    ranks: int = 1
    steps: int = 10
    timeout_seconds: float = 1800.0
    tiny: int = 0
    """Records that are left of the data; 0 leaves all."""
    adapter: str = "patched"
    cluster: str = "table"
    precision: str | None = None
    overflow: str = ""
    """Steps at which the device reports an overflow, as `3` or `2,5-7`."""
    in_project: bool = False


@dataclass(frozen=True)
class Plan:
    """A rehearsal that can begin; all paths are absolute."""

    project: Path
    entry: PurePosixPath
    arguments: tuple[str, ...]
    interpreter: Interpreter
    folder: Path
    wishes: Wishes
    original: Path | None = None
    original_entry: PurePosixPath | None = None
    python_path: str = ""
    """PYTHONPATH of the user, which the scripts get too."""

    @property
    def command(self) -> str:
        """A line for a shell that does all of this again."""
        plain = Wishes()
        wishes = self.wishes
        words = ["trainferry", "rehearse", str(self.project), "--entry", str(self.entry)]
        if self.original is not None:
            words += ["--original", str(self.original)]
            if self.original_entry != self.entry:
                words += ["--original-entry", str(self.original_entry)]
        words += ["--python", str(self.interpreter.executable), "--to", str(self.folder)]
        for name in ("ranks", "steps", "tiny", "adapter", "cluster", "precision", "overflow"):
            if getattr(wishes, name) != getattr(plain, name):
                words += [f"--{name}", str(getattr(wishes, name))]
        if wishes.timeout_seconds != plain.timeout_seconds:
            words += ["--timeout", f"{wishes.timeout_seconds:g}"]
        if wishes.in_project:
            words.append("--in-project")
        line = shlex.join([*words, *(["--", *self.arguments] if self.arguments else [])])
        return f"PYTHONPATH={shlex.quote(self.python_path)} {line}" if self.python_path else line

    def as_json(self) -> dict[str, Any]:
        return {
            "made_by": MADE_BY,
            "command": self.command,
            "project": str(self.project),
            "entry": str(self.entry),
            "original": str(self.original) if self.original else None,
            "original_entry": str(self.original_entry) if self.original_entry else None,
            "arguments": list(self.arguments),
            "python_path": self.python_path,
            "python": {
                "executable": str(self.interpreter.executable),
                "version": ".".join(map(str, self.interpreter.python)),
                "tensorflow": self.interpreter.tensorflow,
                "tf_slim": self.interpreter.slim,
            },
            "wishes": asdict(self.wishes),
        }


def check_project(project: Path, entry: str | None, option: str = "--entry") -> PurePosixPath:
    """The script to run, as a path within `project`; raises UsageError where there is none."""
    if not project.is_dir():
        what = "is a file" if project.is_file() else "does not exist"
        raise UsageError(
            f"{project} {what}; a rehearsal runs a project's folder",
            hint=f"give the folder, and the script in it by `{option} FILE`",
        )
    if entry is None:
        raise UsageError(
            "it is not said which script of the project trains",
            hint=f"give it by `{option} FILE`{_suggested(project)}",
        )
    path = project / entry
    if not path.is_file():
        near = _nearest(project, entry)
        hint = f"did you mean `{near}`?" if near else f"`{option}` is a path within the project"
        raise UsageError(f"there is no {entry} in {project}", hint=hint)
    resolved = path.resolve()
    if not resolved.is_relative_to(project.resolve()):
        raise UsageError(
            f"{entry} lies outside the project {project}",
            hint="give the folder that holds everything the script needs",
        )
    return PurePosixPath(resolved.relative_to(project.resolve()))


def check_folder(folder: Path, project: Path) -> None:
    """Refuse a run folder that holds something else, or is the project itself."""
    if folder == project or project.is_relative_to(folder):
        raise UsageError(
            f"the run folder {folder} holds the project", hint="name another by `--to`"
        )
    if (
        folder.exists()
        and not is_run_folder(folder)
        and (not folder.is_dir() or any(folder.iterdir()))
    ):
        raise UsageError(
            f"{folder} exists and no rehearsal made it", hint="name another folder by `--to`"
        )


def _scripts(project: Path) -> list[str]:
    return sorted(str(path.relative_to(project)) for path in project.rglob("*.py"))


def _suggested(project: Path) -> str:
    known = [name for name in _scripts(project) if PurePosixPath(name).name in _NAMES]
    return f", for instance {known[0]}" if known else ""


def _nearest(project: Path, entry: str) -> str | None:
    scripts = _scripts(project)
    same = [name for name in scripts if PurePosixPath(name).name == PurePosixPath(entry).name]
    return next(iter(same or difflib.get_close_matches(entry, scripts, n=1)), None)
