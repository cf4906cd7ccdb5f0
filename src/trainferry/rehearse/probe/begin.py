"""Prepares the interpreter before the user's first line runs."""

from .after_import import call_after_import
from .cpu_only import look_like_cpu_build
from .old_names import restore_old_names
from .tensorflow_1.become import become_tensorflow_1


def begin():
    """Put in place what has to happen when the user's script imports a package."""
    restore_old_names()
    call_after_import("tensorflow", become_tensorflow_1)
    call_after_import("tensorflow", look_like_cpu_build)
