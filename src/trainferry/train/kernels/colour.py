"""The colour changes of views in two device programs, each view's in its own order.

The same function as the changes of `data/signs/augment.py`, which are the reference. The first
program does the changes before the contrast and sums up the channels, of which contrast needs the
mean; the second does all changes. Sums are added in a fixed order: equal views, equal bits.
"""

from __future__ import annotations

import torch
from torch import Tensor

from trainferry.train.kernels.rows import power_of_two

_PIXELS = 1024  # of one program


def change_colours(views: Tensor, changes: Tensor) -> Tensor:
    """Change views, N 3 H W; values stay between 0 and 255.

    `changes`, N 2 4, holds for each view the numbers of its changes in their order (0 brightness,
    1 saturation, 2 hue, 3 contrast; this one among them) and how much each of them changes.
    """
    from trainferry.train.kernels.programs import colour as programs

    count, channels, height, width = views.shape
    changed = views.new_empty(views.shape, dtype=torch.float32)
    if changed.numel() == 0:
        return changed
    pixels = height * width
    parts = -(-pixels // _PIXELS)
    sums = changed.new_empty((count, channels, parts))
    changes = changes.contiguous()
    sizes = pixels, width, *views.stride(), parts
    grid = count, parts
    programs.sum_before_contrast[grid](views, changes, sums, *sizes, PIXELS=_PIXELS)
    programs.change_colours[grid](
        views,
        changes,
        sums,
        changed,
        *sizes,
        PIXELS=_PIXELS,
        PARTS=power_of_two(parts),
    )
    return changed
