"""Work on a device beside what else it has been told to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import torch

from trainferry.devices.capture import capture_helps

Given = TypeVar("Given")
Made = TypeVar("Made")


def apart(work: Callable[[Given], Made], device: torch.device) -> Callable[[Given], Made]:
    """Return the same work, on a stream of its own where there are streams, and waited for.

    For a thread that works ahead: neither does it wait for what the device does for others, nor
    they for it.
    """
    if not capture_helps(device):
        return work
    module: Any = torch.get_device_module(device)
    stream = module.Stream(device)

    def work_apart(given: Given) -> Made:
        with module.stream(stream):
            made = work(given)
        stream.synchronize()
        return made

    return work_apart
