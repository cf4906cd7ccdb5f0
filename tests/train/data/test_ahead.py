"""Work that a thread does a little ahead."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from itertools import count, islice

import pytest

from trainferry.errors import DataError
from trainferry.train.data import ahead
from trainferry.train.data.ahead import make_ahead


def test_what_is_made_comes_in_order_and_to_its_end() -> None:
    assert list(make_ahead(iter(range(50)), lambda number: number * 2, 3)) == list(range(0, 100, 2))


def test_no_more_is_made_than_asked_for() -> None:
    made: list[int] = []

    def make(number: int) -> int:
        made.append(number)
        return number

    some = make_ahead(count(), make, 2)
    assert list(islice(some, 4)) == [0, 1, 2, 3]
    # Two are ready, and the thread holds one more that finds no room.
    for _ in range(1000):
        if len(made) == 7:
            break
        time.sleep(0.01)
    time.sleep(0.3)
    assert made == list(range(7))
    some.close()  # type: ignore[attr-defined]  # it is a generator


@pytest.mark.parametrize("where", ["items", "make"])
def test_errors_come_where_the_item_would_have(where: str) -> None:
    broken = DataError("the third is broken", hint="mend it")

    def items() -> Iterator[int]:
        yield from range(2)
        if where == "items":
            raise broken
        yield 2

    def make(number: int) -> int:
        if number == 2:
            raise broken
        return number

    found = make_ahead(items(), make, 1)
    assert [next(found), next(found)] == [0, 1]
    with pytest.raises(DataError) as caught:
        next(found)
    assert caught.value is broken


def test_what_only_ends_a_program_ends_nothing_in_silence() -> None:
    def make(number: int) -> int:
        raise SystemExit(number)

    with pytest.raises(SystemExit):
        next(make_ahead(iter([3]), make, 1))


def test_a_device_that_the_thread_cannot_use_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise RuntimeError("the device is gone")

    monkeypatch.setattr(ahead, "same_device_elsewhere", lambda: fail)
    with pytest.raises(RuntimeError, match="the device is gone"):
        next(make_ahead(iter([3]), lambda number: number, 1))


def test_the_thread_has_left_when_nobody_wants_more() -> None:
    some = make_ahead(count(), lambda number: number, 1)
    next(some)
    assert "make ahead" in [thread.name for thread in threading.enumerate()]
    some.close()  # type: ignore[attr-defined]  # it is a generator
    assert "make ahead" not in [thread.name for thread in threading.enumerate()]
