"""Close every session.

The adapter takes a graph down on the NPU only in `Session.close`. TensorFlow calls it when Python
collects a session, which is late, and at the end of the program not certain. `with` closes a
session where it ends.

     self.sess = tf.Session(config=config)
    +...
    +self.sess.close()

By hand: told where nothing in the project closes the session; where it ends is yours to say.

Not touched: sessions that are returned or handed to other code, which may close them, and those
of unit tests.

Source: Ascend TF Adapter 1.x migration guide.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from trainferry.migrate.file import File, ProjectFiles
from trainferry.migrate.find import Call
from trainferry.migrate.library import is_tensorflow
from trainferry.migrate.rule import Concern, Finding, Outcome, on_call
from trainferry.migrate.rules._host_sessions import is_in_test, only_makes_data

CONCERN = Concern.TIDY
LINT = True

# They take a session and do not close it.
_BORROWERS = frozenset(
    (
        "eval",
        "export_meta_graph",
        "load",
        "restore",
        "run",
        "save",
        "set_session",
        "start_queue_runners",
        "create_threads",
    )
)


@on_call("tf.Session", "tf.InteractiveSession")
def close_session(call: Call, file: File) -> Iterator[Finding]:
    statement = file.parent(call.node)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return
    target = statement.targets[0]
    if isinstance(target, ast.Attribute):
        is_open = _stays_in_attribute(file, target)
    elif isinstance(target, ast.Name):
        is_open = _stays_in_name(file, target)
    else:
        return
    if is_open and not is_in_test(file, call.node) and not only_makes_data(file):
        text = file.text(target)
        message = (
            f"nothing closes this session: write `{text}.close()` where it ends, or use `with`"
        )
        yield Finding(call, Outcome.BY_HAND, message)


def _stays_in_attribute(file: File, target: ast.Attribute) -> bool:
    """Whether no attribute of this name is closed, or handed on, in any file."""
    used = re.compile(rb"\.%s\b" % target.attr.encode(file.source.encoding))
    may_close = any(
        other is not file and used.search(other.source.data)
        for other in file.project.once(_files_that_close)
    )
    return not may_close and not any(
        _is_let_go(file, node)
        for node in file.nodes(ast.Attribute)
        if node.attr == target.attr and isinstance(node.ctx, ast.Load)
    )


def _files_that_close(project: ProjectFiles) -> tuple[File, ...]:
    return tuple(file for file in project.files if b".close(" in file.source.data)


def _stays_in_name(file: File, target: ast.Name) -> bool:
    scope = file.function(target) or file.source.tree
    shared: list[ast.Global | ast.Nonlocal] = [*file.nodes(ast.Global), *file.nodes(ast.Nonlocal)]
    return not any(target.id in one.names for one in shared) and not any(
        _is_let_go(file, node) and not _stays_in_own_attribute(file, node)
        for node in file.nodes(ast.Name)
        if node.id == target.id and isinstance(node.ctx, ast.Load) and scope in file.parents(node)
    )


def _stays_in_own_attribute(file: File, node: ast.Name) -> bool:
    """`self.sess = sess`, and nothing closes `self.sess`."""
    above = file.parent(node)
    if not isinstance(above, ast.Assign) or len(above.targets) != 1:
        return False
    target = above.targets[0]
    return isinstance(target, ast.Attribute) and _stays_in_attribute(file, target)


def _is_let_go(file: File, node: ast.expr) -> bool:
    """Whether this use closes the session, or gives it to code that may."""
    above = file.parent(node)
    if isinstance(above, ast.Attribute):
        return above.attr in ("close", "__exit__")
    if isinstance(above, ast.keyword):
        above = file.parent(above)
    if isinstance(above, ast.Call):
        function = above.func
        name = function.attr if isinstance(function, ast.Attribute) else file.text(function)
        if name in _BORROWERS or _is_function_of_tensorflow(file, function):
            return False
        return not _only_borrows(file, name)
    return not isinstance(above, ast.Compare | ast.If | ast.UnaryOp | ast.BoolOp | ast.Expr)


def _is_function_of_tensorflow(file: File, function: ast.expr) -> bool:
    """Whether it is one like `tf.train.global_step`; a class may keep the session and close it."""
    name = file.full_name(function) or ""
    return is_tensorflow(name) and name.rpartition(".")[2].islower()


def _only_borrows(file: File, name: str) -> bool:
    """Whether a function of this file gets it, and nothing in the file closes anything."""
    is_own = any(one.name == name for one in file.functions)
    return is_own and b".close(" not in file.source.data
