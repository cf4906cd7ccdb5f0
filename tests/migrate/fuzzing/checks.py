"""What every migration must keep, whatever the input: the oracles of the fuzzing."""

from __future__ import annotations

import ast
import builtins
import codecs
import difflib
import hashlib
import json
import os
import re
import stat
import subprocess
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.migrate.fuzzing.cases import Case
from trainferry.migrate.migration import MigratedFile, Migration
from trainferry.migrate.pipeline import migrate_project
from trainferry.migrate.rule import Outcome
from trainferry.migrate.write import write_in_place, write_tree


@dataclass(frozen=True)
class Problem:
    """What a case violates; `mark` is the same for the same mistake."""

    mark: str
    text: str


@dataclass
class Checked:
    """The problems of a case, and a digest of its result for comparing runs."""

    problems: list[Problem]
    digest: str = ""
    changed: int = 0
    told: int = 0


def check_case(case: Case, *, full: bool) -> Checked:
    """Migrate a case and check everything; `full` also the way back through git."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "project"
        _write(case, root)
        try:
            migration = migrate_project(root, case.options)
            problems = list(_problems(case, migration, full=full))
        except Exception as error:  # noqa: BLE001 - any exception is a finding
            return Checked([Problem(_mark("exception", error), traceback.format_exc())])
        return Checked(problems, _digest(migration), len(migration.changed), len(migration.told))


def _write(case: Case, root: Path) -> None:
    for path, data, mode in case.files:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        file.chmod(mode)


def _problems(case: Case, migration: Migration, *, full: bool) -> Iterator[Problem]:
    for failure in migration.failures:
        yield Problem(_failure_mark(failure.rule, failure.trace), failure.trace)
    yield from _accounted(case, migration)
    for file in migration.changed:
        yield from _parses(file)
        yield from _unasked(file, migration)
        yield from _line_ends(file)
    yield from _places(migration)
    yield from _reports(migration)
    if not migration.failures:  # one file may matter to another
        yield from _second_run(case, migration)
    if full and migration.changed:
        yield from _undo(case, migration)


def _accounted(case: Case, migration: Migration) -> Iterator[Problem]:
    known = {str(file.path) for file in migration.files}
    known |= {str(one.path) for one in migration.unreadable}
    known |= {str(path) for path, _ in migration.skipped}
    before = {str(file.path): file.before for file in migration.files}
    for path, data, _ in case.files:
        if path not in known:
            yield Problem("lost file", path)
        elif path in before and before[path] != data:
            yield Problem("other bytes", path)


def _parses(file: MigratedFile) -> Iterator[Problem]:
    if file.path.suffix == ".ipynb":
        try:
            json.loads(file.before.decode("utf-8-sig"))
        except ValueError:
            return
        try:
            json.loads(file.after.decode("utf-8-sig"))
        except ValueError as error:
            yield Problem("notebook is no JSON any more", str(error))
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            before = ast.parse(file.before)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        try:
            after = ast.parse(file.after)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            yield Problem("does not parse any more", f"{error}\n{file.diff()}")
            return
        if _compiles(file.before) and not _compiles(file.after):
            yield Problem("does not compile any more", file.diff())
        for name in _unbound(before, after):
            yield Problem(f"a new name is not there when it is used: {name}", file.diff())


def _unbound(before: ast.Module, after: ast.Module) -> Iterator[str]:
    """Names in new code that nothing binds, or that is bound too late at the top of the file."""
    if any(isinstance(one, ast.alias) and one.name == "*" for one in ast.walk(after)):
        return
    known = {node.id for node in ast.walk(before) if isinstance(node, ast.Name)}
    known |= set(dir(builtins))
    bound: dict[str, int] = {}
    for node in ast.walk(after):
        for name in _bound_by(node):
            bound[name] = min(bound.get(name, 1 << 30), node.lineno)  # type: ignore[attr-defined]
    at_once = {id(node): True for node in _at_once(after)}
    for node in ast.walk(after):
        if not isinstance(node, ast.Name) or isinstance(node.ctx, ast.Store) or node.id in known:
            continue
        if node.id not in bound or (id(node) in at_once and bound[node.id] > node.lineno):
            yield node.id


def _bound_by(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.alias):
        yield node.asname or node.name.partition(".")[0]
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name


def _at_once(tree: ast.Module) -> Iterator[ast.AST]:
    """What runs when the file is imported, roughly."""
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            todo += ast.iter_child_nodes(node)


def _compiles(data: bytes) -> bool:
    try:
        compile(data, "x", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _unasked(file: MigratedFile, migration: Migration) -> Iterator[Problem]:
    """Lines that differ though no finding is about them."""
    if file.path.suffix == ".ipynb":
        return
    asked: set[int] = set()
    for told in migration.told:
        if told.path == file.path and told.outcome is not Outcome.BY_HAND:
            asked |= set(range(told.line - 2, told.end_line + 2))
    left = _LINE.findall(file.before.removeprefix(codecs.BOM_UTF8))
    known = set(left)
    new = _LINE.findall(file.after.removeprefix(codecs.BOM_UTF8))
    right = [line if line in known else _IMPORT.sub(b"", line) for line in new]
    if left and left[-1][-1:] not in b"\r\n":  # new lines behind the last one end it
        asked.add(len(left))
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    for kind, first, last, _, _ in matcher.get_opcodes():
        lines = [line + 1 for line in range(first, last) if line + 1 not in asked]
        if kind in ("replace", "delete") and lines:
            yield Problem("changed unasked", f"lines {lines}\n{file.diff()}")
            return


_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_IMPORT = re.compile(rb"(?:from npu_bridge[\w.]* import|(?<!\w )import) \w+; ")
_NUMBER = re.compile(r"\d+")
_END = re.compile(rb"\r\n|\r|\n")


def _line_ends(file: MigratedFile) -> Iterator[Problem]:
    before = set(_END.findall(file.before))
    after = set(_END.findall(file.after))
    if before and not after <= before:
        yield Problem("other line ends", f"{before} {after}\n{file.diff()}")


def _places(migration: Migration) -> Iterator[Problem]:
    lines = {file.path: _LINE.findall(file.before) for file in migration.files}
    for told in migration.told:
        here = lines[told.path]
        if not 1 <= told.line <= told.end_line <= max(1, len(here) + 1):
            text = f"{told.rule.name}: {told.line} to {told.end_line} of {len(here)}"
            yield Problem(f"told outside the file: {told.rule.name}", text)
        elif told.path.suffix != ".ipynb" and told.line <= len(here):
            width = len(here[told.line - 1])
            if not 1 <= told.column <= width + 1:
                yield Problem(f"told outside the line: {told.rule.name}", f"{told}")
    for one in migration.unreadable:
        if one.line < 1:
            yield Problem("unreadable outside the file", f"{one}")


def _reports(migration: Migration) -> Iterator[Problem]:
    from trainferry.migrate.launch_kit import launch_kit
    from trainferry.migrate.report.as_json import json_report
    from trainferry.migrate.report.html import html_report
    from trainferry.migrate.report.markdown import markdown_report
    from trainferry.migrate.report.sarif import sarif_report
    from trainferry.migrate.report.text import text_report

    makers: dict[str, Callable[[], str]] = {
        "text": lambda: text_report(migration, colour=False),
        "colour": lambda: text_report(migration, colour=True, width=40),
        "json": lambda: json.dumps(json_report(migration)),
        "sarif": lambda: json.dumps(sarif_report(migration)),
        "markdown": lambda: markdown_report(migration),
        "html": lambda: html_report(migration),
        "launch kit": lambda: str(launch_kit(migration)),
        "diff": lambda: "".join(file.diff() for file in migration.changed),
    }
    for name, make in makers.items():
        try:
            make().encode("utf-8", "backslashreplace")
        except Exception as error:  # noqa: BLE001 - any exception is a finding
            yield Problem(_mark(f"report {name}", error), traceback.format_exc())


def _second_run(case: Case, migration: Migration) -> Iterator[Problem]:
    with tempfile.TemporaryDirectory() as folder:
        new = Path(folder) / "project"
        write_tree(migration, new)
        for path, _, mode in case.files:
            if stat.S_IMODE((new / path).stat().st_mode) != mode:
                yield Problem("mode changed", path)
        again = migrate_project(new, case.options)
    for failure in again.failures:
        mark = "second run: " + _failure_mark(failure.rule, failure.trace)
        yield Problem(mark, failure.trace)
    for file in again.changed:
        rules = sorted({one.rule.name for one in again.told if one.path == file.path
                        and one.outcome is not Outcome.BY_HAND} - {"npu_import"})  # fmt: skip
        yield Problem(f"changed again: {', '.join(rules)}", file.diff())
    if len(again.unreadable) > len(migration.unreadable):
        yield Problem("more is unreadable", str(again.unreadable))


def _undo(case: Case, migration: Migration) -> Iterator[Problem]:
    root = migration.root
    for path, _, mode in case.files:
        (root / path).chmod(mode)
    undo = write_in_place(migration)
    assert undo is not None
    for path, _, mode in case.files:
        if stat.S_IMODE((root / path).stat().st_mode) != mode:
            yield Problem("mode changed in place", path)
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CEILING_DIRECTORIES": "/"}
    done = subprocess.run(
        ["git", "apply", undo.name], cwd=root, env=environment, capture_output=True,
        check=False,
    )  # fmt: skip
    if done.returncode:
        yield Problem("git refuses the way back", done.stderr.decode("utf-8", "replace"))
        return
    for path, data, _ in case.files:
        if (root / path).read_bytes() != data:
            yield Problem("the way back leads elsewhere", path)


def _digest(migration: Migration) -> str:
    digest = hashlib.sha256()
    for file in migration.files:
        digest.update(file.after)
    for told in migration.told:
        digest.update(
            f"{told.rule.name} {told.line} {told.column} {told.message}".encode("utf-8", "replace")
        )
    return digest.hexdigest()[:16]


def _failure_mark(rule: str, trace: str) -> str:
    last = trace.strip().rpartition("\n")[2]
    frames = re.findall(r'File "[^"]*/(\w+\.py)", line \d+, in (\w+)', trace)
    if not frames:
        return f"failure: {rule}: {_NUMBER.sub('N', last)[:60]}"
    where = " ".join(frames[-1])
    return f"failure: {rule}: {last.partition(':')[0]} in {where}"


def _mark(what: str, error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{what}: {type(error).__name__} in {Path(frame.filename).name} {frame.name}"
