"""What programs that sum up count themselves with, so that the last one knows that it is."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from trainferry.devices.capture import is_recording
from trainferry.train.kernels.norm_passes.values import Norm


def counters_of(norm: Norm) -> Tensor:
    """Return the counters of a norm, 2 G*C: forward, backward.

    Each norm has its own, since norms may run at the same time. All are zero between launches, and
    stay where they are as long as the weight does: recorded graphs know where that is.
    """
    shape = 2, norm.groups * norm.weight.numel()
    kept: Tensor | None = _counters.get(norm.weight)
    if kept is not None and kept.shape == shape and kept.device == norm.weight.device:
        return kept
    counters = torch.zeros(shape, dtype=torch.int32, device=norm.weight.device)
    if not is_recording(norm.weight.device):  # what a recording makes zero is so in replays only
        _counters.setdefault(norm.weight, counters)
    return counters


_counters = WeakTensorKeyDictionary()
