"""Finds an object by its place, written `module:name.of.it`."""

import importlib
import importlib.util
import sys

_NOTHING = object()


def exists(module_name):
    """Whether a module can be imported, as far as that can be told without loading it."""
    if module_name in sys.modules:
        return True
    try:
        return importlib.util.find_spec(module_name) is not None
    except ImportError:
        return False


def find(place, default=_NOTHING):
    """The object at `place`; `default` where this version of TensorFlow has no such place."""
    module_name, _, path = place.partition(":")
    if default is not _NOTHING and not exists(module_name):
        return default
    found = importlib.import_module(module_name)
    for part in filter(None, path.split(".")):
        found = getattr(found, part) if default is _NOTHING else getattr(found, part, _NOTHING)
        if found is _NOTHING:
            return default
    return found
