"""Prepares the interpreter before the user's first line runs."""

import os

from . import watch
from .after_import import call_after_import
from .cpu_only import look_like_cpu_build
from .old_names import restore_old_names
from .originals import stand_in_for_missing
from .pin import pin
from .precision import emulate
from .record import record
from .tensorflow_1 import own_keras
from .tensorflow_1.become import become_tensorflow_1


def begin():
    """Put in place what has to happen when the user's script imports a package."""
    restore_old_names()
    stand_in_for_missing()
    own_keras.prefer_to_scripts()
    call_after_import("tensorflow", become_tensorflow_1)
    call_after_import("tensorflow", look_like_cpu_build)
    if os.environ.get(watch.VARIABLE):
        settings = watch.settings()
        pin(settings)
        call_after_import("tensorflow", watch.install)
        record(settings)
        emulate(settings)
