"""Checkpoints of ResNet, DenseNet and HRNet: every name, every size, and back again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from tests.train.networks.golden import Golden, difference, pictures, read_golden, weight_by_rule
from trainferry.errors import CheckpointError
from trainferry.train import photos
from trainferry.train.build import build_network
from trainferry.train.networks.sizes import DENSENET_LAYERS, RESNET_BLOCKS
from trainferry.train.recipe.networks import (
    CRNNRecipe,
    DenseNetRecipe,
    HRNetRecipe,
    NetworkRecipe,
    ResNetRecipe,
)
from trainferry.train.recipe.sections import SECTIONS, Recipe
from trainferry.train.recipe.tasks import ClassifyRecipe
from trainferry.train.tf_checkpoint.guess import guess_network
from trainferry.train.tf_checkpoint.load import LARS, MOMENTUM, import_network, to_tensorflow
from trainferry.train.tf_checkpoint.names import variable_names
from trainferry.train.tf_checkpoint.names_resnet import SCOPES
from trainferry.train.tf_checkpoint.read import TensorFlowCheckpoint, read_checkpoint
from trainferry.train.tf_checkpoint.write import write_checkpoint

Array = NDArray[Any]

CLASSES = 5
EVERY_SIZE: tuple[NetworkRecipe, ...] = (
    *(ResNetRecipe(size=size, version=version) for size in RESNET_BLOCKS for version in (1, 2)),
    *(DenseNetRecipe(size=size) for size in DENSENET_LAYERS),
    *(HRNetRecipe(width=width) for width in (18, 30, 32, 40, 44, 48, 64)),
)
SMALL: tuple[NetworkRecipe, ...] = (
    ResNetRecipe(size=18, version=1, width=4),
    ResNetRecipe(size=50, version=2, width=4),
    DenseNetRecipe(size=121, growth=4),
    HRNetRecipe(width=4, head=8),
)


def described(network: NetworkRecipe) -> str:
    sizes = {name: value for name, value in vars(network).items() if name != "norm_decay"}
    return " ".join(map(str, sizes.values()))


def recipe_for(network: NetworkRecipe, outputs: int = CLASSES, background: bool = False) -> Recipe:
    names = tuple(f"class {number}" for number in range(1, outputs - background + 1))
    task = ClassifyRecipe(classes_from="recipe", classes=names, background=background)
    kinds = SECTIONS[network.name]
    sections = {name: kind() for name, kind in kinds.items()}
    return Recipe("test", **{**sections, "network": network, "task": task})


def build(network: NetworkRecipe) -> nn.Module:
    return build_network(recipe_for(network), torch.device("cpu"))


def random_tensors(network: NetworkRecipe, *endings: str) -> dict[str, Array]:
    """All variables of TensorFlow's network, and the slots with these endings."""
    dice = np.random.default_rng(0)
    known = variable_names(network)
    state = {
        name: dice.random(tuple(value.shape), np.float32) + np.float32(0.5)
        for name, value in build(network).state_dict().items()
    }
    tensors = to_tensorflow(state, (*known.needed, *known.for_training))
    trained = [mapping for mapping in known.needed if mapping.trained]
    for ending in endings:
        slots = {name: value + len(ending) for name, value in state.items()}
        tensors |= to_tensorflow(slots, trained, ending=ending)
    return tensors


def saved(folder: Path, tensors: dict[str, Array]) -> TensorFlowCheckpoint:
    write_checkpoint(folder / "model.ckpt", tensors)
    return read_checkpoint(folder / "model.ckpt")


@pytest.mark.parametrize("network", EVERY_SIZE, ids=described)
def test_the_names_of_every_size_cover_its_weights_once(network: NetworkRecipe) -> None:
    with torch.device("meta"):  # shapes without values: filling the largest would take seconds
        built = photos.build_network(recipe_for(network))
    known = variable_names(network)
    ours = [name for one in (*known.needed, *known.for_training) for name in one.ours]
    state = [name for name in built.state_dict() if not name.endswith("num_batches_tracked")]
    assert sorted(ours) == sorted(state)
    theirs = [one.tensorflow for one in (*known.needed, *known.for_training)]
    assert len(set(theirs)) == len(theirs)
    trained = [name for one in known.needed if one.trained for name in one.ours]
    assert sorted(trained) == sorted(name for name, _ in built.named_parameters())


