"""Lets TensorFlow 2.x find its Keras beside a script that is called `keras.py` itself.

Keras is a package of its own there, and is loaded late; in 1.15 it was a part of TensorFlow.
"""

import importlib.machinery
import os
import sys


def prefer_to_scripts():
    """Once TensorFlow 2.x is being loaded, `keras` is the one that is installed with it."""
    sys.meta_path.insert(0, _Finder())


class _Finder:
    def find_spec(self, name, path=None, target=None):
        if name != "keras" or "tensorflow._api.v2" not in sys.modules:
            return None
        tensorflow = os.path.abspath(sys.modules["tensorflow"].__file__)
        packages = os.path.dirname(os.path.dirname(tensorflow))
        return importlib.machinery.PathFinder.find_spec(name, [packages])
