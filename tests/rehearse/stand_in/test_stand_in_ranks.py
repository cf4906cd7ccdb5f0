"""Ranks that exchange: real processes, joined by a hub."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.rehearse.stand_in.tensorflows import HERE, INTERPRETERS, run_ranks

SCRIPTS = HERE / "ranks"
pytestmark = [pytest.mark.slow, pytest.mark.cluster]
versions = pytest.mark.parametrize("version", INTERPRETERS)


@versions
@pytest.mark.parametrize("style", ["class", "wrapper", "scaled"])
def test_two_ranks_with_half_the_batch_equal_one_with_the_whole(
    style: str, version: str, tmp_path: Path
) -> None:
    script = SCRIPTS / "train.py"
    for ranks in (2, 1):
        done, hub = run_ranks(script, version, ranks, tmp_path, style, str(tmp_path / "run"))
        assert [process.returncode for process in done] == [0] * ranks, done[0].stderr[-3000:]
        assert hub.findings == []
    one = np.load(tmp_path / "run.1.0.npz")
    first, second = (np.load(tmp_path / f"run.2.{rank}.npz") for rank in (0, 1))
    assert len([name for name in one.files if name.startswith("gradient/")]) >= 25
    for name in one.files:
        np.testing.assert_array_equal(first[name], second[name], err_msg=name)
        np.testing.assert_allclose(first[name], one[name], atol=1e-5, err_msg=name)
    moved = [name for name in one.files if name.startswith("end/")]
    assert all((one[name] != one["start" + name.removeprefix("end")]).any() for name in moved)


@versions
@pytest.mark.parametrize(
    ("script", "arguments"),
    [("estimator.py", []), ("keras_fit.py", ["wrapper"]), ("keras_fit.py", ["class"])],
)
def test_estimators_and_keras_models_equal_one_rank_with_the_whole_batch(
    script: str, arguments: list[str], version: str, tmp_path: Path
) -> None:
    target = str(tmp_path / "run")
    for ranks in (2, 1):
        done, hub = run_ranks(SCRIPTS / script, version, ranks, tmp_path, *arguments, target)
        assert [process.returncode for process in done] == [0] * ranks, done[0].stderr[-3000:]
        assert hub.findings == []
    one = np.load(f"{target}.1.0.npz")
    first, second = (np.load(f"{target}.2.{rank}.npz") for rank in (0, 1))
    assert len(one.files) >= 4
    for name in one.files:
        np.testing.assert_array_equal(first[name], second[name], err_msg=name)
        np.testing.assert_allclose(first[name], one[name], atol=1e-5, err_msg=name)


@versions
def test_every_collective_gives_what_hccl_gives(version: str, tmp_path: Path) -> None:
    done, _ = run_ranks(SCRIPTS / "collectives.py", version, 2, tmp_path)
    for process in done:
        assert process.stdout.endswith("done\n"), process.stderr[-3000:]


@versions
@pytest.mark.parametrize("script", ["many.py", "thousands.py"])
def test_waiting_collectives_do_not_starve_one_another(
    script: str, version: str, tmp_path: Path
) -> None:
    done, _ = run_ranks(SCRIPTS / script, version, 2, tmp_path)
    for process in done:
        assert process.stdout.endswith("done\n"), process.stderr[-3000:]


@versions
@pytest.mark.parametrize(
    ("fault", "name", "words"),
    [
        ("other_shape", "ranks-disagree", "shape"),
        ("other_dtype", "ranks-disagree", "dtype"),
        ("other_reduction", "ranks-disagree", "reduction"),
        ("other_root", "ranks-disagree", "root"),
        ("rank_zero_alone", "rank-left", "rank 1 left"),
        ("more_on_rank_one", "graphs-differ", "only rank 1 has"),
        ("never_received", "ranks-stalled", "every rank waits"),
    ],
)
def test_ranks_that_would_hang_are_told(
    fault: str, name: str, words: str, version: str, tmp_path: Path
) -> None:
    done, hub = run_ranks(SCRIPTS / "faults.py", version, 2, tmp_path, fault, stall_seconds="4")
    assert [finding.name for finding in hub.findings] == [name]
    assert words in hub.findings[0].message
    assert "on the device this run would hang" in hub.findings[0].message
    assert any("faults.py:" in place for place in hub.findings[0].places)
    assert any(words in process.stderr for process in done)
