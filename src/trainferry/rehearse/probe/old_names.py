"""Gives back names that projects of 2019 use and later Python, NumPy and absl removed."""

import builtins
import collections
import collections.abc
import importlib
import importlib.util
import sys
import time

from .after_import import call_after_import

# Removed in NumPy 1.24: other names of the types that Python has.
NUMPY_TYPES = ("bool", "int", "float", "complex", "object", "str")
# Removed in Python 3.9, where the plain name is the fast one.
MOVED_MODULES = {"xml.etree.cElementTree": "xml.etree.ElementTree"}


def restore_old_names():
    """Add what is missing, now or when its module is imported; replace nothing."""
    _add(time, "clock", time.perf_counter)
    for name in collections.abc.__all__:
        _add(collections, name, getattr(collections.abc, name))
    call_after_import("inspect", _restore_inspect)
    call_after_import("numpy", _restore_numpy)
    call_after_import("absl.flags", _restore_absl)
    if sys.version_info >= (3, 9):
        sys.meta_path.append(_MovedModules())


def _add(module, name, value):
    if name not in vars(module):
        setattr(module, name, value)


def _restore_inspect(inspect):
    specification = collections.namedtuple("ArgSpec", "args varargs keywords defaults")

    def getargspec(function):
        full = inspect.getfullargspec(function)
        if full.kwonlyargs or full.annotations:
            raise ValueError("Function has keyword-only parameters or annotations")
        return specification(*full[:4])

    _add(inspect, "ArgSpec", specification)
    _add(inspect, "getargspec", getargspec)


def _restore_numpy(numpy):
    for name in NUMPY_TYPES:
        _add(numpy, name, getattr(builtins, name))
    _add(numpy, "long", int)
    _add(numpy, "unicode", str)
    _add(numpy, "asscalar", lambda value: value.item())


def _restore_absl(flags):
    """Accept `enum_values="a', 'b"`, a slip that absl before 0.12 did not mind."""
    define = flags.DEFINE_enum

    def define_enum(name, default, enum_values, *others, **options):
        if isinstance(enum_values, str):
            enum_values = [value.strip("' ") for value in enum_values.split(",")]
        return define(name, default, enum_values, *others, **options)

    flags.DEFINE_enum = define_enum
    # absl asks which module defines a flag; it has to look past this one.
    flags.disclaim_key_flags()


class _MovedModules:
    """Finds a module under the name it had."""

    def find_spec(self, name, path=None, target=None):
        if name not in MOVED_MODULES:
            return None
        return importlib.util.spec_from_loader(name, self)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        name = module.__spec__.name
        sys.modules[name] = importlib.import_module(MOVED_MODULES[name])
