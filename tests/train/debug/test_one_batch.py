"""One batch learnt by heart: all networks, and what is said where it does not work."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tests.train.cases import CASES, CPU, TinyCase
from tests.train.word_data import draw_word, word_record
from trainferry.train.data.tfrecord import write_records
from trainferry.train.debug.one_batch.facts import find_facts
from trainferry.train.debug.one_batch.learn import build_trial, learn_by_heart, read_batch
from trainferry.train.debug.one_batch.recipe import for_one_batch, reached_rate
from trainferry.train.debug.one_batch.verdict import Verdict, judge
from trainferry.train.journal import Ended, Evaluated, Event, Logged
from trainferry.train.recipe.read import read_recipe
from trainferry.train.run import Run

WORDS = CASES[0]
PHOTOS = CASES[1]
LEARNS = ("network.channels=[16,16,32,32,32,32,32]", "network.hidden=32")


def trial(case: TinyCase, data: Path, steps: int, *sets: str, device: torch.device = CPU) -> Run:
    return build_trial(case.recipe(*sets), data, device, lambda _: None, steps)


def verdict_of(run: Run, tell: Callable[[Event], None] = lambda _: None) -> Verdict:
    batch = read_batch(run)
    course = learn_by_heart(run, batch, tell)
    return judge(find_facts(batch, run.source.label_text), course)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_network_learns_its_batch(case: TinyCase, tmp_path: Path) -> None:
    sets = LEARNS if case is WORDS else ()
    run = trial(case, case.make_data(tmp_path / "data"), 300, *sets)
    verdict = verdict_of(run)
    assert verdict.learnt, verdict
    assert verdict.course.seen.right == verdict.facts.rows == run.recipe.loop.batch
    assert verdict.course.last_loss < verdict.course.first_loss
    assert verdict.text.startswith(f"learnt: {verdict.facts.rows} of {verdict.facts.rows} samples")
    assert verdict.hints == ()


def test_it_ends_when_all_are_right_and_tells_of_it_as_training_does(tmp_path: Path) -> None:
    events: list[Event] = []
    data = PHOTOS.make_data(tmp_path / "data")
    verdict = verdict_of(trial(PHOTOS, data, 150), events.append)
    assert verdict.course.steps < 150
    logged = [event for event in events if isinstance(event, Logged)]
    assert [event.step for event in logged] == [*range(10, verdict.course.steps + 1, 10)]
    assert [event.step for event in events if isinstance(event, Evaluated)] == [
        event.step for event in logged
    ]
    assert isinstance(events[-1], Ended)
    assert events[-1].reason == "all are right"


def test_the_same_batch_learns_the_same_way_again(tmp_path: Path) -> None:
    data = PHOTOS.make_data(tmp_path / "data")
    first, second = (verdict_of(trial(PHOTOS, data, 5)) for _ in range(2))
    assert first == second


def test_an_npu_learns_it_as_a_cpu_does(tmp_path: Path, emulated_npu: torch.device) -> None:
    data = PHOTOS.make_data(tmp_path / "data")
    here, there = (
        verdict_of(trial(PHOTOS, data, 12, device=device)) for device in (CPU, emulated_npu)
    )
    assert there.course.last_loss == pytest.approx(here.course.last_loss, rel=1e-2)
    assert there.text.split(",")[0] == here.text.split(",")[0]


@pytest.mark.parametrize("precision", ["fp32", "fp16"])
def test_a_step_that_is_one_piece_of_work_learns_it_too(precision: str, tmp_path: Path) -> None:
    scale = "dynamic" if precision == "fp16" else "none"
    sets = (f"precision.name={precision}", f"precision.loss_scale={scale}")
    run = trial(PHOTOS, PHOTOS.make_data(tmp_path / "data"), 60, *sets)
    run.captures = True  # where nothing is recorded, the same work is started anew every time
    verdict = verdict_of(run)
    assert run.whole is not None
    assert verdict.learnt, verdict
    assert verdict.course.first_loss > verdict.course.last_loss > 0


def test_pictures_do_not_vary_and_the_rate_is_that_behind_the_warm_up() -> None:
    recipe = read_recipe(
        "attention_ocr_signs", ["schedule.steps=1000", "schedule.warmup_steps=400"]
    )
    one = for_one_batch(recipe, 300)
    assert reached_rate(recipe) == pytest.approx(0.001 * 0.6545, rel=1e-3)  # of the cosine
    assert one.optimizer.learning_rate == reached_rate(recipe)
    assert (one.schedule.name, one.schedule.steps, one.schedule.warmup_steps) == (
        "constant",
        300,
        30,
    )
    assert set(dataclasses.astuple(one.augment)) == {0.0}
    assert (one.network, one.task, one.precision) == (recipe.network, recipe.task, recipe.precision)


def test_the_rate_in_proportion_to_the_batch_is_kept() -> None:
    recipe = read_recipe("resnet50_photos", ["loop.batch=32", "schedule.warmup_epochs=0"])
    assert for_one_batch(recipe, 100).optimizer.learning_rate == pytest.approx(0.1 * 32 / 128)
    assert for_one_batch(recipe, 100).optimizer.rate_for_batch == 0


def test_without_a_warm_up_in_the_recipe_there_is_none() -> None:
    recipe = read_recipe("attention_ocr", [])
    assert for_one_batch(recipe, 300).schedule.warmup_steps == 0


def test_photographs_are_whole_and_not_mirrored(tmp_path: Path) -> None:
    data = PHOTOS.make_data(tmp_path / "data")
    run = trial(PHOTOS, data, 5, "augment.flip=1.0")
    batch = read_batch(run)
    shown = run.source.shown(int(batch.positions[0]))
    assert torch.equal(batch.images[0].round().to(torch.uint8), torch.from_numpy(shown))
    inputs, varied = run.task.vary(batch)
    assert torch.equal(inputs, run.task.inputs(batch.images))
    assert varied is batch


def test_a_sample_that_cannot_be_read_is_replaced(tmp_path: Path) -> None:
    records = [word_record("ab"), word_record("cd"), word_record("ef", b"no picture")]
    write_records(tmp_path / "tfrecords" / "train_1.tfrecords", records)
    run = trial(WORDS, tmp_path, 1, "loop.batch=3")
    batch = read_batch(run)
    assert batch.valid.tolist() == [True] * 3
    assert {run.source.label_text(each) for each in batch.positions.tolist()} == {"ab", "cd"}


def test_a_rate_of_nearly_nothing_is_told(tmp_path: Path) -> None:
    data = PHOTOS.make_data(tmp_path / "data")
    verdict = verdict_of(trial(PHOTOS, data, 10, "optimizer.learning_rate=1e-12"))
    assert not verdict.learnt
    assert "the loss stayed at" in verdict.text
    (hint,) = verdict.hints
    assert "weights hardly moved" in hint
    assert "is too low" in hint


def test_a_run_that_is_all_warm_up_has_a_rate_of_nothing(tmp_path: Path) -> None:
    sets = ("schedule.steps=1", "schedule.warmup_steps=5")
    verdict = verdict_of(trial(PHOTOS, PHOTOS.make_data(tmp_path / "data"), 10, *sets))
    assert verdict.hints == (
        "The learning rate behind the warm-up is 0: look at the values of `schedule`.",
    )


def test_numbers_that_run_away_are_told_with_their_step(tmp_path: Path) -> None:
    data = PHOTOS.make_data(tmp_path / "data")
    events: list[Event] = []
    run = trial(PHOTOS, data, 40, "optimizer.learning_rate=1e30", "schedule.warmup_steps=0")
    verdict = verdict_of(run, events.append)
    assert not verdict.learnt
    assert 1 < verdict.course.steps < 40
    assert "the loss is nan" in verdict.text
    assert f"at step {verdict.course.steps} with a learning rate of 1e+30" in verdict.hints[0]
    assert verdict.to_json()["last_loss"] is None
    assert isinstance(events[-1], Ended)


def test_a_first_loss_that_is_no_number_is_not_the_rate(tmp_path: Path) -> None:
    data = PHOTOS.make_data(tmp_path / "data")
    verdict = verdict_of(trial(PHOTOS, data, 10, "picture.deviation=[1e-39, 1e-39, 1e-39]"))
    assert verdict.course.steps == 1
    assert "it is not the learning rate" in verdict.hints[0]
    assert "picture.deviation" in verdict.hints[0]


def test_labels_that_contradict_each_other_are_named(tmp_path: Path) -> None:
    picture = draw_word("ab")
    records = [word_record("ab", picture), word_record("ba", picture), word_record("cd")]
    write_records(tmp_path / "tfrecords" / "train_1.tfrecords", records)
    verdict = verdict_of(trial(WORDS, tmp_path, 200, "loop.batch=3", *LEARNS))
    assert not verdict.learnt
    (pair,) = verdict.facts.contradictions
    assert {*zip(pair.samples, pair.labels, strict=True)} == {(0, "ab"), (1, "ba")}
    assert "the same picture, labelled" in verdict.hints[0]
