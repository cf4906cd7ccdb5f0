"""Start collective communication before the first question for a rank, and end it.

Rank numbers, the number of devices and `NPUStrategy` are known only after communication has
started in a session of its own. It is started where the program begins, and ends when the
interpreter does: also after an error, and after `tf.app.run()`, which never returns.

     if __name__ == "__main__":
    +    npu_session, npu_shutdown = init_resource()
    +    atexit.register(close_session, npu_session)
    +    atexit.register(shutdown_resource, npu_session, npu_shutdown)
         tf.app.run()

By hand: programs with several beginnings, or with none that can be seen, and an
`if __name__ == "__main__": main()` on one line.
Not touched: projects that start communication already, with Horovod too.

Source: Ascend TF Adapter 1.x migration guide, "Initializing Collective Communication"; TF Adapter
1.15, npu_bridge/npu_init.py, `init_resource`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from trainferry.migrate.file import File, ProjectFiles
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_project
from trainferry.migrate.rules._distributed import (
    AT_EXIT,
    RANK_NAMES,
    START,
    START_NAMES,
    start_imports,
    uses_horovod,
)
from trainferry.migrate.rules._npu import has_name, npu_name
from trainferry.migrate.statements import insert_before

CONCERN = Concern.DISTRIBUTED
LINT = True

_NEEDS_START = RANK_NAMES | {"NPUStrategy", "create_group"}
_STARTS = frozenset(("init_resource", "initialize_system", "NPUInit", "npu_resource_init"))
_RUNS_TESTS = re.compile(r"test\w*\.main\(")
_TEXT = "\n".join((START, *AT_EXIT))


@on_project
def collective_lifecycle(project: ProjectFiles) -> Iterator[Finding]:
    if project.options.distributed == "none":
        return
    askers = [(file, node) for file in project.files for node in _asks(file)]
    if not askers or uses_horovod(project) or any(_has_start(file) for file in project.files):
        return
    asking = {id(file.source): file for file, _ in askers}
    entries = [
        (file, guard)
        for file in project.files
        if (guard := _guard(file)) is not None and asking.keys() & _reachable(file, project)
    ]
    if len(entries) == 1:
        yield _started(*entries[0])
    elif entries:
        for file, guard in entries:
            message = f"if this program trains on several devices, begin it with `{START}`"
            yield Finding(Spot(file.source, guard), Outcome.BY_HAND, message)
    else:
        yield _started_in_script(*askers[0])


def _started(file: File, guard: ast.If) -> Finding:
    before = next((one for one in guard.body if _runs_program(file, one)), guard.body[0])
    return _start_before(file, before, Spot(file.source, guard))


def _started_in_script(file: File, node: ast.expr) -> Finding:
    spot = Spot(file.source, node)
    if file.function(node) is None and file.class_around(node) is None:
        above = [one for one in file.parents(node) if one in file.source.tree.body]
        if above and isinstance(above[0], ast.stmt):
            return _start_before(file, above[0], spot)
    message = f"start communication where the program begins, before this runs: `{START}`"
    return Finding(spot, Outcome.BY_HAND, message)


def _start_before(file: File, statement: ast.stmt, spot: Spot) -> Finding:
    edit = insert_before(file, statement, _TEXT)
    if edit is None or has_name(file, *START_NAMES):
        message = f"start communication here: `{'; '.join((START, *AT_EXIT))}`"
        return Finding(spot, Outcome.BY_HAND, message)
    message = (
        "communication starts here in a session of its own and ends with the program; settings "
        "for all sessions, such as `precision_mode`, go into `init_resource(config=...)` too"
    )
    return Finding(spot, Outcome.CHECK, message, (edit,), start_imports())


def _asks(file: File) -> Iterator[ast.expr]:
    for node, name in file.uses:
        if npu_name(name) in _NEEDS_START:
            yield node


def _has_start(file: File) -> bool:
    return any(npu_name(name) in _STARTS for name in file.used)


def _guard(file: File) -> ast.If | None:
    """`if __name__ == "__main__":`, either way round, but not that of unit tests."""
    for statement in file.source.tree.body:
        if isinstance(statement, ast.If) and isinstance(statement.test, ast.Compare):
            sides = [statement.test.left, *statement.test.comparators]
            names = {one.id for one in sides if isinstance(one, ast.Name)}
            texts = {one.value for one in sides if isinstance(one, ast.Constant)}
            if names == {"__name__"} and texts == {"__main__"}:
                return None if _RUNS_TESTS.search(file.text(statement)) else statement
    return None


def _runs_program(file: File, statement: ast.stmt) -> bool:
    """Whether a statement calls `tf.app.run`, `app.run` or a function of this file."""
    own = {one.name for one in file.functions}
    for node in ast.walk(statement):
        if isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Attribute) and function.attr == "run":
                return True
            if isinstance(function, ast.Name) and function.id in own:
                return True
    return False


def _reachable(file: File, project: ProjectFiles) -> set[int]:
    """The files that a program runs: its own and all that it imports, directly or not."""
    found: set[int] = set()
    waiting = [file]
    while waiting:
        one = waiting.pop()
        if id(one.source) not in found:
            found.add(id(one.source))
            waiting += _imported(one, project)
    return found


def _imported(file: File, project: ProjectFiles) -> Iterator[File]:
    for statement in file.imports:
        for parts, level in _import_paths(statement):
            for place in file.names.own_modules(file.source, parts, level):
                source = file.names.own_source(place)
                if source is not None:
                    yield project.file_of(source)


def _import_paths(statement: ast.Import | ast.ImportFrom) -> Iterator[tuple[tuple[str, ...], int]]:
    if isinstance(statement, ast.Import):
        for one in statement.names:
            yield tuple(one.name.split(".")), 0
        return
    parts = tuple(statement.module.split(".")) if statement.module else ()
    yield parts, statement.level
    for one in statement.names:
        yield (*parts, one.name), statement.level
