"""What the runtime of one process knows: is communication up, which groups exist, which modes."""

import threading

from trainferry_stand_in import ranks
from trainferry_stand_in.client import hub
from trainferry_stand_in.errors import NotInitialised, RefusedValue

_lock = threading.Lock()
_groups = {}
_values = {"started": False, "inf_nan": True, "ever": False}


def start():
    """Bring collective communication up, as `initialize_system` and the first run do."""
    if ranks.world_size() > 1:
        hub()
    with _lock:
        _values["started"] = _values["ever"] = True


def stop():
    """Take collective communication down; groups go with it."""
    with _lock:
        _values["started"] = False
        _groups.clear()


def is_started():
    return _values["started"]


def require_started(name):
    if _values["started"]:
        return
    when = "has ended" if _values["ever"] else "has not been started"
    raise NotInitialised(
        f"`{name}`: collective communication {when}. Run `npu_ops.initialize_system()` in a "
        "session of its own first, or call `init_resource()`; on the device this fails too."
    )


def set_inf_nan(enabled):
    _values["inf_nan"] = bool(enabled)


def has_inf_nan():
    return _values["inf_nan"]


def add_group(name, members):
    with _lock:
        if name == ranks.WORLD or name in _groups:
            raise RefusedValue(f"group `{name}` exists already")
        _groups[name] = tuple(members)


def remove_group(name):
    with _lock:
        if name not in _groups:
            raise RefusedValue(f"there is no group `{name}` to destroy")
        del _groups[name]


def members_of(group):
    """The world ranks of a group, in the order of its own ranks."""
    if group == ranks.WORLD:
        return tuple(range(ranks.world_size()))
    if group not in _groups:
        raise RefusedValue(f"there is no group `{group}`; make it with `create_group` first")
    return _groups[group]


def rank_in(group):
    """This process's number in a group."""
    members = members_of(group)
    rank = ranks.world_rank()
    if rank not in members:
        raise RefusedValue(f"rank {rank} is not in group `{group}`")
    return members.index(rank)
