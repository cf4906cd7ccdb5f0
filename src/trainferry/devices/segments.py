"""Memory of a GPU that is taken as it is needed, asked for before torch takes any.

torch takes memory from a GPU in pieces and cuts them up; what is left of a piece helps only those
who need as little. A recording has memory of its own on each of its streams, and many such rests.
Segments that grow leave few of them, and no step is slower for it. Some GPUs refuse them: virtual
ones, and others below WSL 2.

Nothing here imports torch early: it reads its settings once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, MutableMapping
from typing import TYPE_CHECKING

from trainferry.devices import ascend

if TYPE_CHECKING:
    import torch

_SETTINGS = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF")
_GROWING, _FIXED = "expandable_segments:True", "expandable_segments:False"
_OURS = "TRAINFERRY_SEGMENTS"  # that the setting is ours, and may be taken back


def let_segments_grow(environment: MutableMapping[str, str] = os.environ) -> None:
    """Ask torch for segments that grow, where the user has asked for nothing.

    An NPU has settings of its own, and not all of its drivers know such segments.
    """
    is_said = any(name in environment for name in _SETTINGS)
    if is_said or "torch" in sys.modules or ascend.torch_npu_version() is not None:
        return
    environment[_SETTINGS[0]] = _GROWING
    environment[_OURS] = "1"


def start_again_where_refused(
    device: torch.device,
    say: Callable[[str], object],
    environment: MutableMapping[str, str] = os.environ,
    start: Callable[[str, list[str]], object] = os.execv,
) -> None:
    """Start the command again without such segments if the GPU cannot have any; say so."""
    if environment.pop(_OURS, None) is None or device.type != "cuda":
        return
    import torch

    try:
        torch.empty(1, device=device)
    except torch.OutOfMemoryError:
        raise
    except RuntimeError as error:
        reason = str(error).splitlines()[0]
        say(f"this GPU refuses memory in segments that grow ({reason}): going on without them")
        environment[_SETTINGS[0]] = _FIXED
        start(sys.executable, [sys.executable, *sys.orig_argv[1:]])
