"""Who is asked for memory that grows, and when."""

from __future__ import annotations

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
