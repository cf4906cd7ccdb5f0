"""Which argument of a call a parameter gets."""

from __future__ import annotations

import ast

from trainferry.migrate.following.flow import Function


def has_stars(call: ast.Call) -> bool:
    """Whether `*args` or `**options` hide arguments."""
    return any(isinstance(one, ast.Starred) for one in call.args) or any(
        one.arg is None for one in call.keywords
    )


def argument_for(call: ast.Call, function: Function, name: str, skips: int = 0) -> ast.expr | None:
    """What a call gives to a parameter, by place or by name; None when it is not written.

    `skips`: how many parameters the call does not write, such as `self`.
    """
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    placed = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    if name not in placed:
        return None
    index = placed.index(name) - skips
    before = call.args[: index + 1]
    if index < 0 or len(before) <= index or any(isinstance(one, ast.Starred) for one in before):
        return None
    return before[index]


def default_of(function: Function, name: str) -> ast.expr | None:
    """The default of a parameter."""
    placed = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    if name in placed:
        index = placed.index(name) - len(placed) + len(function.args.defaults)
        return function.args.defaults[index] if index >= 0 else None
    for one, default in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True):
        if one.arg == name:
            return default
    return None
