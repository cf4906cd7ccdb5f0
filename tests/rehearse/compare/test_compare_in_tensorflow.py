"""Runs that are pinned and recorded in TensorFlow agree where they should, and only there."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.rehearse.compare.pinned_runs import INSIDE, Pinned
from tests.rehearse.stand_in.tensorflows import INTERPRETERS
from trainferry.rehearse.compare import compare
from trainferry.rehearse.comparing.comparison import Comparison

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("version", INTERPRETERS)]


def both(
    version: str, folder: Path, script: str, *, original: str, migrated: tuple[str, ...]
) -> Comparison:
    runs = Pinned(version, folder)
    first = runs.run("original", INSIDE / script, original)
    second = runs.run("migrated", INSIDE / script, *migrated, follow=first)
    return compare(first, second)


def test_everything_random_is_the_same_in_both(version: str, tmp_path: Path) -> None:
    comparison = both(
        version, tmp_path, "all_at_random.py", original="original", migrated=("migrated",)
    )
    assert len(comparison.trained) == 4
    assert comparison.agrees, comparison.summary
    assert comparison.copied == ()
    assert comparison.free_draws == ()
    pins = (tmp_path / "migrated/pins.jsonl").read_text().splitlines()
    assert {json.loads(line)["by"] for line in pins} == {"name", "order"}


def test_the_recurrent_layer_of_the_npu_is_compared_with_tensorflows(
    version: str, tmp_path: Path
) -> None:
    comparison = both(
        version, tmp_path, "recurrent.py", original="original", migrated=("migrated",)
    )
    assert comparison.agrees, comparison.summary
    names = dict(comparison.partners)
    kernel = "dynamic_rnn/dynamicrnn/w"
    assert names[kernel].endswith("basic_lstm_cell/kernel")
    assert comparison.copied == (kernel,)
    assert any("seq_length" in name for name in comparison.only_migrated)
    gradient = comparison.largest("gradient")
    assert gradient is not None
    assert 0 < gradient.relative < 1e-5


def test_another_default_of_the_layer_parts_in_the_first_loss(version: str, tmp_path: Path) -> None:
    comparison = both(
        version, tmp_path, "recurrent.py", original="original", migrated=("migrated", "0.0")
    )
    assert comparison.parting is not None
    assert comparison.parting[0] == 1
    assert comparison.parting[1].kind == "loss"


@pytest.mark.parametrize(
    ("change", "step", "kind"),
    [("nothing", 0, ""), ("layer", 1, "loss"), ("clipping", 1, "gradient"), ("rate", 1, "weight")],
)
def test_a_change_is_told_where_it_shows_first(
    version: str, tmp_path: Path, change: str, step: int, kind: str
) -> None:
    comparison = both(version, tmp_path, "with_a_change.py", original="nothing", migrated=(change,))
    assert comparison.not_compared == ()
    if change == "nothing":
        assert comparison.agrees
        assert "table" in {tensor.name for tensor in comparison.steps[1].tensors}
        return
    assert comparison.parting is not None
    assert (comparison.parting[0], comparison.parting[1].kind) == (step, kind)


def test_other_data_is_told_as_another_batch(version: str, tmp_path: Path) -> None:
    comparison = both(version, tmp_path, "with_a_change.py", original="nothing", migrated=("data",))
    assert comparison.parting is not None
    assert (comparison.parting[0], comparison.parting[1].kind) == (3, "batch")


def test_summaries_by_the_clock_take_no_batch(version: str, tmp_path: Path) -> None:
    comparison = both(version, tmp_path, "by_the_clock.py", original="0", migrated=("0.6",))
    assert len(comparison.trained) == 4
    assert comparison.agrees, comparison.summary


def test_arrays_that_are_fed_in_another_order_each_time_are_pinned(
    version: str, tmp_path: Path
) -> None:
    comparison = both(version, tmp_path, "fed_by_queue.py", original="0", migrated=("1",))
    assert len(comparison.trained) == 4
    assert comparison.agrees, comparison.summary


def test_optimizers_of_the_graph_do_not_add_in_another_order(version: str, tmp_path: Path) -> None:
    comparison = both(version, tmp_path, "unrolled.py", original="original", migrated=("migrated",))
    gradient = comparison.largest("gradient")
    assert gradient is not None
    assert gradient.relative == 0
    sessions = (tmp_path / "migrated/facts.jsonl").read_text()
    assert '"disable_meta_optimizer": false' in sessions


def test_an_original_in_a_strategy_is_compared_with_one_without(
    version: str, tmp_path: Path
) -> None:
    comparison = both(
        version, tmp_path, "in_a_strategy.py", original="strategy", migrated=("alone",)
    )
    assert len(comparison.trained) == 4
    assert comparison.agrees, comparison.summary
    assert comparison.kept == ()
    assert "batch_normalization/moving_mean" not in comparison.only_migrated


@pytest.mark.parametrize("name", ["session", "estimator", "keras", "slim_queues", "strategy"])
def test_examples_compute_the_same_before_and_after(
    version: str, tmp_path: Path, name: str
) -> None:
    runs = Pinned(version, tmp_path, steps=10)
    homes: list[Path] = []
    for side in ("before", "after"):
        project = tmp_path / "projects" / side
        shutil.copytree(EXAMPLES / name / side, project)
        follow = homes[0] if homes else None
        homes.append(runs.run(side, project / "train.py", follow=follow, cwd=project))
    comparison = compare(homes[0], homes[1])
    assert len(comparison.trained) == 10
    assert comparison.agrees, comparison.summary
    for kind in ("loss", "gradient", "weight"):
        assert comparison.largest(kind) is not None
