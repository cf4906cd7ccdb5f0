"""Independent work at the same time, where a device records it.

Small layers leave most of a large device idle. In a recording, work on several streams becomes
branches of one graph, forwards and backwards; started one by one there would be nothing to gain,
since the program that starts the layers is what they wait for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor

from trainferry.devices.capture import is_recording


def side_by_side(
    works: Sequence[Callable[..., Tensor]], inputs: Sequence[Sequence[Tensor]]
) -> list[Tensor]:
    """Give each work its inputs and return what each makes of them."""
    device = inputs[0][0].device
    if not is_recording(device):
        return [work(*given) for work, given in zip(works, inputs, strict=True)]
    module: Any = torch.get_device_module(device)
    here = module.current_stream(device)
    lanes = [here, *(_side(device, number) for number in range(1, len(works)))]
    for lane in lanes[1:]:
        lane.wait_stream(here)
    results = []
    for work, given, lane in zip(works, inputs, lanes, strict=True):
        with module.stream(lane):
            results.append(work(*given))
        # Memory may be used again only when all lanes that read it are done.
        for tensor in given:
            tensor.record_stream(lane)
    for lane, result in zip(lanes[1:], results[1:], strict=True):
        here.wait_stream(lane)
        result.record_stream(here)
    return results


@cache
def _side(device: torch.device, number: int) -> Any:  # noqa: ANN401  # of any backend
    """Return the stream of that number, the same one each time."""
    del number
    module: Any = torch.get_device_module(device)
    return module.Stream(device)
