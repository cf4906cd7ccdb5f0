"""torch_npu without CANN must not take torch down."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from trainferry.devices import ascend
from trainferry.devices.autoload import AUTOLOAD_VARIABLE, guard_autoload

SOURCE = Path(__file__).resolve().parents[2] / "src"


@pytest.fixture
def trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed torch_npu whose libraries are missing, on a machine without CANN."""
    (tmp_path / "torch_npu").mkdir()
    (tmp_path / "torch_npu" / "__init__.py").write_text(
        "def _autoload():\n    raise ImportError('libhccl.so: cannot open shared object file')\n"
    )
    facts = tmp_path / "torch_npu-2.13.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: torch_npu\nVersion: 2.13.0\n")
    (facts / "entry_points.txt").write_text("[torch.backends]\ntorch_npu = torch_npu:_autoload\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    for variable in (
        AUTOLOAD_VARIABLE,
        "LD_LIBRARY_PATH",
        "ASCEND_HOME_PATH",
        "ASCEND_TOOLKIT_HOME",
    ):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PYTHONPATH", f"{SOURCE}{os.pathsep}{tmp_path}")
    monkeypatch.setattr(ascend, "INSTALL_ROOT", tmp_path / "no-ascend")
    return tmp_path


def test_without_torch_npu_nothing_is_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(AUTOLOAD_VARIABLE, raising=False)
    monkeypatch.setattr(ascend, "torch_npu_version", lambda: None)
    assert guard_autoload() is None
    assert AUTOLOAD_VARIABLE not in os.environ


@pytest.mark.usefixtures("trap")
def test_the_trap_is_told_and_defused() -> None:
    note = guard_autoload()
    assert note is not None
    assert note.startswith("torch_npu 2.13.0 is installed, but no CANN runtime was found")
    assert os.environ[AUTOLOAD_VARIABLE] == "0"


@pytest.mark.usefixtures("trap")
def test_what_the_user_has_set_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(AUTOLOAD_VARIABLE, "1")
    assert guard_autoload() is None
    assert os.environ[AUTOLOAD_VARIABLE] == "1"


def test_cann_on_the_library_path_is_left_to_torch(
    trap: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (trap / "libhccl.so").touch()
    monkeypatch.setenv("LD_LIBRARY_PATH", f"/nowhere:{trap}")
    assert guard_autoload() is None
    assert AUTOLOAD_VARIABLE not in os.environ


def test_cann_that_was_not_sourced_is_named(trap: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (trap / "home" / "lib64").mkdir(parents=True)
    (trap / "home" / "lib64" / "libascendcl.so").touch()
    monkeypatch.setenv("ASCEND_HOME_PATH", str(trap / "home"))
    note = guard_autoload()
    assert note is not None
    assert f"CANN in {trap / 'home' / 'lib64'} is not on the library path" in note


@pytest.mark.slow
@pytest.mark.usefixtures("trap")
def test_import_torch_really_fails_without_the_guard_and_works_with_it() -> None:
    unguarded = _run("import torch")
    assert unguarded.returncode != 0
    assert "Failed to load the backend extension: torch_npu" in unguarded.stderr

    guarded = _run(
        "from trainferry.devices.autoload import guard_autoload\n"
        "import sys\n"
        "guard_autoload(); assert 'torch' not in sys.modules\n"
        "import torch; print(torch.ones(2).sum().item())"
    )
    assert guarded.stdout == "2.0\n", guarded.stderr


def _run(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
