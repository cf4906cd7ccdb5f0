"""Training on several ranks, as real processes: what is the same as in one, and what ends them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.train import rank_jobs
from tests.train.rank_processes import run_ranks
from trainferry.devices.collectives import ALONE
from trainferry.train.journal import Logged
from trainferry.train.loop import resume, train

pytestmark = pytest.mark.cluster

Results = dict[str, Any]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return rank_jobs.make_data(tmp_path_factory.mktemp("ranks"))


@pytest.fixture(scope="module")
def alone(folder: Path) -> Results:
    """What one process finds."""
    return {name: job(ALONE, folder) for name, job in rank_jobs.JOBS.items()}


@pytest.fixture(scope="module", params=[2, 3])
def several(request: pytest.FixtureRequest, folder: Path) -> list[Results]:
    """What each of several ranks finds."""
    ranks: int = request.param
    for status, _, messages in run_ranks(ranks, ["-m", "tests.train.rank_jobs", str(folder)]):
        assert status == 0, messages
    return [
        json.loads((folder / f"results-{ranks}-{rank}.json").read_text()) for rank in range(ranks)
    ]


@pytest.mark.parametrize("name", rank_jobs.EACH)
def test_ranks_have_the_losses_of_one_process(
    name: str, alone: Results, several: list[Results]
) -> None:
    for each in several:
        ours, theirs = each["every_network"][name], alone["every_network"][name]
        assert len(ours["losses"]) == rank_jobs.STEPS
        assert ours["losses"] == pytest.approx(theirs["losses"], rel=1e-6)


@pytest.mark.parametrize("name", rank_jobs.EACH)
def test_every_sample_is_scored_once(name: str, alone: Results, several: list[Results]) -> None:
    for each in several:
        ours, theirs = each["every_network"][name], alone["every_network"][name]
        for one, other in zip(ours["scores"], theirs["scores"], strict=True):
            assert one["samples"] == other["samples"]
            assert one == pytest.approx(other, rel=1e-6)


def test_all_ranks_find_the_same_scores_and_examples(several: list[Results]) -> None:
    first = several[0]["every_network"]
    for each in several[1:]:
        for name, found in each["every_network"].items():
            assert found["scores"] == first[name]["scores"]
            assert found["examples"] == first[name]["examples"]
            assert found["best"] == first[name]["best"]


@pytest.mark.parametrize("name", rank_jobs.VARIED)
def test_pictures_vary_alike_whatever_the_ranks(
    name: str, alone: Results, several: list[Results]
) -> None:
    for each in several:
        ours, theirs = each["varied_pictures"][name], alone["varied_pictures"][name]
        assert ours == pytest.approx(theirs, rel=1e-6)


def test_local_norms_are_scored_with_the_statistics_of_the_first_rank(
    several: list[Results],
) -> None:
    found = [each["local_norms"] for each in several]
    assert len({each["own"] for each in found}) == len(found)
    for each in found[1:]:
        assert (each["scores"], each["examples"]) == (found[0]["scores"], found[0]["examples"])


def test_the_head_alone_can_be_trained(alone: Results, several: list[Results]) -> None:
    for each in several:
        assert each["only_the_head"] == pytest.approx(alone["only_the_head"], rel=1e-6)


def test_an_overflow_of_one_rank_is_an_overflow_of_all(several: list[Results]) -> None:
    for each in several:
        found = each["one_rank_overflows"]
        assert found["updated"] == [True, False, True, True]
        assert found["overflows"] == 1
        assert found["weights"] == several[0]["one_rank_overflows"]["weights"]


def test_ranks_draw_different_numbers_where_they_must(several: list[Results]) -> None:
    found = [each["random_numbers"] for each in several]
    assert len({own for own, _ in found}) == len(found)
    assert len({shared for _, shared in found}) == 1


@pytest.mark.parametrize("kind", ["plain", "debiased", "views"])
def test_synchronised_norms_are_those_of_the_whole_batch(kind: str, several: list[Results]) -> None:
    for each in several:
        assert each["norm_gradients"][kind] < 1e-12


def test_gradients_are_the_mean_of_all_ranks(several: list[Results]) -> None:
    ranks = len(several)
    mean = sum(rank + rank + 1 for rank in range(ranks)) / ranks
    for each in several:
        assert each["gradient_mean"] == pytest.approx([-1.0] + [mean] * 4)


def test_a_run_goes_on_with_all_ranks_at_the_same_step(
    alone: Results, several: list[Results]
) -> None:
    whole = alone["every_network"]["crnn"]["losses"]
    for each in [alone, *several]:
        found = each["goes_on"]
        assert (found["found"], found["from"]) == (True, 4)
        assert found["losses"] == pytest.approx(whole[4:], rel=1e-6)


def test_another_number_of_ranks_goes_on_with_the_same_batches(
    folder: Path, alone: Results, several: list[Results]
) -> None:
    """One process takes up what several ranks left behind."""
    run = rank_jobs.build(rank_jobs.EACH["crnn"], ALONE, folder, "taken-up")
    run.folder = folder / f"elastic-{len(several)}"
    for path in (run.folder / "checkpoints").glob("step-00000006"):
        path.rename(path.with_name("later"))
    assert resume(run)
    assert run.step == 4
    losses: list[float] = []
    train(run, lambda event: losses.append(event.loss) if isinstance(event, Logged) else None)
    whole = alone["every_network"]["crnn"]["losses"]
    assert losses == pytest.approx(whole[4:], rel=1e-6)
