"""The user's interpreter is found, or it is told of each one why it cannot be used."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.rehearse.fake_pythons import fake_python, write_program
from trainferry.errors import RehearsalError
from trainferry.rehearse.interpreter import check_interpreter, find_interpreter

TF1 = {"python": [3, 7, 16], "tensorflow": "1.15.5", "tf_slim": None, "keras": None}


@pytest.fixture(autouse=True)
def _bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No environment is active, and the PATH holds what the test puts there."""
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "path").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "none"))


def refusal(python: Path, **options: float) -> RehearsalError:
    with pytest.raises(RehearsalError) as caught:
        check_interpreter(python, **options)
    return caught.value


def test_the_one_asked_for_is_used(tmp_path: Path) -> None:
    python = fake_python(tmp_path / "mine", **TF1)
    found = find_interpreter(python)
    assert found.executable == python
    assert found.is_tensorflow_1
    assert str(found) == f"{python} (Python 3.7.16, TensorFlow 1.15.5)"


def test_a_name_on_the_path_can_be_asked_for(tmp_path: Path) -> None:
    python = fake_python(tmp_path / "path" / "python3.7", **TF1)
    assert find_interpreter(Path("python3.7")).executable == python


def test_tensorflow_2_is_told_as_what_it_becomes(tmp_path: Path) -> None:
    assert str(check_interpreter(fake_python(tmp_path / "python"))).endswith(
        "(Python 3.11.7, TensorFlow 2.15.1 as 1.x, tf_slim 1.1.0)"
    )


def test_missing_slim_is_told_but_no_reason_to_refuse(tmp_path: Path) -> None:
    found = check_interpreter(fake_python(tmp_path / "python", tf_slim=None))
    assert "without tf_slim" in str(found)


def test_the_active_environment_comes_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "active"))
    active = fake_python(tmp_path / "active" / "bin" / "python")
    fake_python(tmp_path / "path" / "python3.11")
    assert find_interpreter().executable == active


def test_tensorflow_1_is_taken_before_2(tmp_path: Path) -> None:
    fake_python(tmp_path / "path" / "python3.11")
    python = fake_python(tmp_path / "pyenv" / "versions" / "3.7.16" / "bin" / "python3.7", **TF1)
    assert find_interpreter().executable == python


def test_links_beside_a_program_are_asked_once(tmp_path: Path) -> None:
    count = tmp_path / "count"
    program = f"open({str(count)!r}, 'a').write('x'); sys.exit(1)"
    write_program(tmp_path / "path" / "python3.11", program)
    (tmp_path / "path" / "python3").symlink_to("python3.11")
    with pytest.raises(RehearsalError):
        find_interpreter()
    assert count.read_text() == "x"


def test_without_any_each_one_is_told(tmp_path: Path) -> None:
    fake_python(tmp_path / "path" / "python3.11", tensorflow=None)
    fake_python(tmp_path / "path" / "python3", python=[3, 12, 1], tensorflow=None)
    with pytest.raises(RehearsalError) as caught:
        find_interpreter()
    lines = str(caught.value).splitlines()
    assert lines[1].endswith("python3.11 (Python 3.11) has no TensorFlow")
    assert lines[2].endswith("none that has tf.estimator runs on this Python")
    assert "--setup" in caught.value.hint


def test_with_no_python_at_all_that_is_told() -> None:
    with pytest.raises(RehearsalError, match="found no Python at all"):
        find_interpreter()


@pytest.mark.parametrize(
    ("facts", "message", "hint"),
    [
        ({"tensorflow": "2.16.1"}, "without tf.estimator; 2.15 has it", "--setup"),
        ({"tensorflow": "2.3.0"}, "knows 1.15, and 2.4 to 2.15", "--setup"),
        ({"tensorflow": "1.12.0"}, "knows 1.15, and 2.4 to 2.15", "--setup"),
        (
            {"tensorflow": "2.14.0", "tensorflow_estimator": None},
            "without tf.estimator",
            "tensorflow-estimator==2.14.*",
        ),
        ({"keras": "3.3.0"}, "Keras 3.3.0, without tf.layers", "keras==2.15.*"),
        ({"python": [3, 5, 2]}, "is Python 3.5; the rehearsal needs 3.6", "--setup"),
        ({"python": [3, 6, 9]}, "on Python 3.7 or later", "--setup"),
        (
            {"tensorflow": None, "tensorflow_error": "TypeError: Descriptors cannot be created"},
            "cannot import TensorFlow: TypeError: Descriptors",
            "protobuf<3.21",
        ),
        (
            {"tensorflow": None, "tensorflow_error": "ImportError: numpy.core failed"},
            "cannot import TensorFlow",
            "numpy<2",
        ),
        (
            {"tensorflow": None, "tensorflow_error": "ImportError: libcudart.so"},
            "libcudart",
            "repair it",
        ),
    ],
)
def test_a_refusal_says_why_and_what_to_do(
    tmp_path: Path, facts: dict[str, object], message: str, hint: str
) -> None:
    error = refusal(fake_python(tmp_path / "python", **facts))
    assert message in str(error)
    assert hint in error.hint


def test_versions_with_suffixes_are_understood(tmp_path: Path) -> None:
    python = fake_python(tmp_path / "python", tensorflow="2.15.0-rc1")
    assert check_interpreter(python).tensorflow == "2.15.0-rc1"


def test_one_that_hangs_is_given_up(tmp_path: Path) -> None:
    python = write_program(tmp_path / "python", "import time; time.sleep(600)")
    assert "within 1 s" in str(refusal(python, timeout_seconds=1))


def test_one_that_is_killed_is_told(tmp_path: Path) -> None:
    python = write_program(tmp_path / "python", "import os; os.kill(os.getpid(), 4)")
    assert "was ended by signal 4 while it imported TensorFlow" in str(refusal(python))


def test_what_is_no_python_is_told(tmp_path: Path) -> None:
    python = write_program(tmp_path / "python", "sys.exit('pyenv: python3.7: not found')")
    assert str(refusal(python)).endswith("that works: pyenv: python3.7: not found")


def test_a_file_that_cannot_be_started_is_told(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_bytes(b"\x7fELF nonsense")
    python.chmod(0o755)
    assert "cannot be started" in str(refusal(python))


def test_a_path_that_is_no_program_is_told(tmp_path: Path) -> None:
    with pytest.raises(RehearsalError, match="is not a program that can be run"):
        find_interpreter(tmp_path / "nothing")


def test_a_real_python_answers(tmp_path: Path) -> None:
    """A package called tensorflow that breaks on import stands for a broken installation."""
    site = tmp_path / "site"
    (site / "tensorflow").mkdir(parents=True)
    (site / "tensorflow" / "__init__.py").write_text(
        "print('hello')\nraise ImportError('no AVX')\n"
    )
    real = Path(os.path.realpath("/proc/self/exe"))
    python = write_program(
        tmp_path / "python",
        f"import os; os.environ['PYTHONPATH'] = {str(site)!r}; os.execv({str(real)!r}, sys.argv)",
    )
    assert "cannot import TensorFlow: ImportError: no AVX" in str(refusal(python))
