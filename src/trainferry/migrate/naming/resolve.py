"""Follows a name through bindings, imports and re-exports to the library it comes from."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from trainferry.migrate.naming.answers import Answers, Question
from trainferry.migrate.naming.expressions import is_getattr, only_string, split_attributes
from trainferry.migrate.naming.file_scopes import FileScopes
from trainferry.migrate.naming.imported import Imported, module_of
from trainferry.migrate.naming.modules import Own, Place
from trainferry.migrate.naming.scopes import Binding, ImportedModule, ImportedName, Scope, Star
from trainferry.migrate.naming.stars import Exporter, find_exporters, may_be_hidden
from trainferry.migrate.naming.targets import Mark, Target, agreed, agreed_places


class Resolver:
    """Answers what expressions of a project's files stand for."""

    def __init__(self, files: Mapping[PurePosixPath, FileScopes], folder: str) -> None:
        self._imported = Imported(files, folder)
        self._answers = Answers(self._all_bound)
        self._found: dict[Question, Target] = {}

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

    def possible_values(self, node: ast.expr, scope: Scope) -> list[Target]:
        """Tell what a name with attributes stands for, binding by binding of the name."""
        start, attributes = split_attributes(node)
        if not isinstance(start, ast.Name):
            return []
        home = self._home(start.id, scope)
        targets = [self._target(one, home) for one in home.bindings.get(start.id, ())]
        for attribute in attributes:
            targets = [self._member(target, attribute) for target in targets]
        return targets

    def is_bound(self, name: str, scope: Scope) -> bool:
        """Whether a scope binds a name itself, or by a star import that is known."""
        if name in scope.bindings:
            return True
        return self._bound(name, scope) not in (Mark.ABSENT, Mark.MAYBE)

    def own_modules(self, parts: Place, level: int, path: PurePosixPath) -> tuple[Place, ...]:
        """The project's modules that `from ..parts import` or `import parts` can mean."""
        found = self._imported.own.find(parts, level, path)
        return found.places if isinstance(found, Own) else ()

    def is_own_module(self, place: Place) -> bool:
        return self._imported.own.has(place)

    def own_path(self, place: Place) -> PurePosixPath | None:
        return self._imported.own.file_at(place)

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Target:
        start, attributes = split_attributes(node)
        target = self.value(start, scope)
        for attribute in attributes:
            target = self._member(target, attribute)
        return target

    def _returned(self, call: ast.Call, scope: Scope) -> Target:
        """What the calls that look something up by a written name return."""
        if is_getattr(call):
            return self._from_getattr(call, scope)
        module = only_string(call)
        if module is None:
            return None
        if isinstance(call.func, ast.Name) and call.func.id == "__import__":
            is_known = "." not in module and self._is_built_in("__import__", scope)
        else:
            is_absolute = not module.startswith(".")
            is_known = is_absolute and self.value(call.func, scope) == "importlib.import_module"
        return self._imported.module(tuple(module.split(".")), 0, scope) if is_known else None

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

    def _look_up(self, name: str, start: Scope) -> Target:
        key = (start, name)
        if key in self._found:
            return self._found[key]
        cycles_before = self._answers.cycles_met
        scope = self._home(name, start)
        target = self._bound(name, scope)
        if scope.kind == "class":
            target = self._in_class(name, scope, target)
        if self._answers.are_final(cycles_before):
            self._found[key] = target
        return target

    def _home(self, name: str, start: Scope) -> Scope:
        """The scope that a name belongs to."""
        scope = start
        while scope.parent is not None:
            if scope.kind != "class" or scope is start:
                if name in scope.module_names:
                    return module_of(scope)
                if name in scope.bindings:
                    return scope
                if self._bound(name, scope) is not Mark.ABSENT:  # a star import, in Python 2
                    return scope
            scope = scope.parent
        return scope

    def _in_class(self, name: str, scope: Scope, target: Target) -> Target:
        """Before a class binds a name, its body sees the module's."""
        outside = self._bound(name, module_of(scope))
        return target if outside in (Mark.ABSENT, Mark.MAYBE) else agreed([target, outside])

    # Bindings of one scope.

    def _bound(self, name: str, scope: Scope) -> Target:
        bound = scope.bindings.get(name)
        if bound is not None and None in bound:
            return None
        if bound is None and not scope.stars:
            return Mark.ABSENT
        return self._answers.ask((scope, name))

    def _all_bound(self, question: Question) -> Target:
        scope, name = question
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
        if targets:
            target = agreed(targets)
            return None if last_maybe and may_be_hidden(target, bound, last_maybe) else target
        if name in scope.bindings:
            return None
        return Mark.MAYBE if last_maybe else Mark.ABSENT

    def _target(self, binding: Binding | None, scope: Scope) -> Target:
        if binding is None:
            return None
        if isinstance(binding, ImportedModule):
            return self._imported.bound_by(binding, scope)
        if isinstance(binding, ImportedName):
            module = self._imported.module(binding.parts, binding.level, scope)
            return self._member(module, binding.name)
        return self.value(binding.value, binding.scope)

    def _from_star(self, star: Star, scope: Scope, name: str, seen: set[Place]) -> Iterator[Target]:
        """Give all that a star import can bring under a name."""
        for found in find_exporters(star, scope, name, self._imported, seen):
            if not isinstance(found, Exporter):
                yield found
            elif not found.file.exports_are_known:
                yield Mark.MAYBE
            elif self._imported.own.has((*found.place, name)):
                yield self._own_member(found.place, name)
            else:
                for binding in found.file.module.bindings.get(name, ()):
                    yield self._target(binding, found.file.module)

    # Members of modules.

    def _member(self, target: Target, name: str) -> Target:
        if isinstance(target, str):
            # What is in FLAGS is the project's own.
            return None if target.endswith(".flags.FLAGS") else f"{target}.{name}"
        if isinstance(target, Own):
            return agreed_places(target.places, lambda place: self._own_member(place, name))
        return target

    def _own_member(self, place: Place, name: str) -> Target:
        part = (*place, name)
        file = self._imported.file(place)
        target = Mark.ABSENT if file is None else self._bound(name, file.module)
        if not self._imported.own.has(part):
            return None if target in (Mark.ABSENT, Mark.MAYBE) else target
        # A package's own `net` and its file net.py: Python may give either.
        own = Own((part,))
        return own if target in (Mark.ABSENT, Mark.CYCLE, own) else None
