"""The settings that the NPU adapter understands, as data: `parameters.toml`, `run_config.toml`."""

from __future__ import annotations

import enum
import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any


@dataclass(frozen=True)
class Parameter:
    """One key of `parameter_map`. `type` is "bool", "int" or "str"."""

    name: str
    type: str
    meaning: str
    default: bool | int | str | None = None
    choices: tuple[int | str, ...] = ()
    least: int | None = None
    most: int | None = None
    pattern: str | None = None
    checked: bool = True  # the adapter stops at other values
    deprecated: str | None = None  # what to use instead; "" where there is nothing
    inference: bool = False
    chips: str = ""
    value_chips: Mapping[str, str] = field(default_factory=dict)
    note: str = ""

    @property
    def proto_field(self) -> str:
        """The field of the proto that the adapter reads: b, i or s."""
        return self.type[0]

    def allows(self, value: bool | int | str) -> bool:
        """Whether the adapter or its documentation knows this value, of the right type."""
        if self.choices:
            return value in self.choices
        if self.pattern is not None and isinstance(value, str):
            return re.fullmatch(self.pattern, value) is not None
        if isinstance(value, int) and not isinstance(value, bool):
            low = self.least is None or value >= self.least
            return low and (self.most is None or value <= self.most)
        return True

    @property
    def allowed(self) -> str:
        """The allowed values in words."""
        if self.choices:
            return " or ".join(f"`{choice}`" for choice in self.choices)
        if self.pattern is not None:
            return self.meaning
        if self.most is None:
            return f"{self.least} or more"
        return f"{self.least} to {self.most}"


@dataclass(frozen=True)
class ConfigObject:
    """A field of `NPURunConfig` that holds an object, and the keys its fields end in."""

    class_name: str
    fields: Mapping[str, str]


@dataclass(frozen=True)
class RunConfigTable:
    """What `NPURunConfig` takes."""

    same: frozenset[str]
    own: Mapping[str, str]
    refused: Mapping[str, str]
    objects: Mapping[str, ConfigObject]

    @property
    def names(self) -> frozenset[str]:
        return self.same | self.own.keys() | self.objects.keys()


class Consequence(enum.Enum):
    """What a wrong setting leads to. The value is the sentence for the user."""

    REFUSED = "the program stops with an error"
    IGNORED = "the setting has no effect"
    REPLACED = "another value is used"
    UNDEFINED = "the vendor rules it out, and nothing checks it"
    DEPRECATED = "it works today and will go away"


@dataclass(frozen=True)
class ParameterProblem:
    """One wrong setting: what is wrong, what comes of it, what to write instead."""

    name: str
    consequence: Consequence
    message: str
    hint: str


@functools.cache
def parameters() -> Mapping[str, Parameter]:
    """Every key that the adapter reads from `parameter_map`."""
    return {
        name: Parameter(**{**row, "name": name, "choices": tuple(row.get("choices", ()))})
        for name, row in _read("parameters.toml").items()
    }


@functools.cache
def run_config() -> RunConfigTable:
    data = _read("run_config.toml")
    objects = {
        name: ConfigObject(row["class"], row["fields"]) for name, row in data["objects"].items()
    }
    return RunConfigTable(frozenset(data["same"]), data["own"], data["refused"], objects)


def _read(file: str) -> dict[str, Any]:
    text = resources.files("trainferry.migrate").joinpath(file).read_text("utf-8")
    return tomllib.loads(text)
