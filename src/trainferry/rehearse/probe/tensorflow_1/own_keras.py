"""Lets TensorFlow 2.x find its Keras beside a script that is called `keras.py` itself.

Keras is a package of its own there, and is loaded late; in 1.15 it was a part of TensorFlow.
"""

import importlib
import importlib.machinery
import os
import sys


def load_if_hidden(tensorflow):
    """Load Keras from where `tensorflow` is installed, if a module of the user would be taken."""
    packages = os.path.dirname(os.path.dirname(os.path.abspath(tensorflow.__file__)))
    own = importlib.machinery.PathFinder.find_spec("keras", [packages])
    taken = importlib.machinery.PathFinder.find_spec("keras")
    if "keras" in sys.modules or own is None or taken.origin == own.origin:
        return
    sys.path.insert(0, packages)
    try:
        importlib.import_module("keras")
    finally:
        sys.path.remove(packages)
