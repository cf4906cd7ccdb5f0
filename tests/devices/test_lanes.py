"""Work beside other work, as far as it needs no device that records."""

from __future__ import annotations

import pytest
import torch

from trainferry.devices import lanes
from trainferry.devices.lanes import Beside, current_lane

CPU = torch.device("cpu")


def test_what_is_not_recorded_has_no_lanes() -> None:
    assert current_lane(CPU) is None


def test_a_second_reader_of_a_weight_is_an_error_in_a_recording(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    weight = torch.zeros(2, requires_grad=True)
    works = Beside(CPU)
    works.add_gradient(weight, lambda: torch.ones(2), ())
    works.add_gradient(weight, lambda: torch.ones(2), ())
    assert weight.grad is not None
    assert weight.grad.tolist() == [2, 2]
    monkeypatch.setattr(lanes, "is_recording", lambda _: True)
    with pytest.raises(RuntimeError, match="several readers"):
        works.add_gradient(weight, lambda: torch.ones(2), ())
