"""Pictures drawn instead of photographed, to train on."""

from __future__ import annotations
