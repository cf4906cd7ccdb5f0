"""What the codes in the logs of Ascend NPUs mean."""

from __future__ import annotations
