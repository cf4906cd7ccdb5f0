"""File names that several ranks can write side by side."""

from __future__ import annotations

from trainferry.devices.collectives import Group


def of_rank(group: Group) -> str:
    """Return what a rank puts behind the names of its files: nothing where it is alone."""
    return "" if group.is_alone else f"-rank-{group.rank}"
