"""`tf.contrib`: each part is loaded when it is first asked for."""

import importlib


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(name)
    try:
        return importlib.import_module("tensorflow.contrib." + name)
    except ModuleNotFoundError as error:
        if error.name != "tensorflow.contrib." + name:
            raise
        raise AttributeError(f"`tf.contrib` has no `{name}`, in 1.15 neither") from None
