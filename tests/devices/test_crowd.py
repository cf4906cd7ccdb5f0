"""Whether other programs use the cores, and what threads do then."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from trainferry.devices import crowd
from trainferry.devices.crowd import Times, read_times, share_cores


@pytest.fixture
def cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two cores, and a torch that nobody has imported."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 2})
    monkeypatch.delitem(sys.modules, "torch", raising=False)


@pytest.mark.usefixtures("cores")
def test_threads_sleep_where_others_use_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crowd, "cores_in_use", lambda: 1.24)
    environment: dict[str, str] = {}
    told = share_cores(environment)
    assert environment == {"OMP_WAIT_POLICY": "PASSIVE"}
    assert told is not None
    assert told.startswith("other programs use 1.2 of 2 cores")


@pytest.mark.usefixtures("cores")
@pytest.mark.parametrize("others", [0.1, None])
def test_threads_spin_where_nobody_else_is_or_nobody_counts(
    monkeypatch: pytest.MonkeyPatch, others: float | None
) -> None:
    monkeypatch.setattr(crowd, "cores_in_use", lambda: others)
    environment: dict[str, str] = {}
    assert share_cores(environment) is None
    assert environment == {}


@pytest.mark.usefixtures("cores")
@pytest.mark.parametrize(
    "said", [{"OMP_WAIT_POLICY": "ACTIVE"}, {"OMP_NUM_THREADS": "2"}, {"GOMP_SPINCOUNT": "9"}]
)
def test_what_the_user_said_stays(monkeypatch: pytest.MonkeyPatch, said: dict[str, str]) -> None:
    monkeypatch.setattr(crowd, "cores_in_use", lambda: 2.0)
    environment = dict(said)
    assert share_cores(environment) is None
    assert environment == said


def test_it_is_too_late_once_torch_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 2})
    monkeypatch.setitem(sys.modules, "torch", sys)
    monkeypatch.setattr(crowd, "cores_in_use", lambda: 2.0)
    environment: dict[str, str] = {}
    assert share_cores(environment) is None
    assert environment == {}


@pytest.mark.usefixtures("cores")
def test_own_cores_are_added_up_and_nice_programs_left_out(tmp_path: Path) -> None:
    statistics = tmp_path / "stat"
    statistics.write_text(
        "cpu  999 999 999 999 999 999 999 999 0 0\n"
        "cpu0 10 1 20 30 4 5 6 7 0 0\n"
        "cpu1 900 0 0 0 0 0 0 0 0 0\n"
        "cpu2 1 2 0 97 0 0 0 0 0 0\n"
        "intr 1 2 3\n"
    )
    assert read_times(statistics) == Times(busy=49.0, all=183.0)
    assert read_times(tmp_path / "missing") is None
    statistics.write_text("cpu0 strange\n")
    assert read_times(statistics) is None


@pytest.mark.skipif(not Path("/proc/stat").exists(), reason="needs /proc/stat")
@pytest.mark.skipif(os.nice(0) > 0, reason="nice programs, as these tests are now, are not counted")
def test_a_busy_program_is_seen() -> None:
    core = {min(os.sched_getaffinity(0))}
    code = f"import os; os.sched_setaffinity(0, {core}); print(flush=True)\nwhile True: pass"
    before = os.sched_getaffinity(0)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as busy:
        assert busy.stdout is not None
        busy.stdout.readline()
        os.sched_setaffinity(0, core)
        try:
            used = crowd.cores_in_use(0.5)
        finally:
            os.sched_setaffinity(0, before)
            busy.kill()
    assert used is not None
    assert used > 0.5
