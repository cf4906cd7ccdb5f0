"""Variation of signs: the original's numbers, each view by itself, alike on every device."""

from __future__ import annotations

import colorsys
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.train.sign_data import draw_sign
from trainferry.train.data.normalise import join_views, planes_of, split_views
from trainferry.train.data.share import Share
from trainferry.train.data.signs.augment import (
    ORDERS,
    Change,
    Colours,
    change_brightness,
    change_contrast,
    change_hue,
    change_saturation,
    draw_maps,
    move_views,
    shuffle_views,
    vary_views,
)
from trainferry.train.recipe.tasks import SignAugment

NOTHING: dict[str, Any] = {"crop": 0.0, "colour": 0.0}
KINDS = ("crop", "colour", "geometry", "blur", "noise")
EVERYTHING = dict.fromkeys(KINDS, 1.0)


@pytest.fixture(scope="module")
def views() -> Tensor:
    """Views of several signs, some of them noise, N 3 H W."""
    signs = [draw_sign(text, 4, 40, 3, seed) for seed, text in enumerate(("abc", "fh01", "gad"))]
    return split_views(planes_of(torch.from_numpy(np.stack(signs))).float(), 4)


def varied(views: Tensor, seed: int = 1, **strengths: float) -> Tensor:
    torch.manual_seed(seed)
    return vary_views(views, SignAugment(**{**NOTHING, **strengths}))


def colours(views: Tensor, **numbers: float) -> Colours:
    plain = {"brightness": 0.0, "saturation": 1.0, "hue": 0.0, "contrast": 1.0, **numbers}
    return Colours(**{name: torch.full((len(views), 1, 1, 1), one) for name, one in plain.items()})


def test_views_come_back_to_their_places() -> None:
    values = torch.rand(3, 3, 5, 4 * 7)
    stacked = split_views(values, 4)
    assert stacked.shape == (12, 3, 5, 7)
    assert torch.equal(stacked[5], values[1, :, :, 7:14])
    assert torch.equal(join_views(stacked, 4), values)


def test_shuffled_views_stay_with_their_sign() -> None:
    views = torch.arange(40.0).view(40, 1, 1, 1)
    torch.manual_seed(2)
    shuffled = shuffle_views(views, 4).view(10, 4)
    assert torch.equal(shuffled.sort(1).values.flatten(), views.flatten())
    orders = (shuffled - shuffled.amin(1, keepdim=True)).unique(dim=0)
    assert len(orders) > 4


def test_shuffled_views_are_the_same_for_any_number_of_ranks() -> None:
    views = torch.rand(24, 3, 5, 5)
    torch.manual_seed(2)
    whole = shuffle_views(views, 4)
    for rank in range(3):
        torch.manual_seed(2)
        own = shuffle_views(views[rank * 8 : rank * 8 + 8], 4, Share(rank, 3))
        assert torch.equal(own, whole[rank * 8 : rank * 8 + 8])


def test_no_strength_changes_nothing(views: Tensor) -> None:
    assert torch.equal(varied(views), views)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_changes_views_and_keeps_shape_and_range(kind: str, views: Tensor) -> None:
    many = views.repeat(4, 1, 1, 1)
    result = varied(many, 1, **{kind: 1.0})
    assert result.shape == many.shape
    assert result.dtype == torch.float32
    assert result.min() >= 0
    assert result.max() <= 255
    assert torch.isfinite(result).all()
    weak = varied(many, 1, **{kind: 0.1})
    assert 0 < (weak - many).abs().mean() < (result - many).abs().mean()


def test_boxes_are_drawn_by_the_originals_rule() -> None:
    torch.manual_seed(2)
    maps = draw_maps(4000, SignAugment(crop=1.0))
    width, height = maps[:, 0, 0], maps[:, 1, 1]
    area, aspect = width * height, width / height
    for values, low, high in ((area, 0.8, 1.0), (aspect, 0.8, 1.2)):
        assert float(values.min()) >= low - 1e-5
        assert float(values.max()) <= high + 1e-5
        assert float(values.max() - values.min()) > 0.9 * (high - low)
    assert float(aspect.mean()) == pytest.approx(1, abs=0.01)
    for middle, side in ((maps[:, 0, 2], width), (maps[:, 1, 2], height)):
        assert bool((middle.abs() <= 1 - side + 1e-5).all()), "a box lies within its view"
        assert float(middle.mean()) == pytest.approx(0, abs=0.01)
    assert torch.equal(maps[:, 2], torch.tensor([0.0, 0.0, 1.0]).expand(4000, 3))


def test_half_the_strength_loses_half_as_much() -> None:
    torch.manual_seed(2)
    maps = draw_maps(2000, SignAugment(crop=0.5))
    area, aspect = maps[:, 0, 0] * maps[:, 1, 1], maps[:, 0, 0] / maps[:, 1, 1]
    assert 0.9 - 1e-5 <= float(area.min()) < 0.91
    assert 0.9 - 1e-5 <= float(aspect.min()) < 0.91
    assert 1.09 < float(aspect.max()) <= 1.1 + 1e-5


