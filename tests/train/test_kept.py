"""Values that come back where the device says so."""

from __future__ import annotations

import torch
from torch import Tensor

from trainferry.train.kept import Kept


def tensors() -> list[Tensor]:
    picture = torch.arange(24.0).view(1, 2, 3, 4)
    return [
        torch.tensor(7),
        picture.contiguous(memory_format=torch.channels_last),
        torch.ones(3, dtype=torch.int64),
        torch.nn.Parameter(torch.ones(2, 2)),
    ]


def test_lost_values_come_back_and_others_stay() -> None:
    for lost in (True, False):
        own, before = tensors(), tensors()
        kept = Kept(own)
        with torch.no_grad():
            for each in own:
                each.add_(1)
            own[1][0, 0, 0, 0] = torch.nan
        changed = [each.detach().clone() for each in own]
        kept.restore_if(torch.tensor(lost))
        for each, expected in zip(own, before if lost else changed, strict=True):
            torch.testing.assert_close(each.detach(), expected.detach(), equal_nan=True)
        assert own[1].is_contiguous(memory_format=torch.channels_last)
