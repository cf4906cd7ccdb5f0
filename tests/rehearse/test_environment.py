"""`rehearse --setup` makes an environment whole, or leaves nothing."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from tests.rehearse.fake_pythons import FACTS, write_program
from trainferry.errors import RehearsalError
from trainferry.rehearse.environment import make_environment
from trainferry.rehearse.environment_plan import AS_ONE, ORIGINAL, Plan, plan_environment
from trainferry.rehearse.pythons import find_pythons


@pytest.fixture(autouse=True)
def _bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "path").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))


def versioned(path: Path, name: str) -> Path:
    """A Python that can make environments, as far as it says."""
    return write_program(path, f"print({name!r})")


def base_python(path: Path, inner: str) -> Path:
    """A Python whose environments have the program `inner` as theirs."""
    text = f"#!{sys.executable}\nimport sys\n{inner}\n"
    return write_program(
        path,
        "from pathlib import Path\n"
        "new = Path(sys.argv[-1]) / 'bin' / 'python'\n"
        "new.parent.mkdir()\n"
        f"new.write_text({text!r})\n"
        "new.chmod(0o755)",
    )


ANSWERS = f"""
if "pip" in sys.argv:
    print("Collecting", *sys.argv[-2:])
else:
    print(sys.argv[2] + {json.dumps(FACTS)!r})
"""


def test_python_3_7_gives_tensorflow_1_15(tmp_path: Path) -> None:
    versioned(tmp_path / "path" / "python3.11", "python3.11")
    python = versioned(tmp_path / "path" / "python3.7", "python3.7")
    plan = plan_environment()
    assert plan == Plan(ORIGINAL, python)
    assert "downloads about" in str(plan)
    assert "MB of disk" in str(plan)


def test_without_it_2_15_is_taken(tmp_path: Path) -> None:
    write_program(tmp_path / "path" / "python3.7", "sys.exit('no venv here')")
    python = versioned(tmp_path / "path" / "python3.10", "python3.10")
    assert plan_environment() == Plan(AS_ONE, python)


def test_pythons_of_pyenv_are_found_behind_its_shims(tmp_path: Path) -> None:
    versioned(tmp_path / "pyenv" / "shims" / "python3.7", "python3.7")
    python = versioned(tmp_path / "pyenv/versions/3.7.16/bin/python3.7", "python3.7")
    assert list(find_pythons(("python3.7",))) == [python]


def test_a_given_python_decides(tmp_path: Path) -> None:
    versioned(tmp_path / "path" / "python3.7", "python3.7")
    python = versioned(tmp_path / "mine", "python3.9")
    assert plan_environment(python) == Plan(AS_ONE, python)


def test_a_python_of_another_version_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RehearsalError, match=r"is python3\.12; TensorFlow 1\.15 needs"):
        plan_environment(versioned(tmp_path / "mine", "python3.12"))


def test_without_any_python_that_is_told() -> None:
    with pytest.raises(RehearsalError, match=r"no Python 3\.7, 3\.9, 3\.10 or 3\.11"):
        plan_environment()


def test_the_environment_is_made_and_tried(tmp_path: Path) -> None:
    told: list[str] = []
    plan = Plan(AS_ONE, base_python(tmp_path / "base", ANSWERS))
    found = make_environment(plan, tmp_path / "new", told.append)
    assert found.executable == tmp_path / "new" / "bin" / "python"
    assert found.tensorflow == "2.15.1"
    assert told[0].startswith("making an environment")
    assert any("tensorflow-cpu==2.15.1" in line for line in told)
    assert not list((tmp_path / "new").glob(".trainferry*"))


@pytest.mark.parametrize(
    ("inner", "message"),
    [
        ("sys.exit('No matching distribution')", "cannot install TensorFlow"),
        (ANSWERS.replace("2.15.1", "2.16.0"), "without tf.estimator"),
    ],
)
def test_a_failure_leaves_nothing(tmp_path: Path, inner: str, message: str) -> None:
    plan = Plan(AS_ONE, base_python(tmp_path / "base", inner))
    with pytest.raises(RehearsalError, match=message):
        make_environment(plan, tmp_path / "new", lambda _: None)
    assert not (tmp_path / "new").exists()


def test_an_interrupt_leaves_nothing(tmp_path: Path) -> None:
    plan = Plan(AS_ONE, base_python(tmp_path / "base", "import time; time.sleep(600)"))

    def interrupt(line: str) -> None:
        if line.startswith("installing"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_environment(plan, tmp_path / "new", interrupt)
    assert not (tmp_path / "new").exists()


def test_what_a_killed_attempt_left_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / ".trainferry-unfinished").touch()
    plan = Plan(AS_ONE, base_python(tmp_path / "base", ANSWERS))
    assert make_environment(plan, tmp_path / "new", lambda _: None).tensorflow == "2.15.1"


def test_a_folder_of_the_user_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "precious").touch()
    plan = Plan(AS_ONE, base_python(tmp_path / "base", ANSWERS))
    with pytest.raises(RehearsalError, match="exists already"):
        make_environment(plan, tmp_path / "new", lambda _: None)
    assert (tmp_path / "new" / "precious").exists()


def test_a_full_disk_is_told_before_anything_is_done(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Usage:
        free = 5 << 20

    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage)
    with pytest.raises(RehearsalError, match="has 5 MB left"):
        make_environment(Plan(ORIGINAL, tmp_path / "base"), tmp_path / "new", lambda _: None)
    assert not (tmp_path / "new").exists()
