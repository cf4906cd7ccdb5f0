"""What the callers of a function give to one of its parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from trainferry.migrate.file import File, Function
from trainferry.migrate.following.arguments import argument_for, default_of, has_stars
from trainferry.migrate.phase_words import parameters_of
from trainferry.migrate.rules._dataflow import only_value

_DEEPEST = 4


class Given(NamedTuple):
    """A call, and the value that it gives: None where it is hidden or not written anywhere.

    `argument` is what the call itself writes: a variable, or nothing where the default counts.
    """

    file: File
    call: ast.Call
    function: Function
    parameter: str
    argument: ast.expr | None
    value: ast.expr | None


def parameter_around(file: File, name: ast.Name) -> Function | None:
    """The function around a name that has it as a parameter, and never sets it."""
    function = file.function(name)
    while function is not None:
        if any(one.arg == name.id for one in parameters_of(function)):
            return None if _is_set(file, function, name.id) else function
        if _is_set(file, function, name.id):
            return None
        function = file.function(function)
    return None


def handed_down(
    file: File, function: Function, parameter: str, depth: int = _DEEPEST
) -> Iterator[Given]:
    """All known calls with what they give to a parameter, also through functions in between."""
    parameters = parameters_of(function)
    skips = int(bool(parameters) and parameters[0].arg in ("self", "cls"))
    for source, call in file.project.values.callers(file.source, function):
        caller = file.project.file_of(source)
        argument = value = argument_for(call, function, parameter, skips)
        if argument is None and not has_stars(call):
            value = default_of(function, parameter)
        if isinstance(argument, ast.Name):
            around = parameter_around(caller, argument)
            if around is not None and depth:
                yield from handed_down(caller, around, argument.id, depth - 1)
                continue
            value = only_value(caller, argument) or argument
        yield Given(caller, call, function, parameter, argument, value)


def _is_set(file: File, function: Function, name: str) -> bool:
    return any(
        one.id == name and not isinstance(one.ctx, ast.Load)
        for one in file.inside(function, ast.Name)
    )
