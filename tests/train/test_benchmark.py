"""The benchmark runs the real training step and tells what it measured."""

from __future__ import annotations

import pytest
import torch

from tests.train.run_folder import TINY_NETWORK
from trainferry.errors import UsageError
from trainferry.train import benchmark as module
from trainferry.train.benchmark import WARM_UP, benchmark, synthetic_batches
from trainferry.train.build import synthetic_run
from trainferry.train.data.batch import Batch
from trainferry.train.recipe.read import read_recipe
from trainferry.train.run import Run
from trainferry.train.step import StepResult, train_step
from trainferry.train.tasks.ctc import impossible_labels

CPU = torch.device("cpu")
TINY = (*TINY_NETWORK, "loop.batch=4")


def test_rates_belong_together() -> None:
    speed = benchmark(read_recipe("crnn_small", TINY), CPU, steps=3)
    assert speed.images_per_second == pytest.approx(4 * 1000 / speed.milliseconds_per_step)
    assert speed.peak_memory_bytes > 10_000_000
    assert speed.taken_memory_bytes == speed.peak_memory_bytes
    assert speed.memory_of == "process"
    assert speed.device.startswith("device: cpu")
    assert speed.note is None


def test_every_step_is_a_step_of_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    results: list[StepResult] = []
    runs: list[Run] = []

    def counted(run: Run, batch: Batch) -> StepResult:
        results.append(train_step(run, batch))
        runs.append(run)
        return results[-1]

    monkeypatch.setattr(module, "train_step", counted)
    recipe = read_recipe("crnn_small", [*TINY, "loop.average=0.99", "optimizer.accumulation=2"])
    benchmark(recipe, CPU, steps=4)
    assert len(results) == WARM_UP + 4
    assert all(result.updated and result.loss > 0 for result in results)
    assert runs[-1].step == WARM_UP + 4
    assert runs[-1].average is not None


def test_bf16_is_measured_as_asked() -> None:
    assert benchmark(read_recipe("crnn_words", TINY), CPU, steps=1).precision == "bf16"


def test_chinese_recipe_is_timed_with_placeholders() -> None:
    speed = benchmark(read_recipe("crnn_cn", [*TINY, "loop.batch=2"]), CPU, steps=1)
    assert "5824 placeholders" in str(speed.note)


def test_made_up_labels_can_be_learnt() -> None:
    run, _ = synthetic_run(read_recipe("crnn_small", [*TINY, "loop.batch=64"]), CPU, samples=256)
    for batch in synthetic_batches(run, pinned=False):
        assert not impossible_labels(batch.labels, batch.lengths, 25).any()
        assert batch.images.shape == (64, 32, 100, 3)


def test_no_steps_cannot_be_timed() -> None:
    with pytest.raises(UsageError, match="cannot time 0 steps"):
        benchmark(read_recipe("crnn_small", TINY), CPU, steps=0)
