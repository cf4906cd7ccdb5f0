"""Variation of training signs, for a whole batch at once and on the device.

Every view varies by itself, as in the original: a part of it is cut out and stretched to the
whole (TensorFlow's `sample_distorted_bounding_box`), and its colours change in one of four
orders. Other than there, sampling is always bilinear with half pixels, where the original draws
among four filters without, and each order of colours has its equal share of the views.

Random numbers that decide per view are drawn on the CPU, so that every device varies the views
alike. Shapes: N views, 3 H W, values 0 to 255.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from trainferry.devices.device import send
from trainferry.devices.kernels import runs_kernels
from trainferry.train.data.normalise import per_channel
from trainferry.train.data.share import WHOLE, Share
from trainferry.train.data.words.augment import blur, disturb
from trainferry.train.kernels.colour import change_colours
from trainferry.train.kernels.move import move_pictures
from trainferry.train.recipe.tasks import SignAugment

# What the original does, at strength 1.
_LOST_AREA = 0.2
_ASPECT = 0.2
_BRIGHTNESS = 32.0
_SATURATION = 0.5
_HUE = 0.2
_CONTRAST = 0.5

_DEGREES = 8.0
_SHEAR = 0.12
_SCALE = 0.12
_DEPTH = 0.12
_SHIFT = 0.05

_HUE_OF_CHANNELS = (5.0, 3.0, 1.0)


class Colours(NamedTuple):
    """How much the colours of each view change, N 1 1 1 each."""

    brightness: Tensor
    saturation: Tensor
    hue: Tensor  # 1 is once around the circle
    contrast: Tensor


def vary_views(views: Tensor, recipe: SignAugment, share: Share = WHOLE) -> Tensor:
    """Cut, bend, blur, colour and disturb each view, bytes or not, as much as the recipe says."""
    if recipe.crop or recipe.geometry:
        maps = share.own(draw_maps(share.whole(len(views)), recipe))
        views = move_views(views, send(maps, views.device))
    views = views.float()
    if recipe.blur:
        views = blur(views, recipe.blur, share)
    if recipe.colour:
        views = _colour(views, recipe.colour, share)
    if recipe.noise:
        views = disturb(views, recipe.noise, share)
    return views


def shuffle_views(views: Tensor, of_sign: int, share: Share = WHOLE) -> Tensor:
    """Put the views of each sign, `of_sign` behind each other, into an order of its own."""
    signs = len(views) // of_sign
    order = share.own(torch.rand(share.whole(signs), of_sign).argsort(1))
    rows = order + of_sign * torch.arange(signs)[:, None]
    return views[send(rows.flatten(), views.device)]


def draw_maps(count: int, recipe: SignAugment) -> Tensor:
    """Decide from where each view takes its pixels: maps, N 3 3.

    A map tells the place, from -1 to 1 in both directions, for a place (x, y, 1); it is to be
    divided by its third number.
    """
    return _draw_boxes(count, recipe.crop) @ _draw_bends(count, recipe.geometry)


def move_views(views: Tensor, maps: Tensor) -> Tensor:
    """Take every pixel from the place that the map of its view gives, in float32."""
    if runs_kernels(maps):
        return move_pictures(views, maps)
    height, width = views.shape[2:]
    y = ((torch.arange(height, device=views.device) + 0.5) * (2 / height) - 1)[:, None]
    x = (torch.arange(width, device=views.device) + 0.5) * (2 / width) - 1
    to_x, to_y, to_depth = (
        row[:, 0] * x + row[:, 1] * y + row[:, 2] for row in maps[..., None, None].unbind(1)
    )
    places = torch.stack((to_x / to_depth, to_y / to_depth), dim=-1)
    return functional.grid_sample(views.float(), places, padding_mode="border", align_corners=False)


def change_brightness(views: Tensor, colours: Colours) -> Tensor:
    return views + colours.brightness


def change_saturation(views: Tensor, colours: Colours) -> Tensor:
    """Move the channels away from the highest, at most until the lowest is 0."""
    highest = views.amax(1, keepdim=True)
    reach = highest - views.amin(1, keepdim=True)
    most = highest.clamp(min=0) / reach.clamp(min=1e-6)
    return highest - (highest - views) * torch.minimum(colours.saturation, most)


def change_hue(views: Tensor, colours: Colours) -> Tensor:
    highest = views.amax(1, keepdim=True)
    reach = highest - views.amin(1, keepdim=True)
    red, green, blue = (views / reach.clamp(min=1e-6)).split(1, 1)
    is_red, is_green = (views[:, :2] == highest).split(1, 1)
    sixths = torch.where(
        is_red, green - blue, torch.where(is_green, blue - red + 2, red - green + 4)
    )
    turned = sixths + 6 * colours.hue + per_channel(_HUE_OF_CHANNELS, views.device)
    turned = turned - 6 * torch.floor(turned / 6)
    return highest - reach * torch.minimum(turned, 4 - turned).clamp(0, 1)


def change_contrast(views: Tensor, colours: Colours) -> Tensor:
    """Move each channel away from its mean, or towards it."""
    mean = views.mean(dim=(2, 3), keepdim=True)
    return mean + (views - mean) * colours.contrast


Change = Callable[[Tensor, Colours], Tensor]
ORDERS: tuple[tuple[Change, ...], ...] = (
    (change_brightness, change_saturation, change_hue, change_contrast),
    (change_saturation, change_brightness, change_contrast, change_hue),
    (change_contrast, change_hue, change_brightness, change_saturation),
    (change_hue, change_saturation, change_contrast, change_brightness),
)
_CHANGES: tuple[Change, ...] = (  # their places are their numbers in `kernels/colour.py`
    change_brightness,
    change_saturation,
    change_hue,
    change_contrast,
)


class _Dealt(NamedTuple):
    """The views, n of them, that change in one order, and how much they change."""

    order: tuple[Change, ...]
    rows: Tensor  # n
    amounts: Tensor  # 4 n, as in `Colours`


def _draw_boxes(count: int, strength: float) -> Tensor:
    """Draw the part of each view that is kept, by the rule of TensorFlow.

    The aspect is uniform, then the height among those that keep enough of the area. As long as
    at most as much of the area is lost as the aspect changes, there always is one.
    """
    aspect, height, down, along = torch.rand(4, count).unbind()
    aspect = 1 + (2 * aspect - 1) * _ASPECT * strength
    most = (1 / aspect).clamp(max=1)
    least = torch.minimum(torch.sqrt((1 - _LOST_AREA * strength) / aspect), most)
    height = least + (most - least) * height
    width = height * aspect
    maps = torch.zeros(count, 3, 3)
    maps[:, 0, 0], maps[:, 1, 1], maps[:, 2, 2] = width, height, 1
    maps[:, 0, 2] = (2 * along - 1) * (1 - width)
    maps[:, 1, 2] = (2 * down - 1) * (1 - height)
    return maps


def _draw_bends(count: int, strength: float) -> Tensor:
    """Turn, shear, scale, shift and tilt each view a little."""
    numbers = (2 * torch.rand(8, count) - 1) * strength
    angle, shear, wide, tall, depth_x, depth_y, along, down = numbers.unbind()
    angle = math.radians(_DEGREES) * angle
    cosine, sine = torch.cos(angle), torch.sin(angle)
    maps = torch.zeros(count, 3, 3)
    maps[:, 0, 0], maps[:, 0, 1] = (1 + _SCALE * wide) * cosine, _SHEAR * shear + sine
    maps[:, 1, 0], maps[:, 1, 1] = -sine, (1 + _SCALE * tall) * cosine
    maps[:, 0, 2], maps[:, 1, 2] = _SHIFT * along, _SHIFT * down
    maps[:, 2, 0], maps[:, 2, 1], maps[:, 2, 2] = _DEPTH * depth_x, _DEPTH * depth_y, 1
    return maps


def _colour(views: Tensor, strength: float, share: Share) -> Tensor:
    """Change the colours of a fourth of the views in each order; then cut off what is too much."""
    dealt = _deal_colours(len(views), strength, share)
    if runs_kernels(views):
        return change_colours(views, send(_list_changes(dealt), views.device))
    return _colour_parts(views, dealt).clamp(0, 255)


def _colour_parts(views: Tensor, dealt: list[_Dealt]) -> Tensor:
    """Put views of the same order together, change them, and put them back to their places."""
    rows = torch.cat([own.rows for own in dealt])
    back = torch.empty_like(rows)
    back[rows] = torch.arange(len(views))
    sizes = [len(own.rows) for own in dealt]
    amounts = send(torch.cat([own.amounts for own in dealt], 1), views.device)
    amounts = amounts[..., None, None, None]
    parts = views.index_select(0, send(rows, views.device)).split(sizes)
    done = []
    for order, part, numbers in zip(ORDERS, parts, amounts.split(sizes, 1), strict=True):
        changed = part
        for change in order:
            changed = change(changed, Colours(*numbers))
        done.append(changed)
    return torch.cat(done).index_select(0, send(back, views.device))


def _deal_colours(count: int, strength: float, share: Share) -> list[_Dealt]:
    """Draw for each view its order and its changes, and keep what is for this rank's views."""
    whole = share.whole(count)
    sizes = [(whole + len(ORDERS) - 1 - order) // len(ORDERS) for order in range(len(ORDERS))]
    dealt, drawn = torch.randperm(whole), torch.rand(4, whole)
    brightness, saturation, hue, contrast = (2 * drawn - 1) * strength
    amounts = torch.stack(
        [
            _BRIGHTNESS * brightness,
            1 + _SATURATION * saturation,
            _HUE * hue,
            1 + _CONTRAST * contrast,
        ]
    )
    parts = []
    for order, rows, own in zip(ORDERS, dealt.split(sizes), amounts.split(sizes, 1), strict=True):
        here, mine = share.own_numbers(rows, count)
        parts.append(_Dealt(order, mine, own[:, here]))
    return parts


def _list_changes(dealt: list[_Dealt]) -> Tensor:
    """Write for each view the numbers of its changes and their amounts, in its order: N 2 4."""
    changes = torch.empty(sum(len(part.rows) for part in dealt), 2, 4)
    for part in dealt:
        numbers = [_CHANGES.index(change) for change in part.order]
        changes[part.rows, 0] = torch.tensor(numbers, dtype=torch.float32)
        changes[part.rows, 1] = part.amounts[numbers].t()
    return changes
