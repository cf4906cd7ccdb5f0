"""Stands in for the ways to split gradients; the split decides speed, not results."""

from trainferry_stand_in import state
from trainferry_stand_in.errors import RefusedType, RefusedValue

MOST_PARTS = 8


def set_split_strategy_by_idx(idxList, group="hccl_world_group"):
    """End the parts at these gradients, counted in the order of their making."""
    state.require_started("set_split_strategy_by_idx")
    parts = _numbers(idxList, "set_split_strategy_by_idx")
    if any(part < 0 for part in parts) or sorted(set(parts)) != parts:
        raise RefusedValue(f"set_split_strategy_by_idx: {parts} must be increasing, from 0")
    state.members_of(group)


def set_split_strategy_by_size(dataSizeList, group="hccl_world_group"):
    """Split by percent of the data."""
    state.require_started("set_split_strategy_by_size")
    parts = _numbers(dataSizeList, "set_split_strategy_by_size")
    if any(part < 0 for part in parts) or abs(sum(parts) - 100) > 1e-3:
        raise RefusedValue(f"set_split_strategy_by_size: {parts} must add up to 100")
    state.members_of(group)


def _numbers(parts, name):
    if not isinstance(parts, (list, tuple)) or not parts:
        raise RefusedType(f"{name} takes a list of numbers, not {parts!r}")
    if len(parts) > MOST_PARTS:
        raise RefusedValue(f"{name}: at most {MOST_PARTS} parts, not {len(parts)}")
    return list(parts)
