"""The sum by which ranks see whether their weights are equal."""

from __future__ import annotations

import pytest
import torch

from trainferry.train.ranks import checksum


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(64, 64, 1, 1), (8, 1, 3, 3), (8, 4, 3, 3), (5,), ()])
def test_it_depends_on_every_bit_but_not_on_the_layout(
    kind: torch.dtype, shape: tuple[int, ...]
) -> None:
    weight = torch.randn(shape, dtype=kind)
    sum_of = int(checksum(weight))
    if weight.ndim == 4:
        assert int(checksum(weight.to(memory_format=torch.channels_last))) == sum_of
    with torch.no_grad():
        first = weight.view(-1)[0]
        first.copy_(torch.nextafter(first, torch.tensor(9.0, dtype=kind)))
    assert int(checksum(weight)) != sum_of
