"""Where in the user's own code something was built."""

import os
import sys

_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_PROBE = os.path.join(os.path.dirname(_OWN), "probe")
_LIBRARIES = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)
_STANDARD = os.path.dirname(os.path.abspath(os.__file__))


def user_line():
    """`file:line` of the innermost frame that is the user's; empty where there is none."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if _is_users(name):
            return f"{os.path.relpath(name)}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def _is_users(name):
    path = os.path.abspath(name)
    if name.startswith("<") or any(part in path for part in _LIBRARIES):
        return False
    return not path.startswith((_OWN + os.sep, _PROBE + os.sep, _STANDARD + os.sep))
