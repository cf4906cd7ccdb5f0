"""How torch's CPU threads wait for each other."""

from __future__ import annotations

import os


def wait_politely() -> None:
    """Let waiting threads sleep; call it before torch is imported.

    By default they spin. When other programs need the cores too, the thread that is
    waited for does not get one, and small steps take many times as long.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
