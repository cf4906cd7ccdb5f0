"""What a preflight is asked to look at, and with which eyes."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from trainferry.launch.preflight.board import own_address
from trainferry.launch.preflight.clocks import Now
from trainferry.launch.preflight.folders import FreeBytes, free_bytes
from trainferry.launch.preflight.place import Place
from trainferry.launch.preflight.ports import Listen, listen
from trainferry.launch.preflight.trial import Fill, fill
from trainferry.launch.preflight.versions import find_versions
from trainferry.launch.ranktable.chips import ChipName


@dataclass(frozen=True, kw_only=True)
class Settings:
    """`seconds`: how long ranks may take to come; `trial_seconds`: each all-reduce.

    `facts` are versions of this machine that another part of the product found out, such as
    those of drivers; `backend` is the device's own, None to try gloo alone.
    """

    seconds: float = 15.0
    trial_seconds: float = 60.0
    device: str = "cpu"
    backend: str | None = None
    facts: Mapping[str, str] = field(default_factory=dict)
    folders: tuple[Path, ...] = ()
    chip: ChipName | None = None


@dataclass(frozen=True, kw_only=True)
class Eyes:
    """How a rank looks at its machine. Tests look at machines that they do not have."""

    host: Callable[[], str] = socket.gethostname
    address: Callable[[Place], str] = own_address
    versions: Callable[[], dict[str, str]] = find_versions
    now: Now = time.time
    free_bytes: FreeBytes = free_bytes
    listen: Listen = listen
    fill: Fill = fill
