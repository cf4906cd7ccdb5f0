"""Check the arguments of NPURunConfig.

`NPURunConfig` takes most settings of the NpuOptimizer as arguments, some of them in objects
such as `DumpConfig`. Unknown names, values of another type and settings that contradict each
other end the program, or do nothing: all are checked before the run.

    -config = NPURunConfig(mix_compile_mode=True, iterations_per_loop=100)
    +config = NPURunConfig(mix_compile_mode=True, iterations_per_loop=1)

By hand: always. Not told: values that are only known when the program runs.

Source: TF Adapter 1.15, npu_bridge/estimator/npu/npu_config.py.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.constraints import find_conflicts
from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.parameter_table import ParameterProblem, parameters, run_config
from trainferry.migrate.parameters import NOT_LITERAL, ConfigCall, check_run_config
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_call
from trainferry.migrate.rules._npu import assigned_to, npu_name, value_of
from trainferry.migrate.rules._settings import concern_of, is_needed, swapped, text_of

CONCERN = Concern.RUN
LINT = True


@on_call("npu_bridge.*")
def npu_run_config_fields(call: Call, file: File) -> Iterator[Finding]:
    if npu_name(call.name) != "NPURunConfig":
        return
    fields: dict[str, object] = {}
    places: dict[str, ast.expr] = {}
    for keyword in call.node.keywords:
        if keyword.arg is not None:
            fields[keyword.arg] = _read(file, keyword.value, keyword.arg, places)
            places[keyword.arg] = keyword.value
    for problem in _problems(call, fields):
        place = places.get(problem.name, places.get(problem.name.partition(".")[0], call.node))
        yield Finding(
            Spot(file.source, place),
            Outcome.BY_HAND,
            text_of(problem),
            concern=concern_of(problem),
        )


def _problems(call: Call, fields: dict[str, object]) -> Iterator[ParameterProblem]:
    """All problems; with `**options`, none that another setting would solve."""
    found = check_run_config(fields)
    if call.has_star_arguments:
        plain = {name: value for name, value in fields.items() if name in parameters()}
        conflicts = {one.message for one in find_conflicts(plain, NOT_LITERAL)}
        found = [one for one in found if one.message not in conflicts or "are both" in one.message]
    yield from dict.fromkeys(one for one in found if not is_needed(one, fields))


def _read(file: File, value: ast.expr, field: str, places: dict[str, ast.expr]) -> object:
    """A literal, or a `ConfigCall` for an object, made here or nearby."""
    if field not in run_config().objects:
        return value_of(file, value)
    made = assigned_to(file, value)
    if len(made) != 1 or not isinstance(made[0], ast.Call):
        literal = value_of(file, value)
        return literal if isinstance(literal, str | bytes | int | float | dict) else NOT_LITERAL
    call = made[0]
    class_name = npu_name(file.full_name(call.func))
    known = {config.class_name: config for config in run_config().objects.values()}
    if class_name is None or class_name not in known:
        return NOT_LITERAL
    if any(isinstance(one, ast.Starred) for one in call.args) or any(
        one.arg is None for one in call.keywords
    ):
        return NOT_LITERAL
    given = dict(zip(known[class_name].fields, call.args, strict=False))
    given |= {one.arg: one.value for one in call.keywords if one.arg is not None}
    places |= {f"{field}.{name}": node for name, node in given.items()}
    return ConfigCall(class_name, {name: value_of(file, node) for name, node in given.items()})


@on_call("npu_bridge.*")
def swapped_dump(call: Call, file: File) -> Iterator[Finding]:
    """`DumpConfig(dump_path="all")`: what the keys alone do not show."""
    if npu_name(call.name) != "DumpConfig":
        return
    for keyword in call.node.keywords:
        if keyword.arg == "dump_path" and (
            hint := swapped("dump_path", value_of(file, keyword.value), "")
        ):
            message = f"`dump_path` gets what is meant for another field; {hint}"
            yield Finding(Spot(file.source, keyword.value), Outcome.BY_HAND, message)
