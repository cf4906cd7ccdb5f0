"""A step as one piece of work on the device: the same training, whoever counts the updates.

It is recorded on a GPU, if there is one, and on the emulated NPU, which records where it is asked
to. On the CPU it is not, but it is the same work.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import Path

import pytest
import torch
from torch import Tensor

from tests.train.cases import CASES, TinyCase
from trainferry.devices.capture import VARIABLE
from trainferry.devices.device import find_accelerators, synchronize
from trainferry.errors import TrainingError
from trainferry.train.checkpoint import find_checkpoint, list_checkpoints, load_checkpoint
from trainferry.train.journal import Event, Logged, Said
from trainferry.train.loop import RECORDING, WhyStop, resume, train
from trainferry.train.pace import Pace
from trainferry.train.run import Run
from trainferry.train.schedule import learning_rate, peak_rate
from trainferry.train.step import train_step

CPU, GPU = torch.device("cpu"), torch.device("cuda", 0)
WORDS, PHOTOS = CASES[:2]
needs_gpu = pytest.mark.skipif(
    not any(device.type == "cuda" for device in find_accelerators()), reason="needs an NVIDIA GPU"
)
OVERFLOWING = (
    "precision.name=fp16",
    "precision.loss_scale=dynamic",
    "precision.initial_scale=1e6",
)


@pytest.fixture(params=[pytest.param("cuda", marks=[pytest.mark.cuda, needs_gpu]), "npu"])
def recorder(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> torch.device:
    """A device that records."""
    if request.param == "cuda":
        return GPU
    monkeypatch.setenv(VARIABLE, "on")
    device: torch.device = request.getfixturevalue("emulated_npu")
    return device


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return WORDS.make_data(tmp_path_factory.mktemp("words"))


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return PHOTOS.make_data(tmp_path_factory.mktemp("photos"))


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case.name)
def case(request: pytest.FixtureRequest) -> TinyCase:
    found: TinyCase = request.param
    return found


@pytest.fixture(scope="module")
def data(case: TinyCase, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return case.make_data(tmp_path_factory.mktemp(case.name))


def trained(run: Run) -> list[Logged]:
    events: list[Event] = []
    train(run, events.append)
    return [event for event in events if isinstance(event, Logged)]


def enough_after(batches: int) -> WhyStop:
    asked = count()
    return lambda _position: "enough" if next(asked) == batches else None


def build(
    case: TinyCase, data: Path, folder: Path, *sets: str, whole: bool, device: torch.device = CPU
) -> Run:
    run = case.build(data, folder, *sets, "loop.whole_step=true", device=device)
    run.captures = whole
    return run


def both(
    case: TinyCase, data: Path, folder: Path, *sets: str, device: torch.device = CPU
) -> tuple[Run, Run, list[Logged], list[Logged]]:
    """Train step by step and as a whole."""
    plain = build(case, data, folder / "plain", *sets, whole=False, device=device)
    whole = build(case, data, folder / "whole", *sets, whole=True, device=device)
    return plain, whole, trained(plain), trained(whole)


def facts(events: list[Logged]) -> list[tuple[float, ...]]:
    return [
        (event.step, event.loss, event.learning_rate, event.loss_scale, event.overflows)
        for event in events
    ]


@pytest.mark.parametrize("whole", [True, False])
def test_a_line_says_what_takes_so_long_at_first(words: Path, tmp_path: Path, whole: bool) -> None:
    run = build(WORDS, words, tmp_path / "run", "schedule.steps=2", whole=whole)
    events: list[Event] = []
    train(run, events.append)
    assert (events[0] == Said(0, RECORDING)) == whole
    events.clear()
    train(run, events.append)  # nothing is left to do
    assert not any(isinstance(event, Said) for event in events)


def gradients_of(run: Run) -> Tensor:
    weights = run.network.parameters()
    return torch.cat([each.grad.flatten() for each in weights if each.grad is not None])


def assert_same_checkpoints(one: Path, other: Path) -> None:
    assert [path.name for path in list_checkpoints(one)] == [
        path.name for path in list_checkpoints(other)
    ]
    left, right = (load_checkpoint(find_checkpoint(folder, "last")) for folder in (one, other))
    for name in ("position", "loss_scale"):
        assert left.facts[name] == right.facts[name]
    assert left.facts["scores"] == pytest.approx(right.facts["scores"], rel=1e-5)
    for mine, theirs in ((left.weights, right.weights), (left.training, right.training)):
        assert [name for name in mine if not torch.equal(mine[name], theirs[name])] == []
    assert (left.average is None) == (right.average is None)
    for name, value in (left.average or {}).items():
        # The one kind of averaging rounds once, the other twice.
        torch.testing.assert_close(value, (right.average or {})[name], rtol=1e-5, atol=1e-6)


def test_every_network_trains_alike_to_the_last_bit(
    case: TinyCase, data: Path, tmp_path: Path
) -> None:
    _, whole, one, other = both(case, data, tmp_path, "loop.log_every=3")
    assert whole.whole is not None
    assert facts(one) == facts(other)
    assert_same_checkpoints(tmp_path / "plain", tmp_path / "whole")


@pytest.mark.parametrize(
    "sets",
    [
        ("optimizer.name=adamw", "optimizer.weight_decay=0.01", "optimizer.clip_norm=1.0"),
        ("optimizer.name=adam", "optimizer.clip_norm=0.1", "optimizer.clipped=each"),
        ("augment.geometry=0.5", "augment.noise=0.5", "precision.name=bf16"),
        (*OVERFLOWING, "optimizer.name=adam"),
        (*OVERFLOWING, "loop.average=0.9"),
        ("loop.average=0.9",),
    ],
    ids=["adamw-clipped", "adam-each", "augmented-bf16", "fp16-adam", "fp16", "averaged"],
)
def test_words_train_alike_whatever_the_recipe(
    sets: Sequence[str], words: Path, tmp_path: Path
) -> None:
    _, whole, one, other = both(WORDS, words, tmp_path, "loop.log_every=3", *sets)
    assert whole.whole is not None
    assert (whole.scale.overflows > 0) == (sets[0] == OVERFLOWING[0])
    assert facts(one) == facts(other)
    assert_same_checkpoints(tmp_path / "plain", tmp_path / "whole")


@pytest.mark.parametrize(
    "sets",
    [
        ("optimizer.name=lars",),
        ("augment.mixup=0.2", "augment.cutmix=1.0", "augment.erasing=0.5"),
        ("optimizer.trained=head",),
        (*OVERFLOWING, "optimizer.name=lars"),
    ],
    ids=["lars", "mixed", "head", "fp16-lars"],
)
def test_photographs_train_alike_whatever_the_recipe(
    sets: Sequence[str], photos: Path, tmp_path: Path
) -> None:
    _, _, one, other = both(PHOTOS, photos, tmp_path, "loop.log_every=3", *sets)
    assert facts(one) == facts(other)
    assert_same_checkpoints(tmp_path / "plain", tmp_path / "whole")


def test_rates_are_right_where_the_table_ends(
    words: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trainferry.train.pace.AHEAD", 3)
    sets = ("loop.log_every=4", "loop.evaluate_every=7", *OVERFLOWING)
    _, whole, one, other = both(WORDS, words, tmp_path, *sets)
    assert whole.scale.overflows > 3
    assert facts(one) == facts(other)
    assert_same_checkpoints(tmp_path / "plain", tmp_path / "whole")


def test_the_pace_is_that_of_the_schedule(words: Path, tmp_path: Path) -> None:
    run = build(WORDS, words, tmp_path / "run", whole=True)
    pace = Pace(run.recipe, None, CPU)
    pace.begin(4)
    rates = []
    for overflow in (0.0, 1.0, 0.0, 0.0):
        pace.take()
        rates.append(float(pace.rate))
        pace.count(torch.tensor(overflow))
    peak = peak_rate(run.recipe)
    schedule = run.recipe.schedule
    assert rates == [learning_rate(schedule, peak, step) for step in (4, 5, 5, 6)]
    assert pace.step(float(pace.made())) == 7


@pytest.mark.parametrize(
    "sets",
    [("optimizer.name=adamw", "loop.average=0.9"), (*OVERFLOWING, "loop.average=0.9")],
    ids=["adamw", "fp16"],
)
def test_a_stopped_run_ends_with_the_weights_of_one_never_stopped(
    sets: Sequence[str], words: Path, tmp_path: Path
) -> None:
    train(build(WORDS, words, tmp_path / "never", *sets, whole=True), lambda _: None)
    first = build(WORDS, words, tmp_path / "stopped", *sets, whole=True)
    batches = 25 if sets[0] == OVERFLOWING[0] else 7
    train(first, lambda _: None, why_stop=enough_after(batches))
    assert 0 < first.step < 20
    again = build(WORDS, words, tmp_path / "stopped", *sets, whole=True)
    assert resume(again)
    assert (again.step, again.position) == (first.step, first.position)
    train(again, lambda _: None)
    assert_same_checkpoints_of_last(tmp_path / "never", tmp_path / "stopped")


def assert_same_checkpoints_of_last(one: Path, other: Path) -> None:
    left, right = (load_checkpoint(find_checkpoint(folder, "last")) for folder in (one, other))
    assert (left.step, left.facts["loss_scale"]) == (right.step, right.facts["loss_scale"])
    for mine, theirs in (
        (left.weights, right.weights),
        (left.training, right.training),
        (left.average or {}, right.average or {}),
    ):
        assert mine.keys() == theirs.keys()
        assert [name for name in mine if not torch.equal(mine[name], theirs[name])] == []


def test_a_run_taken_back_to_its_checkpoint_repeats_its_steps(words: Path, tmp_path: Path) -> None:
    run = build(WORDS, words, tmp_path / "run", "loop.average=0.9", *OVERFLOWING, whole=True)
    first = facts(trained(run))
    run.restore(load_checkpoint(list_checkpoints(tmp_path / "run")[-2]))
    assert run.step == 15
    assert facts(trained(run)) == first[-1:]


def test_an_overflow_changes_no_weight_and_no_step(
    case: TinyCase, data: Path, tmp_path: Path
) -> None:
    sets = ("precision.name=fp16", "precision.loss_scale=dynamic", "precision.initial_scale=1e38")
    run = build(case, data, tmp_path / "run", *sets, "loop.average=0.9", whole=True)
    before = {name: value.clone() for name, value in run.network.state_dict().items()}
    batches = run.training_batches()
    for _ in range(2):
        train_step(run, next(batches))
    run.settle()
    assert (run.step, run.position) == (0, 2)
    assert all(torch.equal(before[name], w) for name, w in run.network.state_dict().items())
    assert run.average is not None
    assert all(torch.equal(before[name], w) for name, w in run.average.values.items())
    assert run.scale.overflows == 2
    assert run.scale.value == pytest.approx(0.5e38)


def test_endless_overflow_is_told(
    words: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trainferry.train.watch.MOST_OVERFLOWS_IN_A_ROW", 12)
    sets = ("precision.name=fp16", "precision.loss_scale=static", "precision.initial_scale=1e38")
    run = build(WORDS, words, tmp_path / "run", *sets, whole=True)
    with pytest.raises(TrainingError, match="12 batches in a row overflowed"):
        train(run, lambda _: None)


def test_accumulated_parts_and_several_ranks_are_not_one_piece(words: Path, tmp_path: Path) -> None:
    sets = ("optimizer.accumulation=2", "loop.whole_step=true")
    run = WORDS.build(words, tmp_path / "run", *sets)
    assert not run.captures
    train(run, lambda _: None)
    assert run.whole is None
    assert run.step == 20


def test_a_batch_of_another_shape_is_no_problem(words: Path, tmp_path: Path) -> None:
    run = build(WORDS, words, tmp_path / "run", whole=True)
    batch = next(run.training_batches())
    losses = [float(train_step(run, each).loss) for each in (batch, batch.split(2)[0], batch)]
    assert all(loss > 0 for loss in losses)
    assert run.step == 3


def test_a_recording_is_done_before_one_of_another_shape_begins(
    words: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recorder: torch.device
) -> None:
    """Replays read addresses from memory of the host, which the new rehearsals write over."""
    run = build(WORDS, words, tmp_path / "run", whole=True, device=recorder)
    batches = run.training_batches()
    waited: list[torch.device] = []

    def wait(device: torch.device) -> None:
        waited.append(device)
        synchronize(device)

    monkeypatch.setattr("trainferry.train.whole_step.synchronize", wait)
    for _ in range(6):
        train_step(run, next(batches))
    assert run.whole is not None
    assert run.whole.is_recorded
    assert waited == []
    train_step(run, next(batches).split(2)[0])
    assert waited == [recorder]
    assert not run.whole.is_recorded


@pytest.mark.parametrize("sets", [(), (*OVERFLOWING, "optimizer.name=adamw")], ids=["", "fp16"])
def test_what_the_emulated_npu_records_is_all_that_a_step_does(
    case: TinyCase,
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    emulated_npu: torch.device,
    sets: Sequence[str],
) -> None:
    monkeypatch.setenv(VARIABLE, "on")
    sets = (*sets, "schedule.steps=10", "loop.log_every=1", "loop.average=0.9")
    recorded = build(case, data, tmp_path / "recorded", *sets, whole=True, device=emulated_npu)
    one = trained(recorded)
    monkeypatch.setattr("trainferry.devices.capture.capture_helps", lambda _: False)
    started = build(case, data, tmp_path / "started", *sets, whole=True, device=emulated_npu)
    other = trained(started)
    assert recorded.whole is not None
    assert started.whole is not None
    assert recorded.whole.is_recorded
    assert not started.whole.is_recorded
    assert facts(one) == facts(other)
    assert_same_checkpoints(tmp_path / "recorded", tmp_path / "started")


@pytest.mark.cuda
@needs_gpu
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_a_recorded_step_has_the_gradients_of_a_plain_one(
    case: TinyCase, data: Path, tmp_path: Path, precision: str
) -> None:
    # Weights that stay: otherwise tiny networks take what rounding changed apart in a few steps.
    still = ("loop.log_every=1", "optimizer.learning_rate=1e-12", f"precision.name={precision}")
    plain, whole, one, other = both(case, data, tmp_path, *still, device=GPU)
    assert plain.whole is None
    assert whole.whole is not None
    assert whole.whole.is_recorded
    assert len(other) == 20
    near = 1e-4 if precision == "fp32" else 0.05
    assert [each.loss for each in other] == pytest.approx([each.loss for each in one], rel=near)
    way = gradients_of(plain)
    assert (gradients_of(whole) - way).norm() < (0.01 if precision == "fp32" else 0.3) * way.norm()
    assert [each.learning_rate for each in other] == [each.learning_rate for each in one]


@pytest.mark.parametrize(
    "sets",
    [
        ("loop.average=0.9",),
        ("precision.name=bf16", "optimizer.clip_norm=1.0"),
        ("optimizer.name=adamw", "optimizer.weight_decay=0.01"),
    ],
    ids=["averaged", "bf16-clipped", "adamw"],
)
def test_a_recorded_run_has_the_losses_of_a_plain_one(
    words: Path, tmp_path: Path, sets: Sequence[str], recorder: torch.device
) -> None:
    plain, whole, one, other = both(
        WORDS, words, tmp_path, "loop.log_every=1", *sets, device=recorder
    )
    assert plain.whole is None
    assert whole.whole is not None
    assert whole.whole.is_recorded
    close = 0.05 if "precision.name=bf16" in sets else 1e-3
    assert [each.loss for each in other] == pytest.approx([each.loss for each in one], rel=close)
    assert [each.learning_rate for each in other] == [each.learning_rate for each in one]


@pytest.mark.parametrize("optimizer", ["momentum", "adamw"])
def test_recorded_and_unrecorded_work_are_the_same(
    words: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    optimizer: str,
    recorder: torch.device,
) -> None:
    sets = ("loop.log_every=1", "loop.average=0.9", f"optimizer.name={optimizer}")
    recorded = build(WORDS, words, tmp_path / "recorded", *sets, whole=True, device=recorder)
    one = trained(recorded)
    monkeypatch.setattr("trainferry.devices.capture.capture_helps", lambda _: False)
    started = build(WORDS, words, tmp_path / "started", *sets, whole=True, device=recorder)
    other = trained(started)
    assert recorded.whole is not None
    assert started.whole is not None
    assert recorded.whole.is_recorded
    assert not started.whole.is_recorded
    assert [each.loss for each in one] == pytest.approx([each.loss for each in other], rel=1e-4)


def test_a_recorded_run_that_is_stopped_goes_on_as_if_it_was_not(
    words: Path, tmp_path: Path, recorder: torch.device
) -> None:
    sets = ("loop.average=0.9", "loop.log_every=1", "optimizer.name=adamw")
    never = trained(build(WORDS, words, tmp_path / "never", *sets, whole=True, device=recorder))
    first = build(WORDS, words, tmp_path / "stopped", *sets, whole=True, device=recorder)
    train(first, lambda _: None, why_stop=enough_after(7))
    again = build(WORDS, words, tmp_path / "stopped", *sets, whole=True, device=recorder)
    assert resume(again)
    assert again.step == 7
    rest = trained(again)
    assert again.whole is not None
    assert again.whole.is_recorded
    assert [each.loss for each in rest] == pytest.approx(
        [each.loss for each in never[7:]], rel=1e-3
    )


def test_the_rate_of_the_schedule_takes_effect_in_replays(
    words: Path, tmp_path: Path, recorder: torch.device
) -> None:
    sets = ("schedule.name=piecewise", "schedule.boundaries=[10]", "schedule.factors=[1.0, 0.0]")
    run = build(
        WORDS, words, tmp_path / "run", "weight_decay=0", *sets, whole=True, device=recorder
    )
    batches = run.training_batches()
    weight = next(run.network.parameters())
    moved = []
    for _ in range(16):
        before = weight.detach().clone()
        train_step(run, next(batches))
        moved.append(not torch.equal(before, weight))
    assert run.whole is not None
    assert run.whole.is_recorded
    # The first two steps of the warm-up, and whatever follows step 10.
    assert moved[2:] == [True] * 9 + [False] * 5


@pytest.mark.parametrize("network", [WORDS, PHOTOS, CASES[-1]], ids=lambda case: case.name)
def test_the_device_leaves_out_updates_that_overflow(
    network: TinyCase, tmp_path: Path, recorder: torch.device
) -> None:
    made = network.make_data(tmp_path / "data")
    # A low rate: what rounding takes apart would soon be another training.
    sets = (*OVERFLOWING, "loop.log_every=3", "loop.average=0.9", "learning_rate=1e-4")
    plain, whole, one, other = both(network, made, tmp_path, *sets, device=recorder)
    assert whole.whole is not None
    assert whole.whole.is_recorded
    assert whole.scale.overflows > 3
    assert whole.step == plain.step == 20
    assert [each.step for each in one] == [each.step for each in other]
    assert whole.scale.overflows == pytest.approx(plain.scale.overflows, abs=2)
    assert [each.loss for each in other] == pytest.approx([each.loss for each in one], rel=0.05)
    weights = whole.network.state_dict().values()
    assert all(bool(weight.isfinite().all()) for weight in weights)


@pytest.mark.cuda
@needs_gpu
@pytest.mark.filterwarnings("ignore:Synchronization debug mode is a prototype")
@pytest.mark.parametrize("sets", [(), OVERFLOWING], ids=["fp32", "fp16"])
def test_a_recorded_step_waits_for_nothing(
    words: Path, tmp_path: Path, sets: Sequence[str]
) -> None:
    sets = (*sets, "loop.log_every=1000", "loop.save_every=1000", "loop.evaluate_every=1000")
    run = build(WORDS, words, tmp_path / "run", *sets, whole=True, device=GPU)
    batches = run.training_batches()
    for _ in range(5):
        train_step(run, next(batches))
    assert run.whole is not None
    assert run.whole.is_recorded
    module = torch.get_device_module(GPU)
    module.set_sync_debug_mode("error")
    try:
        for _ in range(5):
            train_step(run, next(batches).pin_memory())
    finally:
        module.set_sync_debug_mode("default")


@pytest.mark.cuda
@needs_gpu
def test_accumulation_on_a_gpu_is_done_in_plain_steps(words: Path, tmp_path: Path) -> None:
    run = WORDS.build(words, tmp_path / "run", "optimizer.accumulation=2", device=GPU)
    train(run, lambda _: None)
    assert run.whole is None
    assert run.step == 20
