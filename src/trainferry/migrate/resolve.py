"""Follows a name through bindings, imports and re-exports to the library it comes from."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from trainferry.migrate.library import ADAPTER, canonical_name, star_names
from trainferry.migrate.modules import Own, OwnModules, Place
from trainferry.migrate.scan import is_getattr
from trainferry.migrate.scopes import (
    Binding,
    FileScopes,
    ImportedModule,
    ImportedName,
    Scope,
    Star,
)
from trainferry.migrate.targets import Mark, Target, agreed, agreed_places

# More than people write: longer chains of aliases, and modules that import each other in more
# ways, are given up.
_LONGEST_CHAIN = 60
_MOST_STEPS = 300


class Resolver:
    """Answers what expressions of a project's files stand for."""

    def __init__(self, files: Mapping[PurePosixPath, FileScopes], folder: str) -> None:
        self._own = OwnModules(files, folder)
        self._files = files
        self._path_of = {file.module: path for path, file in files.items()}
        self._known: dict[tuple[Scope, str], Target] = {}
        self._found: dict[tuple[Scope, str], Target] = {}
        self._asked: dict[tuple[Scope, str], None] = {}
        self._cycles_met = 0
        self._assumptions = 0
        self._steps = 0

    def value(self, node: ast.expr, scope: Scope) -> Target:
        """Tell what an expression in `scope` stands for."""
        if isinstance(node, ast.Attribute):
            return self._attribute(node, scope)
        if isinstance(node, ast.Name):
            target = self._look_up(node.id, scope)
            return None if target in (Mark.ABSENT, Mark.MAYBE) else target
        if isinstance(node, ast.Call):
            return self._returned(node, scope)
        if isinstance(node, ast.IfExp):
            return agreed([self.value(node.body, scope), self.value(node.orelse, scope)])
        return self.value(node.value, scope) if isinstance(node, ast.NamedExpr) else None

    def is_bound(self, name: str, scope: Scope) -> bool:
        """Whether a scope binds a name itself, or by a star import that is known."""
        if name in scope.bindings:
            return True
        return self._bound(name, scope) not in (Mark.ABSENT, Mark.MAYBE)

    def own_modules(self, parts: Place, level: int, path: PurePosixPath) -> tuple[Place, ...]:
        """The project's modules that `from ..parts import` or `import parts` can mean."""
        if level:
            found: Own | str | None = self._own.find_relative(parts, level, path)
        else:
            found = self._own.find_absolute(parts, path)
        return found.places if isinstance(found, Own) else ()

    def is_own_module(self, place: Place) -> bool:
        return self._own.has(place)

    def own_path(self, place: Place) -> PurePosixPath | None:
        return self._own.file_at(place)

    def possible_values(self, node: ast.expr, scope: Scope) -> list[Target]:
        """Tell what a name with attributes stands for, binding by binding of the name."""
        attributes: list[str] = []
        while isinstance(node, ast.Attribute):
            attributes.insert(0, node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return []
        home = self._home(node.id, scope)
        targets = [self._target(one, home) for one in home.bindings.get(node.id, ())]
        for attribute in attributes:
            targets = [self._member(target, attribute) for target in targets]
        return targets

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Target:
        attributes = [node.attr]
        start = node.value
        while isinstance(start, ast.Attribute):
            attributes.append(start.attr)
            start = start.value
        target = self.value(start, scope)
        for attribute in reversed(attributes):
            target = self._member(target, attribute)
        return target

    def _returned(self, call: ast.Call, scope: Scope) -> Target:
        """What the calls that look something up by a written name return."""
        if is_getattr(call):
            return self._from_getattr(call, scope)
        module = _only_string(call)
        if module is None:
            return None
        if isinstance(call.func, ast.Name) and call.func.id == "__import__":
            is_known = "." not in module and self._is_built_in("__import__", scope)
        else:
            is_absolute = not module.startswith(".")
            is_known = is_absolute and self.value(call.func, scope) == "importlib.import_module"
        parts = tuple(module.split("."))
        return self._own.find_absolute(parts, self._path(scope)) if is_known else None

    def _from_getattr(self, call: ast.Call, scope: Scope) -> Target:
        default = call.args[2] if len(call.args) == 3 else ast.Constant(None)
        is_none = isinstance(default, ast.Constant) and default.value is None
        if not (is_none and self._is_built_in("getattr", scope)):
            return None
        attribute = call.args[1]
        assert isinstance(attribute, ast.Constant)
        return self._member(self.value(call.args[0], scope), str(attribute.value))

    def _is_built_in(self, name: str, scope: Scope) -> bool:
        return self._look_up(name, scope) is Mark.ABSENT

    # Scopes: which of them a name belongs to.

    def _look_up(self, name: str, scope: Scope) -> Target:
        key = (scope, name)
        if key in self._found:
            return self._found[key]
        cycles_met = self._cycles_met
        target = self._in_scopes(name, scope)
        if self._cycles_met == cycles_met and not self._assumptions:
            self._found[key] = target
        return target

    def _in_scopes(self, name: str, start: Scope) -> Target:
        scope = self._home(name, start)
        target = self._bound(name, scope)
        return self._in_class(name, scope, target) if scope.kind == "class" else target

    def _home(self, name: str, start: Scope) -> Scope:
        """The scope that a name belongs to."""
        scope = start
        while scope.parent is not None:
            if scope.kind != "class" or scope is start:
                if name in scope.module_names:
                    return _module_of(scope)
                if name in scope.bindings:
                    return scope
                if self._bound(name, scope) is not Mark.ABSENT:  # a star import, in Python 2
                    return scope
            scope = scope.parent
        return scope

    def _in_class(self, name: str, scope: Scope, target: Target) -> Target:
        """Before a class binds a name, its body sees the module's."""
        outside = self._bound(name, _module_of(scope))
        return target if outside in (Mark.ABSENT, Mark.MAYBE) else agreed([target, outside])

    # Bindings of one scope.

    def _bound(self, name: str, scope: Scope) -> Target:
        bound = scope.bindings.get(name)
        if bound is not None and None in bound:
            return None
        if bound is None and not scope.stars:
            return Mark.ABSENT
        key = (scope, name)
        if key in self._known:
            return self._known[key]
        return self._ask(key)

    def _ask(self, key: tuple[Scope, str]) -> Target:
        self._steps = self._steps + 1 if self._asked else 0
        is_given_up = len(self._asked) >= _LONGEST_CHAIN or self._steps >= _MOST_STEPS
        if key in self._asked or is_given_up:
            self._cycles_met += 1  # so that nobody on the way remembers the answer
            return None if is_given_up else Mark.CYCLE
        self._asked[key] = None
        cycles_met = self._cycles_met
        try:
            target = self._all_bound(key)
            has_cycle = self._cycles_met != cycles_met
            if has_cycle:
                target = self._checked(key, target)
        finally:
            del self._asked[key]
        if not self._assumptions and (not has_cycle or not self._asked):
            self._known[key] = target
        return target

    def _checked(self, key: tuple[Scope, str], target: Target) -> Target:
        """Check an answer that was found without what it adds to itself.

        `tf = tf.compat.v1` says that `tf` is what `tf` is; `tf = tf.keras` does not.
        """
        if isinstance(target, Mark):
            return target if target is not Mark.CYCLE or len(self._asked) > 1 else None
        self._known[key] = target
        self._assumptions += 1
        try:
            again = self._all_bound(key)
        finally:
            self._assumptions -= 1
            del self._known[key]
        return agreed([target, again])

    def _all_bound(self, key: tuple[Scope, str]) -> Target:
        scope, name = key
        bound = scope.bindings.get(name, ())
        targets = [self._target(binding, scope) for binding in bound]
        last_maybe = 0
        seen: set[Place] = set()
        for star in sorted(scope.stars, key=lambda star: -star.line):
            for target in self._from_star(star, scope, name, seen):
                if target is Mark.MAYBE:
                    last_maybe = max(last_maybe, star.line)
                elif target not in (Mark.ABSENT, Mark.CYCLE):
                    targets.append(target)
        if not targets:
            return _without_target(name in scope.bindings, last_maybe > 0)
        target = agreed(targets)
        return None if last_maybe and self._may_be_hidden(target, bound, last_maybe) else target

    def _may_be_hidden(
        self, target: Target, bound: tuple[Binding | None, ...], star_line: int
    ) -> bool:
        """Whether a star import that is not known may have put another thing in the place.

        Nobody means `tf` by `from keras.layers import *`, or a name of the adapter; but `layers`,
        imported before, may be hidden by `from keras import *`.
        """
        if isinstance(target, str) and canonical_name(target) == "tf":
            return False
        if isinstance(target, str) and target.partition(".")[0] in ADAPTER:
            return False
        return not bound or not all(
            binding and (isinstance(binding, ImportedModule) or binding.line > star_line)
            for binding in bound
        )

    def _target(self, binding: Binding | None, scope: Scope) -> Target:
        if binding is None:
            return None
        if isinstance(binding, ImportedModule):
            return self._imported(binding, self._path(scope))
        if isinstance(binding, ImportedName):
            module = self._module(binding.parts, binding.level, scope)
            return self._member(module, binding.name)
        return self.value(binding.value, binding.scope)

    # Modules.

    def _imported(self, binding: ImportedModule, path: PurePosixPath) -> Target:
        module = self._own.find_absolute(binding.parts, path)
        dropped = len(binding.parts) - binding.keeps
        if isinstance(module, Own) and dropped:
            return Own(tuple(dict.fromkeys(place[:-dropped] for place in module.places)))
        if isinstance(module, str):
            return ".".join(binding.parts[: binding.keeps])
        return module

    def _module(self, parts: Place, level: int, scope: Scope) -> Own | str | None:
        path = self._path(scope)
        if level:
            return self._own.find_relative(parts, level, path)
        return self._own.find_absolute(parts, path)

    def _path(self, scope: Scope) -> PurePosixPath:
        return self._path_of[_module_of(scope)]

    def _member(self, target: Target, name: str) -> Target:
        if isinstance(target, str):
            # What is in FLAGS is the project's own.
            return None if target.endswith(".flags.FLAGS") else f"{target}.{name}"
        if isinstance(target, Own):
            return agreed_places(target.places, lambda place: self._own_member(place, name))
        return target

    def _own_member(self, place: Place, name: str) -> Target:
        part = (*place, name)
        file = self._file(place)
        target = Mark.ABSENT if file is None else self._bound(name, file.module)
        if not self._own.has(part):
            return None if target in (Mark.ABSENT, Mark.MAYBE) else target
        # A package's own `net` and its file net.py: Python may give either.
        own = Own((part,))
        return own if target in (Mark.ABSENT, Mark.CYCLE, own) else None

    def _file(self, place: Place) -> FileScopes | None:
        path = self._own.file_at(place)
        return None if path is None else self._files[path]

    # Star imports.

    def _from_star(self, star: Star, scope: Scope, name: str, seen: set[Place]) -> Iterator[Target]:
        """Give all that a star import can bring under a name, through further ones as well."""
        todo = [(star, scope)]
        while todo:
            star, scope = todo.pop()
            module = self._module(star.parts, star.level, scope)
            if isinstance(module, Own):
                for place in module.places:
                    file = self._file(place)
                    if file is not None and place not in seen and _may_export(file, name):
                        todo += [(further, file.module) for further in file.module.stars]
                        yield from self._exported(place, file, name)
                    seen.add(place)
            else:
                yield _from_library_star(module, name)

    def _exported(self, place: Place, file: FileScopes, name: str) -> Iterator[Target]:
        if not file.exports_are_known:
            yield Mark.MAYBE
        elif self._own.has((*place, name)):
            yield self._own_member(place, name)
        else:
            for binding in file.module.bindings.get(name, ()):
                yield self._target(binding, file.module)


def _may_export(file: FileScopes, name: str) -> bool:
    if not file.exports_are_known:
        return True
    return name[0] != "_" if file.exported is None else name in file.exported


def _from_library_star(module: str | None, name: str) -> Target:
    known = None if module is None else star_names(module)
    return Mark.MAYBE if known is None else known.get(name, Mark.ABSENT)


def _without_target(is_bound: bool, may_come_from_star: bool) -> Target:
    if is_bound:
        return None
    return Mark.MAYBE if may_come_from_star else Mark.ABSENT


def _only_string(call: ast.Call) -> str | None:
    """The argument of a call that has just one, a text in quotes."""
    if len(call.args) != 1 or call.keywords or not isinstance(call.args[0], ast.Constant):
        return None
    value = call.args[0].value
    return value if isinstance(value, str) else None


def _module_of(scope: Scope) -> Scope:
    while scope.parent is not None:
        scope = scope.parent
    return scope
