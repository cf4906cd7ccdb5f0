"""Operators that an NPU leaves to the CPU are heard on stderr, and stderr is as it was."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from trainferry.devices.fallbacks import describe_fallbacks, hear_fallbacks
from trainferry.devices.stderr_listener import find_operators

# As torch_npu writes them: from C++, past Python's warnings.
WARNING = (
    "[W compiler_depend.ts:51] Warning: CAUTION: The operator '{}' is not currently supported on "
    "the NPU backend and will fall back to run on the CPU. This may have performance "
    "implications. (function npu_cpu_fallback)\n"
)
SPARSE = (
    "[W1 x.cpp:22] Warning: CPU fallback is allowed because TORCH_NPU_FALLBACK_CPU_DISABLE=0. "
    "Since the NPU interface does not support operator '{}', the operator will fall back to CPU. "
    "(function f)\n"
)


@pytest.fixture(autouse=True)
def _not_silenced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TORCH_NPU_WARNING_DISABLE", raising=False)
    monkeypatch.delenv("TORCH_NPU_DISABLED_WARNING", raising=False)


def warn(text: str) -> None:
    os.write(2, text.encode())


def test_operators_are_heard_once_each_in_their_order(
    emulated_npu: torch.device, capfd: pytest.CaptureFixture[str]
) -> None:
    with hear_fallbacks(emulated_npu) as fallbacks:
        assert fallbacks.operators() == ()
        warn(WARNING.format("aten::isin.Tensor_Tensor_out"))
        warn("[W a.cpp:1] Warning: something else of operator 'aten::add'\n")
        warn(WARNING.format("torchvision::nms") * 2)
        assert fallbacks.operators() == ("aten::isin.Tensor_Tensor_out", "torchvision::nms")
        warn(SPARSE.format("aten::_sparse_csr_sum.dim_dtype"))
    assert fallbacks.operators() == (
        "aten::isin.Tensor_Tensor_out",
        "torchvision::nms",
        "aten::_sparse_csr_sum.dim_dtype",
    )
    assert capfd.readouterr().err.count("CAUTION: The operator") == 3


def test_a_warning_that_comes_in_pieces_is_heard(emulated_npu: torch.device) -> None:
    text = WARNING.format("aten::linalg_lstsq.out")
    with hear_fallbacks(emulated_npu) as fallbacks:
        for piece in (text[:70], text[70:120], text[120:]):
            warn(piece)
            fallbacks.operators()
        assert fallbacks.operators() == ("aten::linalg_lstsq.out",)


def test_a_long_line_between_does_not_make_one_of_two() -> None:
    assert find_operators(b"operator 'a'\nit will fall back to run on the CPU") == []


def test_all_that_was_written_is_shown_and_stderr_is_given_back(
    emulated_npu: torch.device,
    capfd: pytest.CaptureFixture[str],
) -> None:
    with hear_fallbacks(emulated_npu) as fallbacks:
        warn("no line end")
        fallbacks.operators()
    warn(", after\n")
    assert capfd.readouterr().err == "no line end, after\n"


def test_other_devices_have_no_such_thing(capfd: pytest.CaptureFixture[str]) -> None:
    with hear_fallbacks(torch.device("cpu")) as fallbacks:
        warn(WARNING.format("aten::add"))
        assert fallbacks.operators() == ()
    assert "aten::add" in capfd.readouterr().err


@pytest.mark.parametrize("name", ["TORCH_NPU_WARNING_DISABLE", "TORCH_NPU_DISABLED_WARNING"])
def test_where_torch_npu_is_silenced_nobody_claims_to_know(
    name: str, emulated_npu: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "1")
    with hear_fallbacks(emulated_npu) as fallbacks:
        assert fallbacks.operators() is None
    assert "it is not known" in describe_fallbacks(None)


def test_a_sentence_names_all_of_them() -> None:
    assert describe_fallbacks(()) == ""
    assert describe_fallbacks(("aten::a",)).startswith("1 operator ran on the CPU")
    assert describe_fallbacks(("aten::a", "aten::b")).endswith(": aten::a, aten::b")


def test_the_last_words_of_a_crash_come_through(tmp_path: Path) -> None:
    ended = _in_a_process(
        tmp_path, "os.write(2, b'terminate called after throwing\\n'); os.abort()"
    )
    assert ended.returncode == -signal.SIGABRT
    assert ended.stderr == b"printed\nterminate called after throwing\n"


def test_who_is_still_writing_after_the_end_is_still_shown(tmp_path: Path) -> None:
    late = "import sys; sys.stdin.read(); sys.stderr.write('late')"
    ended = _in_a_process(
        tmp_path,
        f"import subprocess; pipe = subprocess.Popen([sys.executable, '-c', {late!r}], stdin=-1)",
        after="print('after', file=sys.stderr, flush=True); pipe.communicate()",
    )
    assert ended.returncode == 0
    assert ended.stderr == b"printed\nafter\nlate"


def test_nothing_is_left_when_a_process_ends(tmp_path: Path) -> None:
    ended = _in_a_process(tmp_path, "pass", after=_no_children())
    assert (ended.returncode, ended.stderr) == (0, b"printed\n")


def test_python_keeps_the_terminal(tmp_path: Path) -> None:
    leader, follower = os.openpty()
    code = "print(sys.stderr.isatty(), os.isatty(2), flush=True)"
    ended = _in_a_process(tmp_path, code, stderr=follower)
    os.close(follower)
    os.close(leader)
    assert ended.stdout == b"True False\n"


def _in_a_process(
    folder: Path, inside: str, after: str = "pass", stderr: int = subprocess.PIPE
) -> subprocess.CompletedProcess[bytes]:
    program = folder / "program.py"
    program.write_text(
        "import os, sys, torch\n"
        "from trainferry.devices.emulated_npu import install_emulated_npu\n"
        "from trainferry.devices.fallbacks import hear_fallbacks\n"
        "install_emulated_npu()\n"
        "with hear_fallbacks(torch.device('npu')) as fallbacks:\n"
        "    print('printed', file=sys.stderr)\n"
        f"    {inside}\n"
        f"{after}\n"
    )
    command = [sys.executable, str(program)]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=stderr, check=False)


def _no_children() -> str:
    return "try: os.waitpid(-1, os.WNOHANG); sys.exit(3)\nexcept ChildProcessError: pass"
