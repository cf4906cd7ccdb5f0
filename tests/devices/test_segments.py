"""Who is asked for memory that grows, and when."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from trainferry.devices import ascend
from trainferry.devices.segments import let_segments_grow


@pytest.fixture(autouse=True)
def fresh_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """A torch that nobody has imported, without another maker's package."""
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.setattr(ascend, "torch_npu_version", lambda: None)


def test_segments_grow_where_nobody_said_anything() -> None:
    environment: dict[str, str] = {}
    let_segments_grow(environment)
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
