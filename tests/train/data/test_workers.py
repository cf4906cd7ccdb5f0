"""Work spread over processes ends with the program, however it is stopped."""

from __future__ import annotations

import multiprocessing
from collections.abc import Generator
from concurrent.futures import ProcessPoolExecutor

import pytest

from trainferry.train.data.workers import map_in_processes


def test_a_second_ctrl_c_leaves_no_worker_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    end = ProcessPoolExecutor.shutdown
    times: list[str] = []

    def stopped_once(pool: ProcessPoolExecutor, *, wait: bool, cancel_futures: bool) -> None:
        times.append("asked")
        if len(times) == 1:
            raise KeyboardInterrupt
        end(pool, wait=wait, cancel_futures=cancel_futures)

    monkeypatch.setattr(ProcessPoolExecutor, "shutdown", stopped_once)
    results = map_in_processes(abs, [-1, -2, -3], 2)
    assert isinstance(results, Generator)
    assert next(results) == 1
    with pytest.raises(KeyboardInterrupt):
        results.throw(KeyboardInterrupt())
    assert len(times) == 2
    assert multiprocessing.active_children() == []
