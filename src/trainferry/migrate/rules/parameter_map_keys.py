"""Check the settings of the NpuOptimizer.

The adapter reads the proto field that it expects and ignores keys that it does not know, so
a key with a slip, a value in the wrong field or a setting without its counterpart mostly does
nothing, without a word; some end the program late. Every key, field, value and combination is
checked against what the adapter reads.

    -custom_op.parameter_map["precision_mode"].b = True
    +custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes("allow_mix_precision")

By hand: always. Not told: values that are only known when the program runs; settings that are
missing where the entry is also filled elsewhere.

Source: TF Adapter 1.15, tf_adapter/util/npu_attrs.cc; Ascend TF Adapter 1.x API reference,
session configuration.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.constraints import find_conflicts
from trainferry.migrate.file import File
from trainferry.migrate.parameter_table import Consequence, ParameterProblem, parameters
from trainferry.migrate.parameters import NOT_LITERAL, Setting, check_parameters
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_file
from trainferry.migrate.rules._npu import exclude_each_other, last_identifier, value_of
from trainferry.migrate.rules._npu_optimizer import Entry, Written, entries, is_complete
from trainferry.migrate.rules._settings import concern_of, is_needed, swapped, text_of

CONCERN = Concern.RUN
LINT = True


@on_file
def parameter_map_keys(file: File) -> Iterator[Finding]:
    for entry in entries(file):
        told: set[tuple[str, str]] = set()
        for written, problem in _problems(file, entry):
            if (written.key, problem.message) not in told:
                told.add((written.key, problem.message))
                place = Spot(file.source, written.at)
                yield Finding(place, Outcome.BY_HAND, text_of(problem), concern=concern_of(problem))


def _problems(file: File, entry: Entry) -> Iterator[tuple[Written, ParameterProblem]]:
    for written in entry.written:
        found = _of_one(file, written)
        yield from ((written, one) for one in found if not is_needed(one, _keys(entry)))
    values = {key: _value(file, entry, key) for key in _keys(entry)}
    for problem in find_conflicts(values, NOT_LITERAL):
        involved = [one for one in entry.written if f"`{one.key}`" in _words(problem)]
        is_certain = is_complete(file, entry) or "are both" in problem.message
        if is_certain and not _exclude(file, involved):
            yield _place(entry, involved, problem), problem


def _place(entry: Entry, involved: list[Written], problem: ParameterProblem) -> Written:
    """Where a conflict is told: at the key that it is about, or at one that makes it."""
    named = [one for one in entry.written if one.key == problem.name]
    loops = [one for one in entry.written if one.key == "iterations_per_loop"]
    return (named or involved or loops or entry.written)[0]


def _of_one(file: File, written: Written) -> Iterator[ParameterProblem]:
    """What is wrong with a setting, whatever else is set."""
    value = value_of(file, written.value)
    conflicts = (
        set(find_conflicts({written.key: _plain(value)}, NOT_LITERAL))
        if (written.key in parameters())
        else set()
    )
    setting = Setting(written.proto_field, value)
    found = [one for one in check_parameters({written.key: setting}) if one not in conflicts]
    hint = swapped(written.key, value, _variable(written.value))
    if hint:
        message = f"`{written.key}` gets what is meant for another key"
        found = [ParameterProblem(written.key, Consequence.REFUSED, message, hint)]
    yield from found


def _value(file: File, entry: Entry, key: str) -> object:
    """The value of a key; not known where it is set to several, or in the wrong field."""
    found = [one for one in entry.written if one.key == key]
    values = [_plain(value_of(file, one.value)) for one in found]
    is_right = all(one.proto_field == parameters()[key].proto_field for one in found)
    is_one = all(value == values[0] and type(value) is type(values[0]) for value in values)
    return values[0] if is_right and is_one else NOT_LITERAL


def _plain(value: object) -> object:
    return value.decode("utf-8", errors="replace") if isinstance(value, bytes) else value


def _keys(entry: Entry) -> list[str]:
    return [key for key in dict.fromkeys(one.key for one in entry.written) if key in parameters()]


def _exclude(file: File, written: list[Written]) -> bool:
    return any(
        one.key != other.key and exclude_each_other(file, one.at, other.at)
        for one in written
        for other in written
    )


def _words(problem: ParameterProblem) -> str:
    return f"`{problem.name}` {problem.message} {problem.hint}"


def _variable(value: ast.expr) -> str:
    """`dump_path` of `tf.compat.as_bytes(FLAGS.dump_path)`."""
    while isinstance(value, ast.Call):
        if isinstance(value.func, ast.Attribute) and value.func.attr == "encode":
            value = value.func.value
        elif len(value.args) == 1:
            value = value.args[0]
        else:
            return ""
    return last_identifier(value)
