"""Turns the TensorFlow 2.x that was just imported into the interface of 1.15, in place.

The module stays the one that TensorFlow made, so that its submodules can be imported as before;
its names become those of `tf.compat.v1`, and what 2.x does differently at run time is switched off.
"""

import importlib
import sys

from . import dimensions, modules, moved_names, own_view

# What scripts of the time compare with.
VERSION = "1.15.5"
# `tf.compat` of 2.x has what 1.15 has; that of `tf.compat.v1` is a copy cut short.
KEPT = ("compat",)


def become_tensorflow_1(tensorflow):
    """Make `tensorflow` the 1.x interface; a TensorFlow that is 1.x already stays as it is."""
    if int(tensorflow.__version__.split(".")[0]) < 2:
        return
    own_view.keep_for_libraries(tensorflow)
    version_1 = importlib.import_module("tensorflow.compat.v1")
    version_1.disable_v2_behavior()
    _overlay(tensorflow, version_1)
    dimensions.accept_whole_floats()
    modules.install(tensorflow)
    moved_names.restore(tensorflow)
    tensorflow.contrib = importlib.import_module("tensorflow.contrib")


def _overlay(tensorflow, version_1):
    for name in dir(version_1):
        if not name.startswith("_") and name not in KEPT:
            setattr(tensorflow, name, getattr(version_1, name))
    tensorflow.__version__ = tensorflow.VERSION = VERSION
    # `import tensorflow.train` finds the 1.x module, loaded or not.
    tensorflow.__path__ = list(version_1.__path__) + list(tensorflow.__path__)
    for prefix in ("tensorflow.compat.v1.", "tensorflow._api.v2.compat.v1."):
        for name, module in list(sys.modules.items()):
            short = name[len(prefix) :]
            if name.startswith(prefix) and short.split(".")[0] not in KEPT:
                sys.modules["tensorflow." + short] = module
