"""Small rules made for tests, and sources of any bytes to apply them to."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import Any

from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.options import Options
from trainferry.migrate.read import Source, module_name, read_source
from trainferry.migrate.rounds import Result, apply_rules
from trainferry.migrate.rule import Concern, Finding, Outcome, Rule, on_call, rule_of

NPU_OPS = "from npu_bridge.estimator import npu_ops"


def made_rule(name: str, *handlers: Callable[..., Any]) -> Rule:
    """A rule with these handlers, as if it were a file of `rules/`."""
    module = types.ModuleType(f"made.{name}", f"{name} for a test.")
    module.__dict__["CONCERN"] = Concern.RUN
    for number, handler in enumerate(handlers):
        handler.__module__ = module.__name__
        module.__dict__[f"handler_{number}"] = handler
    return rule_of(module)


def renamed(
    name: str, before: str, after: str, statement: str = "", outcome: Outcome = Outcome.CHANGED
) -> Rule:
    """A rule that calls `after` in the place of `before`."""

    @on_call(before)
    def rename(call: Call, _file: File) -> Iterator[Finding]:
        imports = (statement,) if statement else ()
        yield Finding(call, outcome, f"now `{after}`", (call.replace_function(after),), imports)

    return made_rule(name, rename)


def apply_to(data: bytes, *rules: Rule, path: str = "program.py") -> Result:
    """Apply rules to one file."""
    return apply_to_all({path: data}, *rules)


def apply_to_all(files: dict[str, bytes], *rules: Rule) -> Result:
    """Apply rules to a project."""
    return apply_rules([source_at(path, data) for path, data in files.items()], rules, Options())


def bytes_after(result: Result, path: str = "program.py") -> bytes:
    """The file's bytes after the rules, also where they changed nothing."""
    place = PurePosixPath(path)
    before = next(source for source in result.before if source.path == place)
    return result.after.get(place, before).file


def source_at(path: str, data: bytes) -> Source:
    place = PurePosixPath(path)
    source = read_source(place, data, module_name(place))
    assert isinstance(source, Source), source
    return source
