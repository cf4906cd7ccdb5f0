"""The public names of `npu_bridge` and `hccl`, and the import that each one needs."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from importlib import resources

STAR_IMPORT = "from npu_bridge.npu_init import *"
# The star import brings these too; they are not the adapter's.
_GENERIC = {"os": "import os", "tf": "import tensorflow as tf"}


@functools.cache
def star_names() -> Mapping[str, str]:
    """Each name that the star import brings, with the import that brings it alone."""
    found = dict(_GENERIC)
    for module, names in _read()["star"].items():
        found |= {name: f"from {module} import {name}" for name in names}
    return found


@functools.cache
def modules() -> Mapping[str, frozenset[str]]:
    """The public names of every module of `npu_bridge` and `hccl`."""
    return {module: frozenset(names) for module, names in _read()["modules"].items()}


@functools.cache
def modules_with(name: str) -> tuple[str, ...]:
    """The modules that define a public `name`; more than one for `allreduce` and `reduce`."""
    return tuple(sorted(module for module, names in modules().items() if name in names))


@functools.cache
def import_for(name: str) -> str | None:
    """The import statement that brings `name`, a class, function or module of the adapter.

    None where the name is not the adapter's, or where several modules have it.
    """
    if statement := star_names().get(name):
        return statement
    homes = modules_with(name)
    if not homes:
        homes = tuple(module for module in modules() if module.endswith(f".{name}"))
        return f"from {homes[0].rpartition('.')[0]} import {name}" if len(homes) == 1 else None
    return f"from {homes[0]} import {name}" if len(homes) == 1 else None


def _read() -> dict[str, dict[str, list[str]]]:
    text = resources.files("trainferry.migrate").joinpath("surface.toml").read_text("utf-8")
    return tomllib.loads(text)
