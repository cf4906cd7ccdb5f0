"""The loop: exact resume, overflow, averaging, early stopping, and what a run folder keeps."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from torch import Tensor

from tests.train.cases import CASES, TinyCase
from tests.train.photo_data import make_photo_data
from tests.train.word_data import make_word_data, word_record
from trainferry.errors import CheckpointError, DataError, RecipeError, TrainingError
from trainferry.train.build import open_run
from trainferry.train.checkpoint import find_checkpoint, list_checkpoints, load_checkpoint
from trainferry.train.data.tfrecord import write_records
from trainferry.train.data.words.alphabet import LATIN36
from trainferry.train.journal import Evaluated, Event, Logged, Said
from trainferry.train.loop import resume, train
from trainferry.train.run import Run
from trainferry.train.step import train_step
from trainferry.train.transfer import transfer_weights

CPU = torch.device("cpu")
WORDS, PHOTOS = CASES[:2]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_word_data(tmp_path_factory.mktemp("words"))


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_photo_data(tmp_path_factory.mktemp("photos"))


def build(data: Path, folder: Path, *sets: str) -> Run:
    return WORDS.build(data, folder, *sets)


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case.name)
def case(request: pytest.FixtureRequest) -> TinyCase:
    """Every network in turn."""
    found: TinyCase = request.param
    return found


@pytest.fixture(scope="module")
def case_data(case: TinyCase, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return case.make_data(tmp_path_factory.mktemp(case.name))


def losses_of(run: Run) -> list[float]:
    events: list[Event] = []
    train(run, events.append)
    return [event.loss for event in events if isinstance(event, Logged)]


def weights(folder: Path) -> dict[str, Tensor]:
    return dict(load_checkpoint(find_checkpoint(folder, "last")).weights)


def assert_same_weights(one: Path, other: Path) -> None:
    left, right = (load_checkpoint(find_checkpoint(folder, "last")) for folder in (one, other))
    assert left.step == right.step
    for mine, theirs in (
        (left.weights, right.weights),
        (left.training, right.training),
        (left.average or {}, right.average or {}),
    ):
        assert mine.keys() == theirs.keys()
        assert [name for name in mine if not torch.equal(mine[name], theirs[name])] == []


def last_layer(run: Run) -> str:
    (name,) = (n for n, _ in run.network.named_parameters() if n.endswith("classifier.weight"))
    return name


def stop_at(run: Run, step: int) -> None:
    class StopError(Exception):
        pass

    def tell(_: Event) -> None:
        if run.step >= step:
            raise StopError

    with pytest.raises(StopError):
        train(run, tell)


def check_resume(
    case: TinyCase, data: Path, folder: Path, *sets: str, device: torch.device = CPU
) -> None:
    train(case.build(data, folder / "whole", *sets, device=device), lambda _: None)
    stop_at(case.build(data, folder / "stopped", *sets, device=device), 10)
    again = case.build(data, folder / "stopped", *sets, device=device)
    assert resume(again)
    assert 0 < again.step < 20
    train(again, lambda _: None)
    assert_same_weights(folder / "whole", folder / "stopped")


def test_a_stopped_run_ends_with_the_weights_of_one_never_stopped(
    case: TinyCase, case_data: Path, tmp_path: Path
) -> None:
    check_resume(case, case_data, tmp_path)


@pytest.mark.parametrize(
    "sets",
    [
        ("optimizer.name=momentum", "optimizer.nesterov=true", "loop.average=0.9"),
        ("augment.geometry=0.5", "augment.colour=0.5", "augment.blur=0.5", "augment.noise=0.5"),
        ("optimizer.accumulation=2", "precision.name=bf16"),
        ("precision.name=fp16", "precision.loss_scale=dynamic", "data.workers=1"),
    ],
    ids=["momentum-averaged", "augmented", "accumulated-bf16", "fp16-workers"],
)
def test_a_stopped_run_of_words_resumes_whatever_the_recipe(
    sets: Sequence[str], data: Path, tmp_path: Path
) -> None:
    check_resume(WORDS, data, tmp_path, *sets)


@pytest.mark.parametrize(
    "sets",
    [
        ("optimizer.name=lars", "loop.average=0.9"),
        ("augment.operations=2", "augment.erasing=0.5", "augment.mixup=0.2", "augment.cutmix=1.0"),
        ("picture.crop=random_resized", "picture.filter=antialias", "picture.values=floats"),
        ("optimizer.trained=head", "optimizer.accumulation=2", "precision.name=bf16"),
        ("precision.name=fp16", "precision.loss_scale=dynamic", "data.workers=1"),
    ],
    ids=["lars-averaged", "augmented", "other-crop", "head-accumulated-bf16", "fp16-workers"],
)
def test_a_stopped_run_of_photographs_resumes_whatever_the_recipe(
    sets: Sequence[str], photos: Path, tmp_path: Path
) -> None:
    check_resume(PHOTOS, photos, tmp_path, *sets)


@pytest.mark.slow
@pytest.mark.parametrize("case", [WORDS, PHOTOS], ids=lambda case: case.name)
def test_a_run_killed_at_five_random_moments_resumes_to_the_same_weights(
    case: TinyCase, tmp_path: Path
) -> None:
    data = case.make_data(tmp_path / "data")
    command = [sys.executable, "-m", "trainferry", "train", case.recipe_name]
    command += ["--data", str(data), "--device", "cpu"]
    for override in (*case.sets, "schedule.steps=30", "loop.average=0.9", "data.workers=1"):
        command += ["--set", override]
    whole = [*command, "--run", str(tmp_path / "whole")]
    subprocess.run(whole, check=True, capture_output=True)

    killed = 0
    stream = random.Random()
    while killed < 5:
        process = subprocess.Popen(
            [*command, "--run", str(tmp_path / "killed")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert process.stderr is not None
        steps = (line for line in process.stderr if line.startswith("step"))
        next(steps, None)
        time.sleep(stream.uniform(0.0, 0.4))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stderr.close()
        killed += 1
    subprocess.run([*command, "--run", str(tmp_path / "killed")], check=True, capture_output=True)
    assert_same_weights(tmp_path / "whole", tmp_path / "killed")


VARIED = {
    "crnn": ("augment.geometry=0.5", "augment.noise=0.5"),
    "resnet": ("augment.operations=2", "augment.erasing=0.5", "augment.mixup=0.2"),
}


def test_losses_are_the_same_on_the_emulated_npu(
    case: TinyCase, case_data: Path, tmp_path: Path, emulated_npu: torch.device
) -> None:
    sets = ("loop.log_every=1", "loop.average=0.9", *VARIED.get(case.name, ()))
    on_cpu = losses_of(case.build(case_data, tmp_path / "cpu", *sets))
    on_npu = losses_of(case.build(case_data, tmp_path / "npu", *sets, device=emulated_npu))
    assert len(on_cpu) == 20
    assert on_npu == pytest.approx(on_cpu, abs=1e-5)


def test_a_run_on_the_emulated_npu_resumes_too(
    case: TinyCase, case_data: Path, tmp_path: Path, emulated_npu: torch.device
) -> None:
    check_resume(case, case_data, tmp_path, device=emulated_npu)


def test_an_overflow_changes_no_weight_and_no_step(
    case: TinyCase, case_data: Path, tmp_path: Path
) -> None:
    run = case.build(
        case_data,
        tmp_path / "run",
        "precision.name=fp16",
        "precision.loss_scale=dynamic",
        "precision.initial_scale=1e38",
    )
    before = {name: value.clone() for name, value in run.network.state_dict().items()}
    batches = run.training_batches()
    results = [train_step(run, next(batches)) for _ in range(2)]
    assert [result.updated for result in results] == [False, False]
    assert (run.step, run.position) == (0, 2)
    assert all(torch.equal(before[name], w) for name, w in run.network.state_dict().items())
    assert run.scale.overflows == 2
    assert run.scale.value == pytest.approx(0.5e38)


def test_endless_overflow_is_told(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trainferry.train.watch.MOST_OVERFLOWS_IN_A_ROW", 3)
    run = build(
        data,
        tmp_path / "run",
        "precision.name=fp16",
        "precision.loss_scale=static",
        "precision.initial_scale=1e38",
    )
    with pytest.raises(TrainingError, match="3 batches in a row overflowed"):
        train(run, lambda _: None)


def test_accumulated_parts_give_the_gradient_of_the_whole_batch(
    case: TinyCase, case_data: Path, tmp_path: Path
) -> None:
    runs = [
        case.build(case_data, tmp_path / name, f"accumulation={parts}")
        for name, parts in (("one", 1), ("two", 2))
    ]
    for run in runs:
        run.network.eval()  # batch norm over parts is another function
        train_step(run, next(run.training_batches()))
    one, two = ([p.grad for p in run.network.parameters()] for run in runs)
    for left, right in zip(one, two, strict=True):
        assert left is not None
        assert right is not None
        # By norm: where a rectifier is at rounding distance from zero, single values jump.
        assert float((left - right).norm()) <= 1e-3 * float(left.norm()) + 1e-6


def test_a_loss_that_is_no_number_stops_the_run_and_saves_nothing(
    case: TinyCase, case_data: Path, tmp_path: Path
) -> None:
    run = case.build(case_data, tmp_path / "run")
    with torch.no_grad():
        next(run.network.parameters()).fill_(float("nan"))
    with pytest.raises(TrainingError, match="the loss is nan at step 5") as caught:
        train(run, lambda _: None)
    assert "lower learning rate" in caught.value.hint
    assert list_checkpoints(tmp_path / "run") == []


def test_an_update_that_ruins_the_weights_is_neither_scored_nor_saved(
    case: TinyCase, case_data: Path, tmp_path: Path
) -> None:
    run = case.build(case_data, tmp_path / "run", "loop.log_every=100")
    last = run.network.get_parameter(last_layer(run))
    # The loss of the step whose update ruins the weights is still a good one.
    last.register_hook(lambda gradient: gradient * (float("nan") if run.step == 9 else 1.0))
    events: list[Event] = []
    with pytest.raises(TrainingError, match="not finite numbers came out of step 10") as caught:
        train(run, events.append)
    assert "lower learning rate" in caught.value.hint
    assert [event for event in events if isinstance(event, Evaluated)] == []
    assert [path.name for path in list_checkpoints(tmp_path / "run")] == ["step-00000005"]


def test_an_evaluation_that_fails_leaves_the_network_as_it_was(
    case: TinyCase, case_data: Path, tmp_path: Path
) -> None:
    run = case.build(case_data, tmp_path / "run", "loop.average=0.9")
    weight = run.network.get_parameter(last_layer(run))
    before: list[Tensor] = []

    def stop_in_evaluation(_: torch.nn.Module, __: object) -> None:
        if not run.network.training:
            raise KeyboardInterrupt

    run.network.register_forward_pre_hook(stop_in_evaluation)
    with pytest.raises(KeyboardInterrupt):
        train(run, lambda _: before.append(weight.detach().clone()))
    assert run.step == 10
    assert run.network.training
    assert torch.equal(weight, before[-1])
    assert run.average is not None
    assert not torch.equal(weight, run.average.values[last_layer(run)])


def test_training_stops_when_the_score_no_longer_rises(data: Path, tmp_path: Path) -> None:
    run = build(
        data, tmp_path / "run", "patience=2", "loop.evaluate_every=1", "learning_rate=1e-12"
    )
    ended = train(run, lambda _: None)
    assert "no better score in 2 evaluations" in ended.reason
    assert run.step == 3
    assert find_checkpoint(tmp_path / "run", "last").name == "step-00000003"
    again = build(
        data, tmp_path / "run", "patience=2", "loop.evaluate_every=1", "learning_rate=1e-12"
    )
    assert resume(again)
    assert train(again, lambda _: None).step == 3


def test_the_plateau_is_told_once(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trainferry.train.tasks.diagnose.PATIENCE_STEPS", 5)
    run = build(data, tmp_path / "run", "loop.log_every=1", "learning_rate=1e-12")
    with torch.no_grad():
        for name, weight in run.network.named_parameters():
            if "bias_ih" in name:
                weight.fill_(10.0)  # open gates: all that the recurrence says is positive
        run.network.get_parameter("classifier.weight").zero_()
        run.network.get_parameter("classifier.weight")[-1] = 50.0
    events: list[Event] = []
    train(run, events.append)
    (told,) = [event for event in events if isinstance(event, Said)]
    assert told.step == 6
    assert "Nothing has been read for 5 steps while the loss" in told.text
    assert "the network answers the CTC blank everywhere" in told.text
    assert "try a learning rate three times higher" in told.text


def test_another_recipe_cannot_take_over_a_run(data: Path, tmp_path: Path) -> None:
    train(build(data, tmp_path / "run"), lambda _: None)
    with pytest.raises(RecipeError, match=r"network.hidden was 8, is 9"):
        build(data, tmp_path / "run", "network.hidden=9")
    build(data, tmp_path / "run", "loop.log_every=2")


def test_a_folder_with_other_things_is_left_alone(data: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(RecipeError, match="is not empty and holds no run"):
        build(data, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_other_data_cannot_go_on_with_a_run(data: Path, tmp_path: Path) -> None:
    train(build(data, tmp_path / "run"), lambda _: None)
    other = build(make_word_data(tmp_path / "other", train=30), tmp_path / "run")
    with pytest.raises(CheckpointError, match="trained on 60 samples, the data now has 30"):
        resume(other)


def test_a_damaged_newest_checkpoint_is_told_and_the_older_one_serves(
    case: TinyCase, case_data: Path, tmp_path: Path
) -> None:
    train(case.build(case_data, tmp_path / "run"), lambda _: None)
    newest = find_checkpoint(tmp_path / "run", "last")
    (newest / "weights.safetensors").write_bytes(b"")
    run = case.build(case_data, tmp_path / "run")
    with pytest.raises(CheckpointError, match="damaged") as caught:
        resume(run)
    assert str(newest) in caught.value.hint


def test_pictures_that_are_none_are_counted_and_replaced(tmp_path: Path) -> None:
    records = [
        word_record("ab", b"no picture") if n % 4 == 0 else word_record("cd") for n in range(16)
    ]
    write_records(tmp_path / "data" / "train_1.tfrecords", records)
    events: list[Event] = []
    train(build(tmp_path / "data", tmp_path / "run"), events.append)
    skipped = sum(event.skipped for event in events if isinstance(event, Logged))
    assert skipped == 20 * 8 // 4


def test_data_that_is_all_bad_is_refused(tmp_path: Path) -> None:
    write_records(tmp_path / "data" / "train_1.tfrecords", [word_record("???")] * 5)
    with pytest.raises(DataError):
        build(tmp_path / "data", tmp_path / "run")


def test_weights_of_another_run_are_taken_over_where_they_fit(data: Path, tmp_path: Path) -> None:
    train(build(data, tmp_path / "first"), lambda _: None)
    second = build(data, tmp_path / "second", "task.alphabet=abcdefgh0123xyz")
    transfer = transfer_weights(second, tmp_path / "first", ["convolutions.conv7*"])
    left = dict(transfer.left)
    assert left == {"convolutions.conv7.weight": "excluded"}
    first = weights(tmp_path / "first")
    assert torch.equal(
        first["convolutions.conv1.weight"], second.network.state_dict()["convolutions.conv1.weight"]
    )


@pytest.mark.parametrize("alphabet", ["渡zyx口hgfedcba3210", LATIN36[::-1]], ids=["some", "turned"])
def test_characters_that_were_known_keep_what_was_learnt_of_them(
    alphabet: str, data: Path, tmp_path: Path
) -> None:
    train(build(data, tmp_path / "first"), lambda _: None)
    second = build(data, tmp_path / "second", f"task.alphabet={alphabet}", "loop.seed=1")
    fresh = second.network.state_dict()["classifier.weight"].clone()
    transfer = transfer_weights(second, tmp_path / "first", [])
    moved = second.network.state_dict()["classifier.weight"]
    first = weights(tmp_path / "first")["classifier.weight"]
    for place, character in enumerate(alphabet):
        learnt = first[LATIN36.index(character)] if character in LATIN36 else fresh[place]
        assert torch.equal(moved[place], learnt)
    assert torch.equal(moved[-1], first[-1])
    assert transfer.left == ()
    known = len(set(alphabet) & set(LATIN36))
    assert f"{known} of {len(alphabet)} characters were known" in "".join(transfer.notes)


def test_a_classifier_of_other_characters_is_not_taken_over(data: Path, tmp_path: Path) -> None:
    train(build(data, tmp_path / "first"), lambda _: None)
    write_records(tmp_path / "data" / "train_1.tfrecords", [word_record("渡口")] * 16)
    others = "渡口" + "".join(map(chr, range(0x4E00, 0x4E00 + len(LATIN36) - 2)))
    second = build(tmp_path / "data", tmp_path / "second", f"task.alphabet={others}")
    transfer = transfer_weights(second, tmp_path / "first", [])
    assert dict(transfer.left) == {"classifier.weight": "its classes stand for other characters"}


@pytest.mark.slow
def test_a_run_on_other_classes_starts_better_than_from_scratch(tmp_path: Path) -> None:
    first = make_photo_data(tmp_path / "three", classes=3, train=48)
    other = make_photo_data(tmp_path / "five", classes=5, train=40, val=20)
    long = ("schedule.steps=60", "loop.evaluate_every=60", "loop.save_every=60")
    train(PHOTOS.build(first, tmp_path / "first", *long), lambda _: None)

    short = ("schedule.steps=12", "loop.evaluate_every=12", "loop.log_every=1", "loop.seed=1")
    moved = PHOTOS.build(other, tmp_path / "moved", *short)
    transfer = transfer_weights(moved, tmp_path / "first", [])
    assert dict(transfer.left) == {
        "classifier.weight": "its shape is (4, 32) there, (6, 32) here",
        "classifier.bias": "its shape is (4,) there, (6,) here",
    }
    assert len(transfer.loaded) == len(moved.network.state_dict()) - 2

    scratch = losses_of(PHOTOS.build(other, tmp_path / "scratch", *short))
    assert sum(losses_of(moved)[-4:]) < sum(scratch[-4:])


def test_nothing_that_fits_is_an_error(data: Path, tmp_path: Path) -> None:
    train(build(data, tmp_path / "first"), lambda _: None)
    second = build(data, tmp_path / "second")
    with pytest.raises(CheckpointError, match="nothing in"):
        transfer_weights(second, tmp_path / "first", ["*"])


def test_the_average_is_what_is_scored_and_opened(
    case: TinyCase, case_data: Path, tmp_path: Path
) -> None:
    run = case.build(case_data, tmp_path / "run", "loop.average=0.5", "learning_rate=0.05")
    events: list[Event] = []
    train(run, events.append)
    saved = load_checkpoint(find_checkpoint(tmp_path / "run", "last"))
    assert saved.average is not None
    name = last_layer(run)
    assert not torch.equal(saved.average[name], saved.weights[name])
    opened = open_run(tmp_path / "run", device=CPU, checkpoint="last")
    assert torch.equal(opened.network.state_dict()[name], saved.average[name])
    assert [event.step for event in events if isinstance(event, Evaluated)] == [10, 20]


@pytest.mark.slow
def test_sixteen_words_are_learnt_by_heart(tmp_path: Path) -> None:
    make_word_data(tmp_path / "data", train=16, val=0)
    records = (tmp_path / "data" / "tfrecords" / "train_1.tfrecords").read_bytes()
    (tmp_path / "data" / "tfrecords" / "val_1.tfrecords").write_bytes(records)
    run = build(
        tmp_path / "data",
        tmp_path / "run",
        "network.channels=[8,16,32,32,32,32,32]",
        "network.hidden=48",
        "network.dropout=0.0",
        "loop.batch=16",
        "schedule.steps=200",
        "schedule.warmup_steps=20",
        "learning_rate=0.006",
        "weight_decay=0.0",
        "loop.evaluate_every=200",
        "loop.save_every=200",
    )
    train(run, lambda _: None)
    assert run.best_score is not None
    assert run.best_score >= 15 / 16


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner",
    [case for case in CASES if case.make_data is make_photo_data],
    ids=lambda case: case.name,
)
def test_sixteen_photographs_are_learnt_by_heart(learner: TinyCase, tmp_path: Path) -> None:
    # Square: of others, scoring cuts off what training has seen.
    data = make_photo_data(tmp_path / "data", classes=4, train=16, val=0, aspect=1.0)
    for records in list(data.glob("train-*")):
        (data / records.name.replace("train", "validation")).write_bytes(records.read_bytes())
    run = learner.build(
        data,
        tmp_path / "run",
        "loop.batch=16",
        "schedule.steps=60",
        "picture.least_area=1.0",
        "picture.least_aspect=1.0",
        "picture.most_aspect=1.0",
        "optimizer.weight_decay=0.0",
        "loop.evaluate_every=60",
        "loop.save_every=60",
    )
    train(run, lambda _: None)
    assert run.best_score is not None
    assert run.best_score >= 15 / 16


def test_weights_that_saw_other_values_are_told(photos: Path, tmp_path: Path) -> None:
    train(PHOTOS.build(photos, tmp_path / "first", "schedule.steps=5"), lambda _: None)
    second = PHOTOS.build(photos, tmp_path / "second", "picture.deviation=[60.0, 60.0, 60.0]")
    (note,) = transfer_weights(second, tmp_path / "first", []).notes
    assert "picture.deviation was (1.0, 1.0, 1.0)" in note
    assert (
        transfer_weights(PHOTOS.build(photos, tmp_path / "third"), tmp_path / "first", []).notes
        == ()
    )
