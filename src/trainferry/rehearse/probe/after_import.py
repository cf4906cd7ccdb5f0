"""Calls a function when a module has been imported, before whoever asked for it goes on."""

import sys

_waiting = {}


def call_after_import(name, function):
    """Call `function` with the module `name` once it is loaded; at once if it already is."""
    if name in sys.modules:
        function(sys.modules[name])
        return
    _waiting.setdefault(name, []).append(function)
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


class _Finder:
    """Lets the other finders find a module, and puts its own loader around theirs."""

    def find_spec(self, name, path=None, target=None):
        if name not in _waiting:
            return None
        spec = find_elsewhere(self, name, path, target)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader:
    """Loads as the module's own loader does, gives the module back to it, then calls."""

    def __init__(self, loader):
        self._loader = loader

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        name = module.__spec__.name
        for function in _waiting.pop(name, ()):
            # A module may put another object in its place while it is loaded.
            function(sys.modules.get(name, module))


def find_elsewhere(finder, name, path, target):
    """What the finders other than `finder` find."""
    for other in sys.meta_path:
        if other is not finder and hasattr(other, "find_spec"):
            spec = other.find_spec(name, path, target)
            if spec is not None:
                return spec
    return None
