"""Stands in for the questions about ranks and groups; they need communication to be up."""

from trainferry_stand_in import ranks, state
from trainferry_stand_in.errors import RefusedType, RefusedValue


def create_group(group, rank_num, rank_ids):
    """Name some of the ranks; every rank of the group must call this with the same ranks."""
    state.require_started("create_group")
    _check_name(group)
    members = list(rank_ids)
    if rank_num != len(members) or len(set(members)) != len(members):
        raise RefusedValue(f"create_group: {rank_num} ranks are announced, {members} are given")
    if not all(0 <= rank < ranks.world_size() for rank in members):
        raise RefusedValue(f"create_group: {members} are not all among {ranks.world_size()} ranks")
    if ranks.world_rank() not in members:
        raise RefusedValue(
            f"create_group: rank {ranks.world_rank()} is not in the group it makes, {members}"
        )
    state.add_group(group, sorted(members))


def destroy_group(group):
    state.require_started("destroy_group")
    _check_name(group)
    state.remove_group(group)


def get_rank_size(group="hccl_world_group"):
    state.require_started("get_rank_size")
    return len(state.members_of(_check_name(group)))


def get_local_rank_size(group="hccl_world_group"):
    """How many ranks of the group are on this machine."""
    state.require_started("get_local_rank_size")
    return len(_local(_check_name(group)))


def get_rank_id(group="hccl_world_group"):
    state.require_started("get_rank_id")
    return state.rank_in(_check_name(group))


def get_local_rank_id(group="hccl_world_group"):
    """The number of this rank among those of the group on this machine."""
    state.require_started("get_local_rank_id")
    return _local(_check_name(group)).index(ranks.world_rank())


def get_world_rank_from_group_rank(group, group_rank_id):
    state.require_started("get_world_rank_from_group_rank")
    members = state.members_of(_check_name(group))
    if not 0 <= group_rank_id < len(members):
        raise RefusedValue(f"group `{group}` has no rank {group_rank_id}")
    return members[group_rank_id]


def get_group_rank_from_world_rank(world_rank_id, group):
    state.require_started("get_group_rank_from_world_rank")
    members = state.members_of(_check_name(group))
    if world_rank_id not in members:
        raise RefusedValue(f"rank {world_rank_id} is not in group `{group}`")
    return members.index(world_rank_id)


def _local(group):
    members = state.members_of(group)
    return [rank for rank in ranks.local_ranks() if rank in members]


def _check_name(group):
    if not isinstance(group, str):
        raise RefusedType(f"a group is a name, not {group!r}")
    if not 0 < len(group.encode("utf-8")) < 128:
        raise RefusedValue("a group's name has 1 to 127 bytes")
    return group