def test_a_box_is_stretched_over_the_view() -> None:
    ramp = torch.arange(40.0).expand(2, 3, 40, 40)
    corner = torch.tensor([[0.5, 0.0, -0.5], [0.0, 0.5, -0.5], [0.0, 0.0, 1.0]])
    maps = torch.stack([torch.eye(3), corner])
    same, stretched = move_views(ramp, maps)
    torch.testing.assert_close(same, ramp[0], rtol=0, atol=1e-4)
    expected = (torch.arange(40) + 0.5) / 2 - 0.5
    torch.testing.assert_close(stretched[0, 3], expected.clamp(min=0), rtol=0, atol=1e-3)


def test_bent_views_still_show_their_middle() -> None:
    dark = torch.full((64, 3, 41, 41), 200.0)
    dark[:, :, 15:26, 15:26] = 0
    bent = varied(dark, geometry=1.0)
    assert float(bent[:, :, 20, 20].max()) < 40
    area = (bent[:, 0] < 100).float().sum(dim=(1, 2))
    assert 60 < float(area.min()) < 110 < float(area.max()) < 200


def by_colorsys(picture: Tensor, hue: float, saturation: float) -> np.ndarray:
    turned = []
    for red, green, blue in (picture / 255).permute(1, 2, 0).reshape(-1, 3).tolist():
        h, s, v = colorsys.rgb_to_hsv(red, green, blue)
        turned.append(colorsys.hsv_to_rgb((h + hue) % 1, min(s * saturation, 1), v))
    return 255 * np.array(turned).reshape(*picture.shape[1:], 3).transpose(2, 0, 1)


@pytest.mark.parametrize("hue", [-0.2, -0.07, 0.0, 0.13, 0.2])
def test_hue_turns_as_in_tensorflow(hue: float, views: Tensor) -> None:
    turned = change_hue(views, colours(views, hue=hue))
    for place in (0, 3):
        expected = by_colorsys(views[place], hue, 1)
        np.testing.assert_allclose(turned[place].numpy(), expected, atol=0.02)


@pytest.mark.parametrize("saturation", [0.5, 1.0, 1.5])
def test_saturation_changes_as_in_tensorflow(saturation: float, views: Tensor) -> None:
    changed = change_saturation(views, colours(views, saturation=saturation))
    for place in (0, 3):
        expected = by_colorsys(views[place], 0, saturation)
        np.testing.assert_allclose(changed[place].numpy(), expected, atol=0.02)


def test_contrast_moves_channels_from_their_own_mean(views: Tensor) -> None:
    changed = change_contrast(views, colours(views, contrast=1.5))
    mean = views.mean(dim=(2, 3), keepdim=True)
    torch.testing.assert_close(changed.mean(dim=(2, 3), keepdim=True), mean)
    torch.testing.assert_close(changed - mean, 1.5 * (views - mean), rtol=0, atol=1e-3)


def test_brightness_is_added(views: Tensor) -> None:
    changed = change_brightness(views, colours(views, brightness=-32.0))
    torch.testing.assert_close(changed, views - 32)


@pytest.mark.parametrize("value", [-20.0, 0.0, 77.0, 270.0])
def test_grey_stays_grey_even_out_of_range(value: float) -> None:
    grey = torch.full((2, 3, 4, 4), value)
    strong = colours(grey, hue=0.2, saturation=1.5, contrast=1.5)
    for change in (change_hue, change_saturation, change_contrast):
        torch.testing.assert_close(change(grey, strong), grey)


def test_each_order_of_colours_has_its_share_of_the_views(
    views: Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[int, list[int]] = {}

    def marking(order: int) -> Change:
        def change(part: Tensor, colours: Colours) -> Tensor:
            seen.setdefault(order, []).append(len(part))
            assert len(colours.hue) == len(part)
            return torch.full_like(part, order)

        return change

    assert {len(order) for order in ORDERS} == {len(set(order)) for order in ORDERS} == {4}
    marks = tuple((marking(order),) for order in range(4))
    monkeypatch.setattr("trainferry.train.data.signs.augment.ORDERS", marks)
    got = torch.stack([varied(views[:10], seed, colour=1.0)[:, 0, 0, 0] for seed in range(60)])
    assert {sum(one) for one in seen.values()} == {60 * 3, 60 * 2}
    assert {len(set(column.tolist())) for column in got.T} == {4}, "whichever view it is"


def test_few_views_vary_too(views: Tensor) -> None:
    for count in (1, 2, 3, 5):
        assert varied(views[:count], 1, **EVERYTHING).shape == views[:count].shape


def test_views_of_a_sign_vary_each_in_its_own_way(views: Tensor) -> None:
    same = views[:1].repeat(8, 1, 1, 1)
    for kind in ("crop", "colour", "geometry"):
        result = varied(same, 1, **{kind: 1.0})
        assert len({round(view.sum().item()) for view in result}) == 8, kind


def test_the_same_seed_gives_the_same_views(views: Tensor) -> None:
    assert torch.equal(varied(views, 1, **EVERYTHING), varied(views, 1, **EVERYTHING))
    assert not torch.equal(varied(views, 1, **EVERYTHING), varied(views, 2, **EVERYTHING))


def test_every_device_varies_alike(views: Tensor, emulated_npu: torch.device) -> None:
    there = varied(views.to(emulated_npu), 1, **EVERYTHING)
    assert there.device == emulated_npu
    torch.testing.assert_close(there.cpu(), varied(views, 1, **EVERYTHING), rtol=0, atol=1e-2)
