"""What opens a session, and where its configuration stands."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.library import is_tensorflow
from trainferry.migrate.rules._configs import assigned_values

# Each with the place and the name of the argument for the configuration.
SESSIONS = {
    "tf.Session": (2, "config"),
    "tf.InteractiveSession": (2, "config"),
    "tf.train.MonitoredTrainingSession": (9, "config"),
    "tf.train.SingularMonitoredSession": (3, "config"),
    "tf.train.ChiefSessionCreator": (2, "config"),
    "tf.train.WorkerSessionCreator": (2, "config"),
    "tf.contrib.slim.learning.train": (22, "session_config"),
    "tf.contrib.slim.evaluation.evaluate_once": (13, "session_config"),
    "tf.contrib.slim.evaluation.evaluation_loop": (16, "session_config"),
    "tf.contrib.gan.gan_train": (10, "config"),
    "tf.contrib.training.train": (9, "config"),
    "tf.contrib.training.evaluate_once": (8, "config"),
    "tf.contrib.training.evaluate_repeatedly": (9, "config"),
}
METHODS = {
    "tf.train.Supervisor.managed_session": (1, "config"),
    "tf.train.Supervisor.prepare_or_wait_for_session": (1, "config"),
    "tf.train.SessionManager.prepare_session": (7, "config"),
    "tf.train.SessionManager.recover_session": (6, "config"),
    "tf.train.SessionManager.wait_for_session": (1, "config"),
}

# Other homes of the same functions.
_HOMES = (
    ("tf.contrib.slim.learning.supervisor.", "tf.train."),
    ("tf_slim.", "tf.contrib.slim."),
    ("tf.contrib.slim.python.slim.", "tf.contrib.slim."),
    ("tf.contrib.training.python.training.training.", "tf.contrib.training."),
    ("tf.contrib.training.python.training.evaluation.", "tf.contrib.training."),
)


@functools.cache
def session_name(name: str) -> str:
    """The public name of what opens a session."""
    for home, public in _HOMES:
        if name.startswith(home):
            return public + name.removeprefix(home)
    return name


def session_calls(file: File) -> Iterator[tuple[Call, int, str]]:
    """All that opens a session for certain, with place and name of the configuration."""
    for call in file.calls:
        if found := SESSIONS.get(session_name(call.name)):
            yield call, *found
    for node, name in _method_calls(file):
        if name is not None:
            yield Call(file.source, node, name), *METHODS[name]


def unclear_session_calls(file: File) -> Iterator[tuple[ast.Call, str]]:
    """Calls that look like those of a supervisor or session manager whose class is not known."""
    for node, name in _method_calls(file):
        assert isinstance(node.func, ast.Attribute)
        if name is None and (node.func.attr in _TELLING or _uses_manager(file)):
            yield node, node.func.attr


def _uses_manager(file: File) -> bool:
    return any(name.endswith("SessionManager") for name in file.used)


def _method_calls(file: File) -> Iterator[tuple[ast.Call, str | None]]:
    """Calls of methods that open sessions; None for the name where the class is not known."""
    for name in METHODS:
        owner, _, method = name.rpartition(".")
        for node in file.unresolved_calls(method):
            assert isinstance(node.func, ast.Attribute)
            found = _owner(file, node.func.value)
            if found is None or found == owner:
                yield node, name if found else None
            elif method in _TELLING and is_tensorflow(found):
                yield node, None  # a name that TensorFlow does not have, such as `tf.Supervisor`


def _owner(file: File, node: ast.expr) -> str | None:
    if known := file.class_of(node):
        return known
    makers = {
        session_name(file.full_name(value.func) or "") if isinstance(value, ast.Call) else ""
        for value in (assigned_values(file, node) or [node])
    }
    return makers.pop() or None if len(makers) == 1 else None


# Nothing else has methods with these names.
_TELLING = frozenset(("managed_session", "prepare_or_wait_for_session"))


def session_values(file: File) -> Iterator[tuple[ast.expr, str]]:
    """Where the class of a session, or a function that opens one, is handed on and not called."""
    for node, name in file.uses:
        if session_name(name) in SESSIONS and _is_handed_on(file, node):
            yield node, session_name(name)


def _is_handed_on(file: File, node: ast.expr) -> bool:
    above = file.parent(node)
    if isinstance(above, ast.Call):
        is_check = isinstance(above.func, ast.Name) and above.func.id in _CHECKS
        return node is not above.func and not is_check
    if isinstance(above, ast.Tuple):
        return not isinstance(file.parent(above), ast.Call | ast.Subscript)
    if isinstance(above, ast.Assign):
        return not all(isinstance(target, ast.Name) for target in above.targets)
    if isinstance(above, ast.arguments):
        return True
    return isinstance(above, ast.ClassDef | ast.keyword | ast.Return | ast.Dict | ast.IfExp)


_CHECKS = frozenset(("isinstance", "issubclass", "hasattr", "type", "print"))