@pytest.mark.parametrize("network", SMALL, ids=described)
def test_weights_and_momentum_come_back_bit_for_bit(tmp_path: Path, network: NetworkRecipe) -> None:
    tensors = random_tensors(network, MOMENTUM)
    imported = import_network(saved(tmp_path, tensors), network)
    assert (imported.missing, imported.unmatched, imported.ignored) == ([], [], {})
    assert (imported.optimizer, imported.classes, imported.made) == ("momentum", CLASSES, [])
    assert len(imported.mapped) == len(tensors)
    known = variable_names(network)
    back = to_tensorflow(imported.weights, (*known.needed, *known.for_training))
    back |= to_tensorflow(imported.momentum or {}, known.needed, ending=MOMENTUM)
    assert back.keys() == tensors.keys()
    assert all(back[name].tobytes() == tensors[name].tobytes() for name in tensors)


@pytest.mark.parametrize("network", SMALL, ids=described)
def test_the_network_loads_what_was_imported(tmp_path: Path, network: NetworkRecipe) -> None:
    imported = import_network(saved(tmp_path, random_tensors(network)), network)
    built = build(network)
    weights = {name: torch.from_numpy(value) for name, value in imported.weights.items()}
    left = built.load_state_dict(weights, strict=False)
    assert (left.unexpected_keys, left.missing_keys) == ([], [])
    assert imported.momentum is None


def test_the_counters_of_hrnet_are_in_its_scope(tmp_path: Path) -> None:
    tensors = random_tensors(SMALL[3])
    tensors |= {
        "HRNET/global_step": np.array(40036, np.int64),
        "HRNET/loss_scale": np.array(2.0**20, np.float32),
        "HRNET/good_steps": np.array(17, np.int32),
        "HRNET/bad_steps": np.array(1, np.int32),
    }
    imported = import_network(saved(tmp_path, tensors), SMALL[3])
    assert (imported.step, imported.loss_scale) == (40036, 2.0**20)
    assert (imported.good_steps, imported.bad_steps) == (17, 1)
    assert len(imported.mapped) == len(tensors)


def test_the_means_of_densenet_go_on_where_their_state_is_not_saved(tmp_path: Path) -> None:
    tensors = random_tensors(SMALL[2])
    bare = {name: value for name, value in tensors.items() if "/moving_mean/" not in name}
    assert len(tensors) - len(bare) == 2 * 120
    imported = import_network(saved(tmp_path, bare), SMALL[2])
    assert imported.missing == []
    assert len(imported.made) == 2 * 120
    norm = build(SMALL[2]).get_submodule("last_norm")
    mine = {name: imported.weights[f"last_norm.{name}"] for name in list_state(norm)}
    norm.load_state_dict(
        {name: torch.from_numpy(value) for name, value in mine.items()}, strict=False
    )
    before = torch.from_numpy(mine["running_mean"])
    norm.train()
    norm(torch.ones(1, len(before), 2, 2))
    after = norm.get_buffer("running_mean")
    torch.testing.assert_close(after, 0.9 * before + 0.1)


def test_the_momentum_of_lars_is_found(tmp_path: Path) -> None:
    network = SMALL[0]
    imported = import_network(saved(tmp_path, random_tensors(network, LARS)), network)
    assert imported.optimizer == "lars"
    assert len(imported.momentum or {}) == len(list(build(network).parameters()))
    assert imported.unmatched == []


def test_what_estimators_keep_beside_the_network_is_ignored_with_a_reason(tmp_path: Path) -> None:
    tensors = random_tensors(SMALL[0])
    strays = {
        "signal_early_stopping/STOP": np.array(False),
        "resnet_model/dense/bias/Adam": np.zeros(CLASSES, np.float32),
        "someone/elses": np.zeros(2, np.float32),
    }
    imported = import_network(saved(tmp_path, tensors | strays), SMALL[0])
    assert sorted(imported.ignored) == sorted(strays)[:2]
    assert imported.unmatched == ["someone/elses"]


@pytest.mark.parametrize("network", [*SMALL, *EVERY_SIZE[::2]], ids=described)
def test_a_checkpoint_tells_its_network_and_sizes(tmp_path: Path, network: NetworkRecipe) -> None:
    assert guess_network(saved(tmp_path, empty_kernels(network))) == network


