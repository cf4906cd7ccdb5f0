"""Finds the user's own line behind an operator or a call."""

import os
import sys

_PROBE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_STAND_IN = os.path.join(os.path.dirname(_PROBE), "stand_in")
_LIBRARIES = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)
_STANDARD = os.path.dirname(os.path.abspath(os.__file__))
# Names of files are relative to the folder the script was started in; it may leave that folder.
_STARTED_IN = os.getcwd()
_shown = {}
_folders = []


def script_folder():
    """The folder of the user's script; places are told relative to it."""
    if not _folders:
        script = sys.argv[0] if sys.argv else ""
        path = os.path.join(_STARTED_IN, script)
        _folders.append(os.path.dirname(path) if os.path.isfile(path) else _STARTED_IN)
    return _folders[0]


def user_line():
    """`file:line` of the innermost frame that is the user's; empty where there is none."""
    frame = sys._getframe(1)
    while frame is not None:
        shown = _users_name(frame.f_code.co_filename)
        if shown:
            return f"{shown}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def line_of(operator):
    """`file:line` of the user's line that made an operator."""
    stack = getattr(operator, "_traceback", None)  # TensorFlow 1; its `traceback` reads sources
    if stack is None:
        stack = operator.traceback
    if stack is None:
        return ""
    for position in range(len(stack) - 1, -1, -1):
        frame = stack[position]
        shown = _users_name(frame.filename)
        if shown:
            return f"{shown}:{frame.lineno}"
    return ""


def _users_name(name):
    """The name to show for a file of the user; empty for all other files."""
    if name not in _shown:
        _shown[name] = _name_to_show(name)
    return _shown[name]


def _name_to_show(name):
    path = os.path.normpath(os.path.join(_STARTED_IN, name))
    others = (_PROBE + os.sep, _STAND_IN + os.sep, _STANDARD + os.sep)
    if name.startswith("<") or path.startswith(others):
        return ""
    if any(part in path for part in _LIBRARIES):
        return ""
    return os.path.relpath(path, script_folder())
