"""A TensorFlow CRNN becomes ours, and ours becomes TensorFlow's again, bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from trainferry.errors import CheckpointError
from trainferry.train.networks.crnn import CRNN
from trainferry.train.recipe.networks import CRNNRecipe
from trainferry.train.tf_checkpoint.load import (
    AVERAGE,
    MOMENTUM,
    import_network,
    to_tensorflow,
)
from trainferry.train.tf_checkpoint.names_crnn import Cells, crnn_mappings
from trainferry.train.tf_checkpoint.read import TensorFlowCheckpoint, read_checkpoint
from trainferry.train.tf_checkpoint.write import write_checkpoint

Array = NDArray[Any]

FILES = Path(__file__).parent / "files"
STOCK = FILES / "crnn_stock_cells"
FUSED = FILES / "crnn_fused_cells"
CHANNELS, HIDDEN, CLASSES = (2, 3, 2, 2, 3, 2, 4), 2, 5
BOTH = pytest.mark.parametrize(("folder", "cells"), [(STOCK, "stock"), (FUSED, "fused")])


@BOTH
def test_every_weight_of_the_network_is_found_and_fits(folder: Path, cells: Cells) -> None:
    imported = import_network(read_checkpoint(folder), CRNNRecipe())
    network = CRNN(CLASSES, CHANNELS, HIDDEN)
    left = network.load_state_dict(
        {name: torch.from_numpy(value) for name, value in imported.weights.items()}, strict=False
    )
    assert imported.cells == cells
    assert imported.classes == CLASSES
    assert (imported.missing, imported.unmatched, left.unexpected_keys) == ([], [], [])
    assert all("bias_hh" in name or "num_batches" in name for name in left.missing_keys)


@BOTH
def test_momentum_and_step_are_found(folder: Path, cells: Cells) -> None:
    imported = import_network(read_checkpoint(folder), CRNNRecipe())
    parameters = dict(CRNN(CLASSES, CHANNELS, HIDDEN).named_parameters())
    assert imported.momentum is not None
    assert {name: value.shape for name, value in imported.momentum.items()} == {
        name: tuple(value.shape) for name, value in parameters.items()
    }
    assert (imported.step, imported.step_type) == (2, "int64")
    scale = (imported.loss_scale, imported.good_steps, imported.bad_steps)
    assert scale == ((2.0**20, 17, 1) if cells == "fused" else (None, None, None))


def test_the_column_counts_of_fused_cells_are_ignored_with_a_reason() -> None:
    ignored = import_network(read_checkpoint(FUSED), CRNNRecipe()).ignored
    assert len(ignored) == 4
    assert all(name.endswith("seq_length") for name in ignored)
    assert set(ignored.values()) == {"the number of columns, constant"}


@BOTH
def test_back_in_tensorflows_names_every_bit_is_the_same(
    tmp_path: Path, folder: Path, cells: Cells
) -> None:
    checkpoint = read_checkpoint(folder)
    imported = import_network(checkpoint, CRNNRecipe())
    tensors = to_tensorflow(imported.weights, crnn_mappings(cells))
    tensors |= to_tensorflow(imported.momentum or {}, crnn_mappings(cells), ending=MOMENTUM)
    write_checkpoint(tmp_path / "back", tensors)
    back = read_checkpoint(tmp_path / "back")
    expected = [name for name in checkpoint.names() if name.startswith("shadow_net/")]
    assert back.names() == [name for name in expected if not name.endswith("seq_length")]
    for name in back.names():
        assert back.read(name).tobytes() == checkpoint.read(name).tobytes()


def test_our_weights_survive_the_way_to_tensorflow_and_back(tmp_path: Path) -> None:
    network = CRNN(CLASSES, CHANNELS, HIDDEN)
    with torch.no_grad():
        for weight in network.parameters():
            weight.normal_()
    weights = {name: value.detach().numpy() for name, value in network.named_parameters()}
    weights |= {name: value.numpy() for name, value in network.named_buffers() if "running" in name}
    write_checkpoint(tmp_path / "m", to_tensorflow(weights, crnn_mappings("stock")))
    imported = import_network(read_checkpoint(tmp_path / "m"), CRNNRecipe()).weights
    assert imported.keys() == weights.keys()
    assert all(imported[name].tobytes() == weights[name].tobytes() for name in weights)


def test_a_cell_computes_what_tensorflows_cell_computes() -> None:
    """Against the formula of tf.nn.rnn_cell.LSTMCell, with a forget bias of 1."""
    checkpoint = read_checkpoint(FUSED)
    scope = "shadow_net/sequence_rnn_module/dynamic_rnn/dynamicrnn"
    kernel, bias = checkpoint.read(f"{scope}/w"), checkpoint.read(f"{scope}/b")
    network = CRNN(CLASSES, CHANNELS, HIDDEN)
    weights = import_network(checkpoint, CRNNRecipe()).weights
    network.load_state_dict({n: torch.from_numpy(v) for n, v in weights.items()}, strict=False)
    columns = np.random.default_rng(0).standard_normal((6, 4)).astype(np.float32)

    state = hidden = np.zeros(HIDDEN, dtype=np.float32)
    expected = []
    for column in columns:
        i, j, f, o = np.split(np.concatenate([column, hidden]) @ kernel + bias, 4)
        state = state * sigmoid(f + 1.0) + sigmoid(i) * np.tanh(j)
        hidden = np.tanh(state) * sigmoid(o)
        expected.append(hidden)

    first = torch.nn.LSTM(4, HIDDEN, batch_first=True)
    source = network.recurrence.state_dict()
    first.load_state_dict({name: source[name] for name in first.state_dict()})
    with torch.no_grad():
        read, _ = first(torch.from_numpy(columns)[None])
    np.testing.assert_allclose(read[0].numpy(), np.stack(expected), atol=1e-6)


def test_averages_and_strays_of_the_upstream_project_are_recognised(tmp_path: Path) -> None:
    tensors = all_tensors(read_checkpoint(STOCK))
    averages = {
        mapping.tensorflow + AVERAGE: tensors[mapping.tensorflow] + 1
        for mapping in crnn_mappings("stock")
    }
    tensors |= averages
    tensors["shadow_net_1/sequence_rnn_module/w"] = np.ones((2, 2), np.float32)
    tensors["someone/elses"] = np.ones(2, np.float32)
    tensors["global_step"] = np.array(5, np.int32)
    write_checkpoint(tmp_path / "m", tensors)
    imported = import_network(read_checkpoint(tmp_path / "m"), CRNNRecipe())
    assert imported.averages is not None
    assert imported.averages.keys() == imported.weights.keys()
    bias = "convolutions.conv1.bias"
    assert np.array_equal(imported.averages[bias], imported.weights[bias] + 1)
    assert list(imported.ignored) == ["shadow_net_1/sequence_rnn_module/w"]
    assert imported.unmatched == ["someone/elses"]
    assert (imported.step, imported.step_type) == (5, "int32")
    counted = len(imported.mapped) + len(imported.ignored) + len(imported.unmatched)
    assert counted == len(tensors)


def test_half_precision_weights_become_float32(tmp_path: Path) -> None:
    tensors = all_tensors(read_checkpoint(STOCK))
    name = "shadow_net/sequence_rnn_module/w"
    tensors[name] = tensors[name].astype(np.float16)
    write_checkpoint(tmp_path / "m", tensors)
    value = import_network(read_checkpoint(tmp_path / "m"), CRNNRecipe()).weights[
        "classifier.weight"
    ]
    assert value.dtype == np.float32
    assert np.array_equal(value.T, tensors[name].astype(np.float32))


def test_a_missing_variable_is_listed(tmp_path: Path) -> None:
    tensors = all_tensors(read_checkpoint(STOCK))
    del tensors["shadow_net/feature_extraction_module/bn3/gamma"]
    write_checkpoint(tmp_path / "m", tensors)
    imported = import_network(read_checkpoint(tmp_path / "m"), CRNNRecipe())
    assert imported.missing == ["shadow_net/feature_extraction_module/bn3/gamma"]


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("shadow_net/sequence_rnn_module/w", (4, 5, 1)),
        ("shadow_net/feature_extraction_module/conv3/W", (3, 3)),
        (
            "shadow_net/sequence_rnn_module/stack_bidirectional_rnn/cell_0/"
            "bidirectional_rnn/fw/lstm_cell/kernel",
            (6, 7),
        ),
    ],
)
def test_a_variable_of_an_impossible_shape_is_told(
    tmp_path: Path, name: str, shape: tuple[int, ...]
) -> None:
    tensors = all_tensors(read_checkpoint(STOCK))
    tensors[name] = np.ones(shape, np.float32)
    write_checkpoint(tmp_path / "m", tensors)
    with pytest.raises(CheckpointError, match="has the shape"):
        import_network(read_checkpoint(tmp_path / "m"), CRNNRecipe())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("global_step", np.array([1, 2])),
        ("global_step", np.array(-1)),
        ("global_step", np.array(1.5, np.float32)),
        ("global_step", np.array(b"x", object)),
        ("loss_scale", np.array(np.nan, np.float32)),
        ("shadow_net/feature_extraction_module/conv1/conv/b", np.full(2, b"x", object)),
        ("shadow_net/feature_extraction_module/conv1/conv/b", np.zeros(2, np.complex64)),
    ],
)
def test_a_variable_of_another_type_is_told(tmp_path: Path, name: str, value: Array) -> None:
    tensors = all_tensors(read_checkpoint(STOCK))
    write_checkpoint(tmp_path / "model.ckpt", {**tensors, name: value})
    with pytest.raises(CheckpointError, match=f"`{name}` .* cannot be"):
        import_network(read_checkpoint(tmp_path / "model.ckpt"), CRNNRecipe())


def test_another_network_is_told_with_what_is_nearest(tmp_path: Path) -> None:
    names = ("resnet/conv1/W", "resnet/conv1/W/Momentum", "resnet/dense/kernel")
    write_checkpoint(tmp_path / "m", {name: np.ones(2, np.float32) for name in names})
    with pytest.raises(CheckpointError, match=r"not a checkpoint of a crnn.*`resnet/conv1/W`"):
        import_network(read_checkpoint(tmp_path / "m"), CRNNRecipe())


def test_the_old_architecture_is_named(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "m", {"shadow/conv1/W": np.ones(2, np.float32)})
    with pytest.raises(CheckpointError) as info:
        import_network(read_checkpoint(tmp_path / "m"), CRNNRecipe())
    assert "2017" in info.value.hint


def test_a_real_checkpoint_of_another_recogniser_is_refused(shared: Path) -> None:
    folder = shared / "data" / "tf1_checkpoint_bilstm_ctc"
    with pytest.raises(CheckpointError, match="nearest in the file: `bidirectional_rnn/"):
        import_network(read_checkpoint(folder), CRNNRecipe())


def test_both_sets_of_names_have_the_46_variables_of_the_original() -> None:
    stock, fused = crnn_mappings("stock"), crnn_mappings("fused")
    assert [len({mapping.tensorflow for mapping in maps}) for maps in (stock, fused)] == [46, 46]
    assert [mapping.ours for mapping in stock] == [mapping.ours for mapping in fused]


def all_tensors(checkpoint: TensorFlowCheckpoint) -> dict[str, Array]:
    return {name: checkpoint.read(name) for name in checkpoint.names()}


def sigmoid(values: Array) -> Array:
    result: Array = 1 / (1 + np.exp(-values))
    return result
