"""The probe enters a Python before its script, and changes nothing that was there."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from trainferry.rehearse.start import ENTRY


def run(program: str, *folders: Path, entry: Path = ENTRY) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(map(str, (entry, *folders)))
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env={"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def output(program: str, *folders: Path) -> str:
    done = run(program, *folders)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def package(folder: Path, name: str, program: str) -> Path:
    path = folder / name / "__init__.py"
    path.parent.mkdir(parents=True)
    path.write_text(textwrap.dedent(program), encoding="utf-8")
    return folder


def test_names_that_python_removed_are_back() -> None:
    assert output(
        """\
        import collections, inspect, time
        import collections.abc
        assert collections.Mapping is collections.abc.Mapping
        assert time.clock() >= 0
        import xml.etree.cElementTree as tree
        assert tree.fromstring("<a/>").tag == "a"
        print(inspect.getargspec(lambda a, b=1: a))
        """
    ).endswith("ArgSpec(args=['a', 'b'], varargs=None, keywords=None, defaults=(1,))")


def test_names_that_numpy_removed_are_back(tmp_path: Path) -> None:
    folder = package(tmp_path, "numpy", "float = 'its own'")
    program = "import numpy; print(numpy.bool, numpy.float, numpy.object)"
    assert output(program, folder) == "<class 'bool'> its own <class 'object'>"


def test_a_slip_in_a_list_of_values_is_accepted(tmp_path: Path) -> None:
    package(tmp_path, "absl", "")
    flags = tmp_path / "absl" / "flags.py"
    flags.write_text(
        "def DEFINE_enum(name, default, enum_values, help):\n    print(enum_values)\n"
        "def disclaim_key_flags():\n    pass\n"
    )
    program = """\
        from absl import flags
        flags.DEFINE_enum("a", "x", "x', 'y", "help")
        flags.DEFINE_enum("b", "x", ["x", "y"], help="help")
        """
    assert output(program, tmp_path) == "['x', 'y']\n['x', 'y']"


def test_nothing_large_is_imported_before_the_script() -> None:
    program = "import sys; print({'tensorflow', 'numpy', 'inspect', 'absl'} & set(sys.modules))"
    assert output(program) == "set()"


def test_a_sitecustomize_of_the_user_runs_too(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('theirs')\n")
    assert output("print('script')", tmp_path) == "theirs\nscript"


def test_modules_of_the_user_are_not_hidden(tmp_path: Path) -> None:
    (tmp_path / "begin.py").write_text("print('theirs')\n")
    assert output("import begin", tmp_path) == "theirs"


def test_a_probe_that_cannot_begin_ends_the_run(tmp_path: Path) -> None:
    entry = tmp_path / "probe" / "entry"
    entry.mkdir(parents=True)
    (entry / "sitecustomize.py").write_bytes((ENTRY / "sitecustomize.py").read_bytes())
    (tmp_path / "probe" / "__init__.py").touch()
    (tmp_path / "probe" / "begin.py").write_text("def begin():\n    raise OSError('broken')\n")
    done = run("print('script')", entry=entry)
    assert done.returncode == 70
    assert done.stdout == ""
    assert "OSError: broken" in done.stderr
    assert "cannot prepare this interpreter" in done.stderr


def test_tensorflow_1_stays_as_it_is(tmp_path: Path) -> None:
    package(
        tmp_path,
        "tensorflow",
        """\
        import types
        __version__ = "1.15.5"
        test = types.SimpleNamespace(is_built_with_cuda=lambda: True)
        compat = types.SimpleNamespace(v1=types.SimpleNamespace(test=test))
        """,
    )
    program = """\
        import sys
        import tensorflow as tf
        print(tf.__version__, hasattr(tf, "contrib"), tf.test.is_built_with_cuda())
        print([name for name in sys.modules if name.startswith("trainferry.")])
        """
    assert output(program, tmp_path) == "1.15.5 False False\n[]"


def test_a_function_is_called_after_an_import_and_the_loader_is_given_back(
    tmp_path: Path,
) -> None:
    package(tmp_path, "late", "VALUE = 1")
    program = """\
        from trainferry_probe.after_import import call_after_import
        call_after_import("late", lambda module: print("loaded", module.VALUE))
        import late
        print(type(late.__loader__).__name__, type(late.__spec__.loader).__name__)
        call_after_import("late", lambda module: print("at once"))
        """
    assert output(program, tmp_path) == ("loaded 1\nSourceFileLoader SourceFileLoader\nat once")


def test_a_module_that_puts_another_in_its_place_is_met_as_that(tmp_path: Path) -> None:
    package(
        tmp_path, "late", "import sys, types\nsys.modules[__name__] = types.SimpleNamespace(A=2)"
    )
    program = """\
        from trainferry_probe.after_import import call_after_import
        call_after_import("late", lambda module: print(module.A))
        import late
        """
    assert output(program, tmp_path) == "2"


@pytest.mark.parametrize("flag", ["-S", "-E"])
def test_children_that_ask_for_a_bare_python_get_one(flag: str) -> None:
    program = (
        f"import subprocess, sys; subprocess.run([sys.executable, {flag!r}, '-c', 'print(1)'])"
    )
    assert output(program) == "1"


@pytest.mark.parametrize(
    ("first", "whose"), [("import tensorflow", "TensorFlow's"), ("", "the user's")]
)
def test_keras_beside_tensorflow_2_goes_before_a_script_of_that_name(
    tmp_path: Path, first: str, whose: str
) -> None:
    user, site = tmp_path / "user", tmp_path / "site"
    package(user, "keras", 'whose = "the user\'s"')
    package(site, "keras", 'whose = "TensorFlow\'s"')
    package(
        site,
        "tensorflow",
        """\
        import tensorflow._api.v2
        from types import SimpleNamespace as Names
        __version__ = "1.15.5"  # so that it is left as it is
        test, compat = Names(), Names(v1=Names(test=Names()))
        """,
    )
    package(site, "tensorflow/_api", "")
    package(site, "tensorflow/_api/v2", "")
    assert output(f"{first}\nimport keras\nprint(keras.whose)", user, site) == whose
