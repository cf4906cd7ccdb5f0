"""Attention-OCR in all its variants, Inception-v3 up to all its endpoints."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from trainferry.errors import DataError, RecipeError
from trainferry.train.networks.attention_decoder import ClippedCell, Reader
from trainferry.train.networks.attention_ocr import AttentionOCR, Views
from trainferry.train.networks.attention_steps import StepWeights, attention_steps
from trainferry.train.networks.inception_v3 import InceptionV3
from trainferry.train.networks.inception_v3_parts import ENDPOINTS, map_size
from trainferry.train.networks.view_norm import ViewNorm
from trainferry.train.tf_checkpoint.names_attention_ocr import (
    attention_ocr_mappings,
    inception_mappings,
)

SMALL = Views(count=2, height=75, width=75)
CLASSES = 7
READERS = [
    Reader(length=4, attention=attention, autoregression=autoregression, hidden=8)
    for attention in (True, False)
    for autoregression in (True, False)
]


@pytest.fixture(params=READERS, ids=lambda reader: f"{reader.attention}-{reader.autoregression}")
def network(request: pytest.FixtureRequest) -> AttentionOCR:
    torch.manual_seed(1)
    return AttentionOCR(CLASSES, SMALL, request.param)


@pytest.mark.parametrize(
    ("attention", "autoregression", "coordinates", "count"),
    [
        (True, True, False, 1_851_344),
        (True, True, True, 1_899_728),
        (True, False, False, 1_851_344),
        (False, False, False, 9_249_574),
        (False, True, False, 9_386_790),
    ],
)
def test_every_variant_has_the_weights_of_the_original(
    attention: bool, autoregression: bool, coordinates: bool, count: int
) -> None:
    reader = Reader(attention=attention, autoregression=autoregression)
    with torch.device("meta"):
        network = AttentionOCR(134, reader=reader, coordinates=coordinates)
    assert sum(weight.numel() for weight in network.parameters()) == count
    assert network.map_size == (16, 16)
    statistics = [value for name, value in network.state_dict().items() if ".running_" in name]
    assert sum(value.numel() for value in statistics) == 3_712


@pytest.mark.parametrize("attention", [True, False])
@pytest.mark.parametrize("endpoint", ["Conv2d_2b_3x3", "Mixed_5d", "Mixed_6c", "Mixed_7c"])
def test_every_weight_has_a_name_in_tensorflow(endpoint: str, attention: bool) -> None:
    with torch.device("meta"):
        network = AttentionOCR(
            CLASSES, reader=Reader(attention=attention, length=4), endpoint=endpoint
        )
    mappings = attention_ocr_mappings(endpoint, attention)
    assert sorted(name for one in mappings for name in one.ours) == sorted(network.state_dict())
    assert len({one.tensorflow for one in mappings}) == len(mappings)
    trained = [name for one in mappings if one.trained for name in one.ours]
    assert sorted(trained) == sorted(name for name, _ in network.named_parameters())


def test_the_tower_alone_has_the_names_of_an_inception_checkpoint() -> None:
    names = [one.tensorflow for one in inception_mappings("Mixed_5d")]
    assert len(names) == 104
    assert names[0] == "InceptionV3/Conv2d_1a_3x3/weights"
    whole = {one.tensorflow: one.ours for one in attention_ocr_mappings("Mixed_5d", True)}
    for one in inception_mappings("Mixed_5d"):
        assert whole[f"AttentionOcr_v1/conv_tower_fn/INCE/{one.tensorflow}"] == one.ours


def test_odd_names_of_the_original_are_kept() -> None:
    names = {one.tensorflow.removesuffix("/weights") for one in inception_mappings("Mixed_7c")}
    assert {
        "InceptionV3/Mixed_5c/Branch_1/Conv2d_0b_1x1",
        "InceptionV3/Mixed_5c/Branch_1/Conv_1_0c_5x5",
        "InceptionV3/Mixed_6a/Branch_0/Conv2d_1a_1x1",
        "InceptionV3/Mixed_6a/Branch_1/Conv2d_1a_1x1",
        "InceptionV3/Mixed_7b/Branch_1/Conv2d_0b_3x1",
        "InceptionV3/Mixed_7c/Branch_1/Conv2d_0c_3x1",
        "InceptionV3/Mixed_7c/Branch_2/Conv2d_0d_3x1",
    } <= names
    assert "InceptionV3/Mixed_7c/Branch_1/Conv2d_0b_3x1" not in names


def test_the_whole_of_inception_has_the_weights_of_the_original() -> None:
    with torch.device("meta"):
        tower = InceptionV3("Mixed_7c")
    assert sum(weight.numel() for weight in tower.parameters()) == 21_768_352
    assert sum(value.numel() for value in tower.state_dict().values()) == 21_802_784


@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_every_endpoint_gives_a_map_of_the_size_it_tells(endpoint: str) -> None:
    with torch.device("meta"):
        tower = InceptionV3(endpoint).eval()
        features = tower(torch.empty(1, 3, 150, 97))
    assert features.shape == (1, tower.channels, *map_size(endpoint, 150, 97))


def test_channels_and_sizes_are_those_of_the_paper() -> None:
    expected = {"Mixed_5d": (288, 35), "Mixed_6e": (768, 17), "Mixed_7a": (1280, 8)}
    for endpoint, (channels, size) in {**expected, "Mixed_7c": (2048, 8)}.items():
        with torch.device("meta"):
            assert InceptionV3(endpoint).channels == channels
        assert map_size(endpoint, 299, 299) == (size, size)


def test_unknown_endpoints_and_pictures_too_small_are_refused() -> None:
    with pytest.raises(RecipeError, match="no endpoint `Mixed_5e`") as raised:
        InceptionV3("Mixed_5e")
    assert "Mixed_5d" in raised.value.hint
    with pytest.raises(RecipeError, match="too small for `Mixed_7c`"):
        AttentionOCR(CLASSES, Views(4, 64, 64), endpoint="Mixed_7c")
    with pytest.raises(RecipeError, match=r"49 places .* too few for 50 characters"):
        AttentionOCR(CLASSES, Views(1, 75, 75), Reader(length=50, attention=False))


def test_each_view_is_normed_by_itself() -> None:
    norm = ViewNorm(5, views=3)
    norm.seen = torch.zeros(2, 3, 5)
    nn.init.normal_(norm.bias)
    views = [torch.randn(4, 5, 6, 7) * (1 + place) + place for place in range(3)]
    expected = [
        functional.batch_norm(view, None, None, None, norm.bias, True, eps=1e-3) for view in views
    ]
    assert torch.allclose(norm(torch.cat(views)), torch.cat(expected), atol=1e-6)
    for place, view in enumerate(views):
        assert torch.allclose(norm.seen[0, place], view.mean((0, 2, 3)), atol=1e-6)
        assert torch.allclose(norm.seen[1, place], view.var((0, 2, 3)), rtol=1e-5)


def test_one_view_takes_the_averages_along_as_a_plain_norm() -> None:
    tower = InceptionV3("Conv2d_1a_3x3", norm_decay=0.9)
    convolution = tower.get_submodule("Conv2d_1a_3x3.convolution")
    mean, variance = torch.zeros(32), torch.ones(32)
    for _ in range(2):
        images = torch.randn(2, 3, 9, 9)
        functional.batch_norm(convolution(images), mean, variance, training=True)
        tower(images)
    assert torch.allclose(tower.get_buffer("Conv2d_1a_3x3.norm.running_mean"), mean, atol=1e-6)
    assert torch.allclose(tower.get_buffer("Conv2d_1a_3x3.norm.running_var"), variance, rtol=1e-5)
    images = torch.randn(2, 3, 9, 9)
    normed = functional.batch_norm(convolution(images), mean, variance, eps=1e-3)
    assert torch.allclose(tower.eval()(images), functional.relu(normed), atol=1e-5)


def test_views_together_train_as_views_one_after_the_other() -> None:
    torch.manual_seed(2)
    together, alone = (InceptionV3("Mixed_5b", views, norm_decay=0.8) for views in (3, 1))
    alone.load_state_dict(together.state_dict())
    views = torch.randn(3, 2, 3, 75, 75).unbind()
    at_once = together(torch.cat(views))
    in_turn = torch.cat([alone(view) for view in views])
    assert torch.allclose(at_once, in_turn, atol=1e-4)
    for name, value in together.state_dict().items():
        assert torch.allclose(value, alone.state_dict()[name], atol=1e-5), name


def test_a_view_read_alone_is_a_network_of_one_view() -> None:
    reader = Reader(length=3, hidden=8)
    network = AttentionOCR(CLASSES, Views(1, 75, 75), reader).eval()
    logits, looked = network.look(pictures(Views(1, 75, 75)))
    assert logits.shape == (2, 3, CLASSES)
    assert looked.shape == (2, 3, 1, 7, 7)


def test_the_cell_is_an_lstm_that_forgets_less_and_is_clipped() -> None:
    cell = ClippedCell(3, 4, clip=0.3)
    reference = nn.LSTMCell(3, 4)
    with torch.no_grad():
        reference.weight_ih.copy_(cell.weight_ih)
        reference.weight_hh.copy_(cell.weight_hh)
        reference.bias_ih.copy_(nn.init.normal_(cell.bias))
        reference.bias_hh.copy_(cell.forget_bias)
    assert cell.forget_bias.tolist() == [0.0] * 4 + [1.0] * 4 + [0.0] * 8
    inputs, hidden, carried = torch.randn(5, 3), torch.randn(5, 4), torch.randn(5, 4)
    gates = inputs @ cell.weight_ih.t() + hidden @ cell.weight_hh.t() + cell.bias
    said, kept = cell(gates + cell.forget_bias, carried)
    _, expected = reference(inputs, (hidden, carried))
    assert torch.allclose(kept, expected.clamp(-0.3, 0.3), atol=1e-6)
    assert kept.abs().max().item() == pytest.approx(0.3)
    assert said.abs().max() <= torch.tanh(torch.tensor(0.3))


@pytest.mark.parametrize("clip", [10.0, 0.4])
def test_gradients_of_the_steps_in_closed_form_are_right(clip: float) -> None:
    shapes = [(3, 2, 12), (2, 5, 4), (2, 5, 4), (12, 7), (4, 6), (4,), (4,)]
    stream = torch.Generator().manual_seed(4)
    inputs = [
        torch.randn(shape, generator=stream, dtype=torch.float64).requires_grad_()
        for shape in shapes
    ]

    def steps(given: Tensor, keys: Tensor, features: Tensor, *weights: Tensor) -> Tensor:
        recurrent, query, bias, score = weights
        every = StepWeights(recurrent, query, bias, score, clip)
        return attention_steps(given, keys, features, every)

    assert torch.autograd.gradcheck(steps, inputs)


def test_steps_in_closed_form_say_what_the_steps_of_reading_say() -> None:
    network = AttentionOCR(CLASSES, SMALL, Reader(4, hidden=8)).eval()
    nn.init.normal_(network.decoder.cell.bias, std=2.0)
    in_closed_form = network(pictures(), truth())
    with torch.no_grad():
        one_by_one = network(pictures(), truth())
    assert torch.allclose(in_closed_form, one_by_one, atol=1e-5)


def test_logits_have_a_score_per_character_and_class(network: AttentionOCR) -> None:
    network.eval()
    assert network(pictures()).shape == (2, 4, CLASSES)
    assert network(pictures(), truth()).shape == (2, 4, CLASSES)


def test_every_weight_learns(network: AttentionOCR) -> None:
    network(pictures(), truth()).square().sum().backward()
    assert [name for name, weight in network.named_parameters() if weight.grad is None] == []


def test_told_its_own_readings_a_network_reads_the_same(network: AttentionOCR) -> None:
    """Teacher forcing and reading alone are two programs for one function."""
    network.eval()
    alone = network(pictures())
    assert torch.allclose(network(pictures(), alone.argmax(2)), alone, atol=1e-5)


def test_only_an_autoregressive_network_listens_to_the_character_before(
    network: AttentionOCR,
) -> None:
    network.eval()
    first, second = truth(), truth()
    second[:, 1] = (second[:, 1] + 1) % CLASSES
    changed = (network(pictures(), first) - network(pictures(), second)).abs().amax((0, 2))
    listens = network.decoder.autoregression
    assert changed[:2].max() == 0, "a character is not told itself"
    assert bool(changed[2] > 0) == listens


def test_looking_tells_the_share_of_each_place_in_each_view(network: AttentionOCR) -> None:
    network.eval()
    with torch.no_grad():
        logits, looked = network.look(pictures())
        assert torch.equal(logits, network(pictures()))
    assert looked.shape == (2, 4, 2, 7, 7)
    assert torch.allclose(looked.sum((2, 3, 4)), torch.ones(2, 4))


def test_windows_begin_one_place_after_the_other() -> None:
    network = AttentionOCR(CLASSES, SMALL, Reader(4, attention=False, hidden=8)).eval()
    _, looked = network.look(pictures())
    places = looked[0].flatten(1) > 0
    assert places.sum(1).tolist() == [2 * 49 // 4] * 4
    assert [row.nonzero()[0].item() for row in places] == [0, 1, 2, 3]


def test_a_slice_is_read_place_by_place() -> None:
    """The features of a window come in the order of the original: place, then channel."""
    network = AttentionOCR(CLASSES, SMALL, Reader(4, False, False, hidden=8)).eval()
    decoder = network.decoder
    features = torch.randn(2, 98, 288)
    window = features[:, :24].flatten(1)
    gates = window @ decoder.cell.weight_ih.t() + decoder.cell.bias + decoder.cell.forget_bias
    hidden, _ = decoder.cell(gates, torch.zeros(2, 8))
    assert torch.allclose(decoder(features)[:, 0], decoder.classifier(hidden), atol=1e-4)


def test_coordinates_tell_row_and_column() -> None:
    network = AttentionOCR(CLASSES, Views(2, 75, 91), Reader(3, hidden=8), coordinates=True).eval()
    features = network._features(pictures(Views(2, 75, 91)))
    height, width = network.map_size
    assert (height, width) == (7, 9)
    told = features[..., 288:].unflatten(1, (2, height, width))
    for view in (0, 1):
        assert torch.equal(told[0, view, 2, 5, :height], torch.eye(height)[2])
        assert torch.equal(told[0, view, 2, 5, height:], torch.eye(width)[5])


def test_views_are_taken_from_left_to_right() -> None:
    network = AttentionOCR(CLASSES, SMALL, Reader(3, hidden=8)).eval()
    images = pictures()
    changed = images.clone()
    changed[..., 75:] = 0
    same = (network._features(images) == network._features(changed)).flatten(2).all(2)
    assert same[:, :49].all()
    assert not same[:, 49:].any()


def test_pictures_of_another_number_of_views_are_refused() -> None:
    network = AttentionOCR(CLASSES, SMALL, Reader(3, hidden=8))
    with pytest.raises(DataError, match=r"2 views of 75x75 .* given 75x225"):
        network(torch.zeros(1, 3, 75, 225))


def test_labels_of_another_length_are_refused() -> None:
    network = AttentionOCR(CLASSES, SMALL, Reader(3, hidden=8))
    with pytest.raises(DataError, match="reads 3 characters, labels have 4"):
        network(pictures(), truth())


def test_a_network_is_the_same_on_the_emulated_npu(emulated_npu: torch.device) -> None:
    network = AttentionOCR(CLASSES, SMALL, Reader(3, hidden=8), coordinates=True)
    start = {name: value.clone() for name, value in network.state_dict().items()}
    results = []
    for device in (torch.device("cpu"), emulated_npu):
        network.load_state_dict(start)
        network.to(device).zero_grad()
        logits = network(pictures().to(device), truth()[:, :3].to(device))
        logits.square().sum().backward()
        read = network.eval()(pictures().to(device))
        network.train()
        gradients = [
            weight.grad.cpu() for weight in network.parameters() if weight.grad is not None
        ]
        results.append([logits.detach().cpu(), read.detach().cpu(), *gradients])
    for here, there in zip(*results, strict=True):
        assert torch.allclose(here, there, atol=1e-4 * float(here.abs().max()) + 1e-6)


def test_half_precision_reads_nearly_the_same(network: AttentionOCR) -> None:
    network.train()
    with torch.no_grad():
        exact = network(pictures(), truth())
        with torch.autocast("cpu", dtype=torch.bfloat16):
            rounded = network(pictures(), truth())
    assert (rounded.float() - exact).abs().max() <= 0.1 * exact.abs().max()


@pytest.mark.parametrize("attention", [True, False])
def test_a_network_can_be_listed_for_export(attention: bool) -> None:
    from torch.export import export

    network = AttentionOCR(CLASSES, SMALL, Reader(3, attention, hidden=8), coordinates=True).eval()
    with torch.no_grad():
        program = export(network, (pictures(),), strict=False)
        assert torch.allclose(program.module()(pictures()), network(pictures()), atol=1e-5)


def pictures(views: Views = SMALL) -> Tensor:
    stream = torch.Generator().manual_seed(3)
    shape = (2, 3, views.height, views.count * views.width)
    return torch.rand(shape, generator=stream) * 2.5 - 1.25


def truth() -> Tensor:
    return torch.tensor([[1, 2, 3, CLASSES - 1], [4, 5, CLASSES - 1, CLASSES - 1]])
