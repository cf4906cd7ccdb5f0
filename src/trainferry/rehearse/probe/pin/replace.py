"""Puts a function in the place of another wherever TensorFlow keeps it."""

import sys


def replace_everywhere(old, new):
    """TensorFlow has the same function under several names; scripts use any of them."""
    for name, module in list(sys.modules.items()):
        if not name.startswith("tensorflow") or module is None:
            continue
        for attribute, value in list(getattr(module, "__dict__", {}).items()):
            if value is old:
                setattr(module, attribute, new)
