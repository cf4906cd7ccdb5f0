"""Finds which variables of two runs are the same: by name, else by shape and order.

Migrating changes names where a layer is replaced, for instance an LSTM by `DynamicRNN`.
"""

from typing import Any, Dict, List, Sequence

Kinds = Dict[str, Any]


def match(first: Kinds, second: Kinds) -> Dict[str, str]:
    """Names of `second` and their partners in `first`; both are {name: [dtype, shape]} in order.

    Where a shape has equally many variables without a partner on both sides, they are paired in
    the order in which the runs made them.
    """
    pairs = {
        name: name
        for name, kind in second.items()
        if name in first and _plain(first[name]) == _plain(kind)
    }
    left, right = _by_kind(first, pairs), _by_kind(second, pairs)
    for kind, names in right.items():
        others = left.get(kind, [])
        if len(others) == len(names):
            pairs.update(zip(names, others))
    return pairs


def _by_kind(variables, pairs):
    groups = {}
    for name, kind in variables.items():
        if name not in pairs:
            groups.setdefault(_plain(kind), []).append(name)
    return groups


def _plain(kind):
    dtype, shape = kind
    return dtype, None if shape is None else tuple(shape)


def spread(names: Sequence[str], count: int) -> List[str]:
    """At most `count` of the names, evenly, with the first and the last."""
    names = list(names)
    if len(names) <= count:
        return names
    if count < 2:
        return names[-count:] if count else []
    step = (len(names) - 1) / (count - 1)
    return [names[round(index * step)] for index in range(count)]
