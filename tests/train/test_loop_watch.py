"""The clock of the loop: how long the rest will take."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.train.cases import CASES
from tests.train.word_data import make_word_data
from trainferry.train import watch as watch_module
from trainferry.train.watch import Watch


def test_a_slow_start_is_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = CASES[0].build(make_word_data(tmp_path / "data"), tmp_path / "run")
    clock = SimpleNamespace(now=0.0)
    clock.monotonic = lambda: clock.now
    monkeypatch.setattr(watch_module, "time", clock)
    watch = Watch(run)
    paces = []
    for seconds in [100.0] * 5 + [1.0] * 25:
        clock.now += seconds
        run.step += 10
        paces.append(watch.seconds_per_step())
    assert paces[4] == pytest.approx(10.0)
    assert paces[-1] == pytest.approx(0.1)
