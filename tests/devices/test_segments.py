"""Who is asked for memory that grows, and when."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
import torch

from trainferry.devices import ascend
from trainferry.devices.segments import let_segments_grow, start_again_where_refused


@pytest.fixture(autouse=True)
def fresh_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """A torch that nobody has imported, without another maker's package."""
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.setattr(ascend, "torch_npu_version", lambda: None)


def test_segments_grow_where_nobody_said_anything() -> None:
    environment: dict[str, str] = {}
    let_segments_grow(environment)
    assert environment.pop("TRAINFERRY_SEGMENTS") == "1"
    assert environment == {"PYTORCH_ALLOC_CONF": "expandable_segments:True"}


@pytest.mark.parametrize("name", ["PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"])
def test_what_the_user_said_stays(name: str) -> None:
    environment = {name: "max_split_size_mb:512"}
    let_segments_grow(environment)
    assert environment == {name: "max_split_size_mb:512"}


def test_it_is_too_late_once_torch_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", sys)
    environment: dict[str, str] = {}
    let_segments_grow(environment)
    assert environment == {}


def test_an_npu_keeps_the_settings_of_its_maker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ascend, "torch_npu_version", lambda: "2.9.0")
    environment: dict[str, str] = {}
    let_segments_grow(environment)
    assert environment == {}


@pytest.mark.parametrize(
    ("error", "starts"),
    [
        (RuntimeError("CUDA driver error: operation not supported\nmore"), True),
        (torch.OutOfMemoryError("CUDA out of memory"), False),
        (None, False),
    ],
)
def test_a_gpu_that_refuses_them_is_started_again_without(
    monkeypatch: pytest.MonkeyPatch,
    error: RuntimeError | None,
    starts: bool,
) -> None:
    def empty(*_: object, **__: object) -> None:
        if error is not None:
            raise error

    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr(torch, "empty", empty)
    monkeypatch.setattr(sys, "orig_argv", ["python", "-m", "trainferry", "train"])
    environment = {"PYTORCH_ALLOC_CONF": "expandable_segments:True", "TRAINFERRY_SEGMENTS": "1"}
    started: list[list[str]] = []
    told: list[str] = []
    with nullcontext() if starts or error is None else pytest.raises(torch.OutOfMemoryError):
        start_again_where_refused(
            torch.device("cuda"), told.append, environment, lambda _, words: started.append(words)
        )
    assert "TRAINFERRY_SEGMENTS" not in environment
    assert started == ([[sys.executable, "-m", "trainferry", "train"]] if starts else [])
    assert environment["PYTORCH_ALLOC_CONF"].endswith("False" if starts else "True")
    assert ["(CUDA driver error: operation not supported)" in line for line in told] == (
        [True] if starts else []
    )


def test_what_the_user_said_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "empty", None)
    told: list[str] = []
    start_again_where_refused(torch.device("cuda"), told.append, {"PYTORCH_ALLOC_CONF": "x"})
    start_again_where_refused(torch.device("cpu"), told.append, {"TRAINFERRY_SEGMENTS": "1"})
    assert not told


@pytest.mark.parametrize(
    ("command", "asked"),
    [
        (["train", "crnn", "--run", "nowhere", "--exclude", "conv"], "expandable_segments:True"),
        (["benchmark", "no such recipe", "--device", "cpu"], "expandable_segments:True"),
        (["benchmark", "no such recipe", "--device", "cpu", "--against", "timm"], "None"),
    ],
)
def test_commands_that_record_ask_and_peers_keep_what_their_users_have(
    command: list[str], asked: str
) -> None:
    program = (
        "import os, sys; from trainferry.cli.main import main; main(sys.argv[1:]); "
        "print(os.environ.get('PYTORCH_ALLOC_CONF'))"
    )
    others = {name: value for name, value in os.environ.items() if "ALLOC_CONF" not in name}
    done = subprocess.run(
        [sys.executable, "-c", program, *command],
        env=others,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [asked]


def test_a_command_that_starts_again_has_its_words_and_does_not_ask_again(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import os, sys\n"
        "from trainferry.devices.segments import let_segments_grow, start_again_where_refused\n"
        "let_segments_grow()\n"
        "import torch\n"
        "def refuse(*_, **__): raise RuntimeError('operation not supported')\n"
        "if os.environ['PYTORCH_ALLOC_CONF'].endswith('True'): torch.empty = refuse\n"
        "start_again_where_refused(torch.device('cuda'), lambda text: print(text, flush=True))\n"
        "print(os.environ['PYTORCH_ALLOC_CONF'], sys.argv[1:])\n"
    )
    others = {name: value for name, value in os.environ.items() if "ALLOC_CONF" not in name}
    done = subprocess.run(
        [sys.executable, program, "two words", "--x"],
        env=others,
        capture_output=True,
        text=True,
        check=True,
    )
    first, second = done.stdout.splitlines()
    assert first.startswith("this GPU refuses memory in segments that grow (operation not")
    assert second == "expandable_segments:False ['two words', '--x']"