@pytest.mark.parametrize(
    ("asked", "found", "looks_like", "hint"),
    [
        (
            ResNetRecipe(),
            ResNetRecipe(size=34),
            "it looks like a resnet of size 34 version 1",
            "pass --set network.size=34",
        ),
        (
            ResNetRecipe(size=18),
            ResNetRecipe(size=101, version=2, width=32),
            "it looks like a resnet of size 101 version 2, width 32",
            "pass --set network.size=101 --set network.version=2 --set network.width=32",
        ),
        (
            HRNetRecipe(),
            HRNetRecipe(width=30),
            "it looks like an hrnet of width 30",
            "pass --set network.width=30",
        ),
        (
            DenseNetRecipe(variant="paper"),
            DenseNetRecipe(),
            "not a checkpoint of a densenet of size 121, variant paper",
            "pass --set network.variant=original",
        ),
        (
            ResNetRecipe(),
            DenseNetRecipe(size=169),
            "it looks like a densenet of size 169",
            "use --recipe densenet121 --set network.size=169",
        ),
        (
            ResNetRecipe(),
            ResNetRecipe(size=101, variant="zoo", width=32),
            "it looks like a resnet of size 101 version 1, variant zoo, width 32",
            "use --recipe resnet50_zoo --set network.size=101 --set network.width=32",
        ),
        (
            ResNetRecipe(variant="zoo"),
            ResNetRecipe(),
            "not a checkpoint of a resnet of size 50 version 1, variant zoo",
            "use --recipe resnet50",
        ),
        (
            CRNNRecipe(),
            HRNetRecipe(),
            "not a checkpoint of a crnn: it looks like an hrnet of width 18",
            "use --recipe hrnet_w18",
        ),
        (HRNetRecipe(), CRNNRecipe(), "it looks like a crnn", "use --recipe crnn"),
    ],
)
def test_another_network_or_size_is_told_with_what_to_pass(
    tmp_path: Path, asked: NetworkRecipe, found: NetworkRecipe, looks_like: str, hint: str
) -> None:
    with pytest.raises(CheckpointError, match=looks_like) as info:
        import_network(saved(tmp_path, empty_kernels(found)), asked)
    assert info.value.hint == hint


def test_another_shape_of_the_zoos_resnet_is_named(tmp_path: Path) -> None:
    names = ("fp32_vars/conv2d/kernel", "fp32_vars/BatchNorm/gamma", "fp32_vars/dense/bias")
    checkpoint = saved(tmp_path, {name: np.ones(2, np.float32) for name in names})
    with pytest.raises(CheckpointError, match="of its variables 267 are missing") as info:
        import_network(checkpoint, ResNetRecipe())
    assert "unless their `arch_type` is another" in info.value.hint


def test_a_missing_variable_is_listed(tmp_path: Path) -> None:
    tensors = random_tensors(SMALL[0])
    del tensors["resnet_model/dense/bias"]
    imported = import_network(saved(tmp_path, tensors), SMALL[0])
    assert imported.missing == ["resnet_model/dense/bias"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "network"),
    [
        ("resnet18_v1", ResNetRecipe(size=18)),
        ("resnet50_v1", ResNetRecipe()),
        ("resnet50_v2", ResNetRecipe(version=2)),
        ("densenet121", DenseNetRecipe()),
        ("hrnet_w18", HRNetRecipe()),
    ],
)
def test_an_imported_network_computes_what_the_original_computes(
    shared: Path, tmp_path: Path, name: str, network: NetworkRecipe
) -> None:
    golden = read_golden(shared, name)
    checkpoint = saved(tmp_path, golden_tensors(golden))
    imported = import_network(checkpoint, network)
    assert (imported.missing, imported.unmatched) == ([], [])
    built = build_network(recipe_for(network, imported.classes), torch.device("cpu"))
    weights = {key: torch.from_numpy(value) for key, value in imported.weights.items()}
    assert built.load_state_dict(weights, strict=False).unexpected_keys == []
    built.eval()
    with torch.no_grad():
        logits = built(pictures(golden))
    assert difference(logits, golden.arrays["eval_logits"]) <= 1e-4


def golden_tensors(golden: Golden) -> dict[str, Array]:
    variables = golden.facts["variables"]
    return {name: weight_by_rule(name, shape) for name, shape in variables.items()}


def list_state(module: nn.Module) -> list[str]:
    return [name for name in module.state_dict() if name != "num_batches_tracked"]


def empty_kernels(network: NetworkRecipe) -> dict[str, Array]:
    """The names of a checkpoint; of the values only those whose shapes tell a size."""
    tensors = {
        one.tensorflow: np.zeros((1,) * one.layout.dimensions, np.float32)
        for one in variable_names(network).needed
    }
    sizes: dict[str, tuple[int, ...]] = {}
    if isinstance(network, ResNetRecipe):
        sizes[f"{SCOPES[network.variant]}conv2d/kernel"] = (7, 7, 3, network.width)
    elif isinstance(network, DenseNetRecipe):
        sizes["conv2d_2/kernel"] = (3, 3, 4 * network.growth, network.growth)
    elif isinstance(network, HRNetRecipe):
        sizes["HRNET/HR_FRONT/Conv_2/weights"] = (3, 3, 256, network.width)
        sizes["HRNET/CLS_HEAD_DS0/Conv/weights"] = (3, 3, network.head, 2 * network.head)
    return tensors | {name: np.zeros(shape, np.float32) for name, shape in sizes.items()}
