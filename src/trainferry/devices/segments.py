"""Memory of a GPU that is taken as it is needed, asked for before torch takes any.

torch takes memory from a GPU in pieces and cuts them up; what is left of a piece helps only those
who need as little. A recording has memory of its own on each of its streams, and many such rests.
Segments that grow leave few of them, and no step is slower for it.

Nothing here imports torch: it reads its settings once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import MutableMapping

from trainferry.devices import ascend

_SETTINGS = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF")
_GROWING = "expandable_segments:True"


def let_segments_grow(environment: MutableMapping[str, str] = os.environ) -> None:
    """Ask torch for segments that grow, where the user has asked for nothing.

    An NPU has settings of its own, and not all of its drivers know such segments.
    """
    is_said = any(name in environment for name in _SETTINGS)
    if is_said or "torch" in sys.modules or ascend.torch_npu_version() is not None:
        return
    environment[_SETTINGS[0]] = _GROWING
