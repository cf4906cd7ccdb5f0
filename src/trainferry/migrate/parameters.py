"""Checks settings for the NPU: `parameter_map` of the NpuOptimizer, and `NPURunConfig`.

The adapter reads the proto field it expects and ignores keys it does not know, so a wrong
setting mostly does nothing, without a word. These checks say so before the run.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from trainferry.migrate.constraints import find_conflicts
from trainferry.migrate.parameter_table import (
    ConfigObject,
    Consequence,
    Parameter,
    ParameterProblem,
    parameters,
    run_config,
)


class _NotLiteral:
    """A value that is set but cannot be read from the source."""

    def __repr__(self) -> str:
        return "NOT_LITERAL"


NOT_LITERAL = _NotLiteral()


@dataclass(frozen=True)
class Setting:
    """A value together with the proto field it was written to: `….s = value`."""

    proto_field: str
    value: object


@dataclass(frozen=True)
class ConfigCall:
    """An object given to `NPURunConfig`: `DumpConfig(enable_dump=True, …)`."""

    class_name: str
    fields: Mapping[str, object]


def check_parameters(settings: Mapping[str, object]) -> list[ParameterProblem]:
    """What is wrong with the keys of one `parameter_map`.

    A value is a literal, a `Setting` where the proto field is known, or NOT_LITERAL.
    """
    problems: list[ParameterProblem] = []
    plain: dict[str, object] = {}
    for name, value in settings.items():
        parameter = parameters().get(name)
        if parameter is None:
            problems.append(_unknown_key(name))
            continue
        found = list(_check_proto_field(parameter, value))
        plain[name] = NOT_LITERAL if found else _plain(value)
        problems += found or _check_value(parameter, plain[name])
    return problems + list(find_conflicts(plain, NOT_LITERAL))


def check_run_config(fields: Mapping[str, object]) -> list[ParameterProblem]:
    """What is wrong with the arguments of one `NPURunConfig`.

    A value is a literal, a `ConfigCall`, or NOT_LITERAL; None means not set.
    """
    problems: list[ParameterProblem] = []
    keys: dict[str, object] = {}
    written_as: dict[str, str] = {}
    for name, value in fields.items():
        if name not in run_config().names:
            problems.append(_unknown_field(name))
        elif value is None:
            continue
        elif name in run_config().own:
            problems += _check_own_field(name, value)
        elif config := run_config().objects.get(name):
            if isinstance(value, ConfigCall):
                problems += _open_object(name, value, config, keys, written_as)
            elif value is not NOT_LITERAL:
                problems.append(_not_an_object(name, config.class_name))
        else:
            keys[name] = value
    for problem in _check_run_config_keys(keys):
        problems.append(replace(problem, name=written_as.get(problem.name, problem.name)))
    return problems


def _check_run_config_keys(keys: dict[str, object]) -> Iterator[ParameterProblem]:
    """NPURunConfig and the proto behind it refuse wrong types, unlike `parameter_map`."""
    plain: dict[str, object] = {}
    for name, value in keys.items():
        parameter = parameters()[name]
        if not _fits(parameter.type, value):
            yield _wrong_type(name, parameter.type, value, Consequence.REFUSED)
            plain[name] = NOT_LITERAL
        else:
            plain[name] = _plain(value)
            yield from _check_value(parameter, plain[name])
    plain.setdefault("enable_data_pre_proc", True)  # other than in `parameter_map`
    yield from find_conflicts(plain, NOT_LITERAL)


def _check_proto_field(parameter: Parameter, value: object) -> Iterator[ParameterProblem]:
    """The field that was written must be the field that is read, and take the value."""
    written = value.proto_field if isinstance(value, Setting) else _field_of(value)
    right = f'parameter_map["{parameter.name}"].{parameter.proto_field}'
    if written is None:
        return
    if written == "?":
        yield _wrong_type(parameter.name, parameter.type, value, Consequence.REFUSED)
    elif written != parameter.proto_field:
        yield ParameterProblem(
            parameter.name,
            _consequence_of_empty(parameter),
            f"`{parameter.name}` is read from field `{parameter.proto_field}`, not `{written}`",
            f"write `{right} = ...`, a {_words(parameter.type)}",
        )
    elif isinstance(value, Setting) and not _proto_takes(written, value.value):
        yield _wrong_type(parameter.name, parameter.type, value.value, Consequence.REFUSED)


def _check_value(parameter: Parameter, value: object) -> list[ParameterProblem]:
    problems: list[ParameterProblem] = []
    if isinstance(value, bool | int | str) and not parameter.allows(value):
        consequence = Consequence.REFUSED if parameter.checked else Consequence.UNDEFINED
        if parameter.name in _MOVED_INTO_RANGE:
            consequence = Consequence.REPLACED
        problems.append(
            ParameterProblem(
                parameter.name,
                consequence,
                f"`{parameter.name}` cannot be {value!r}",
                _value_hint(parameter, value),
            )
        )
    if parameter.deprecated is not None:
        instead = f"use `{parameter.deprecated}`" if parameter.deprecated else "leave it out"
        if parameter.name == "enable_data_pre_proc":
            instead = "keep it only for several steps per loop"
        problems.append(
            ParameterProblem(
                parameter.name,
                Consequence.IGNORED if "without effect" in parameter.note else _DEPRECATED,
                f"`{parameter.name}` is deprecated",
                instead,
            )
        )
    return problems


_DEPRECATED = Consequence.DEPRECATED
_MOVED_INTO_RANGE = frozenset({"input_fusion_size"})
# The adapter looks at the field of these four, and takes no other for it.
_LOOKS_AT_FIELD = {
    "jit_compile": Consequence.REFUSED,
    "shape_generalization_mode": Consequence.REFUSED,
    "export_compile_stat": Consequence.IGNORED,
    "oo_constant_folding": Consequence.IGNORED,
}
_EMPTY: dict[str, bool | int | str] = {"bool": False, "int": 0, "str": ""}
# Keys that people set and nothing reads: what they were after.
_NOT_READ = {
    "min_group_size": "leave it out; no adapter reads it any more",
    "enable_auto_mix_precision": "set `precision_mode` to `allow_mix_precision`",
    "allow_mix_compile": "set `mix_compile_mode`",
    "fp_point": "put it into the JSON of `profiling_options`",
    "bp_point": "put it into the JSON of `profiling_options`",
    "master_slave_mode": "leave it out; no adapter reads it",
}


def _consequence_of_empty(parameter: Parameter) -> Consequence:
    """The expected field is empty, so the adapter reads False, 0 or an empty string."""
    if parameter.name in _LOOKS_AT_FIELD:
        return _LOOKS_AT_FIELD[parameter.name]
    empty = _EMPTY[parameter.type]
    if parameter.checked and not parameter.allows(empty):
        return Consequence.REFUSED
    return Consequence.IGNORED if empty == (parameter.default or empty) else Consequence.REPLACED


def _unknown_key(name: str) -> ParameterProblem:
    hint = _NOT_READ.get(name) or _suggest(name, parameters())
    return ParameterProblem(
        name, Consequence.IGNORED, f"`{name}` is no key of the NpuOptimizer", hint
    )


def _unknown_field(name: str) -> ParameterProblem:
    reason = run_config().refused.get(name)
    if reason:
        message, hint = f"NPURunConfig does not take `{name}`", f"leave it out: {reason}"
    else:
        message = f"`{name}` is no field of NPURunConfig"
        hint = _suggest(name, run_config().names)
    return ParameterProblem(name, Consequence.REFUSED, message, hint)


def _not_an_object(name: str, class_name: str) -> ParameterProblem:
    message = f"`{name}` must be a `{class_name}`"
    return ParameterProblem(name, Consequence.REFUSED, message, f"write `{name}={class_name}(...)`")


def _open_object(
    name: str,
    call: ConfigCall,
    config: ConfigObject,
    keys: dict[str, object],
    written_as: dict[str, str],
) -> Iterator[ParameterProblem]:
    """Put the fields of an object among the keys they end in."""
    if call.class_name != config.class_name:
        yield _not_an_object(name, config.class_name)
        return
    for inner, value in call.fields.items():
        path = f"{name}.{inner}"
        if inner not in config.fields:
            message = f"`{inner}` is no field of {call.class_name}"
            hint = _suggest(inner, config.fields)
            yield ParameterProblem(path, Consequence.REFUSED, message, hint)
        elif value is not None and (key := config.fields[inner]):
            keys[key] = value
            written_as[key] = path


def _check_own_field(name: str, value: object) -> Iterator[ParameterProblem]:
    expected = run_config().own[name]
    if expected != "any" and not _fits(expected, value):
        yield _wrong_type(name, expected, value, Consequence.REFUSED)
    elif name in ("train_distribute", "eval_distribute"):
        hint = "leave it out, and start one process per device"
        yield ParameterProblem(name, Consequence.UNDEFINED, f"do not set `{name}`", hint)


def _wrong_type(
    name: str, expected: str, value: object, consequence: Consequence
) -> ParameterProblem:
    hint = f"give it a {_words(expected)}"
    if expected == "str" and isinstance(value, str):
        hint = f"the field takes bytes: write `tf.compat.as_bytes({value!r})`"
    return ParameterProblem(name, consequence, f"`{name}` cannot be {value!r}", hint)


def _value_hint(parameter: Parameter, value: object) -> str:
    near = difflib.get_close_matches(str(value), [str(choice) for choice in parameter.choices], 1)
    return f"did you mean `{near[0]}`?" if near else f"write {parameter.allowed}"


def _suggest(name: str, known: Mapping[str, object] | frozenset[str]) -> str:
    near = difflib.get_close_matches(name, known, 1)
    return f"did you mean `{near[0]}`?" if near else "leave it out"


def _plain(value: object) -> object:
    if isinstance(value, Setting):
        value = value.value
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    return value


def _field_of(value: object) -> str | None:
    """The proto field that a literal of this type is written to; "?" where there is none."""
    if value is NOT_LITERAL:
        return None
    if isinstance(value, bool):
        return "b"
    if isinstance(value, int):
        return "i"
    if isinstance(value, float):
        return "f"
    return "s" if isinstance(value, str | bytes) else "?"


def _proto_takes(proto_field: str, value: object) -> bool:
    """Whether protobuf takes the value for that field; Python 3 gives it no str for bytes."""
    if value is NOT_LITERAL:
        return True
    expected = {"b": (bool, int), "i": (int,), "s": (bytes,)}[proto_field]
    return isinstance(value, expected)


def _fits(expected: str, value: object) -> bool:
    if value is NOT_LITERAL:
        return True
    if expected == "bool":
        return isinstance(value, bool)
    if expected == "int":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, str | bytes)


def _words(type_name: str) -> str:
    return {"bool": "True or False", "int": "whole number", "str": "string"}[type_name]
