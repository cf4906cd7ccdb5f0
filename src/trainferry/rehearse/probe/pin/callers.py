"""Who in the user's own code asks for something, told by file and function: lines move."""

import os
import sys

_OURS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_LIBRARIES = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)
_STANDARD = os.path.dirname(os.path.abspath(os.__file__))


def calling_function(depth=1):
    """`file.py:function` of the innermost frame that is the user's; empty without one."""
    frame = sys._getframe(depth)
    while frame is not None:
        if is_users(frame.f_code.co_filename):
            name = os.path.basename(frame.f_code.co_filename)
            return f"{name}:{frame.f_code.co_name}"
        frame = frame.f_back
    return ""


def is_users(name):
    """Whether a file is the user's: no library, nothing of Python, nothing of ours."""
    path = os.path.abspath(name)
    if name.startswith("<") or any(part in path for part in _LIBRARIES):
        return False
    return not path.startswith((_OURS + os.sep, _STANDARD + os.sep))
