"""Notes where the script starts the device and where it gives it back."""

import functools

from ..after_import import call_after_import
from .facts_file import write_fact
from .places import user_line

_BRIDGE = "npu_bridge.estimator.npu."


def install():
    """Listen to the functions of the bridge; its operators are seen in the runs."""
    call_after_import(_BRIDGE + "npu_plugin", _listen_to_functions)
    call_after_import(_BRIDGE + "npu_hook", _listen_to_hook)


def note_run(run):
    """Tell of a run that starts or ends the device."""
    if run.starts_device:
        write_fact("init", place=user_line())
    if run.ends_device:
        write_fact("shutdown", place=user_line())


def _listen_to_functions(module):
    module.npu_resource_init = _telling(module.npu_resource_init, "init")
    module.npu_resource_shutdown = _telling(module.npu_resource_shutdown, "shutdown")
    module.npu_close = _telling(module.npu_close, "shutdown")


def _listen_to_hook(module):
    """An estimator of the NPU starts and ends the device through a hook."""
    hook = module.NPUShutDownHook
    hook.__init__ = _telling(hook.__init__, "init")
    hook.end = _telling(hook.end, "shutdown")


def _telling(original, kind):
    @functools.wraps(original)
    def told(*args, **kwargs):
        place = user_line()
        if place:  # the interpreter also calls some of them when it ends
            write_fact(kind, place=place)
        return original(*args, **kwargs)

    return told
