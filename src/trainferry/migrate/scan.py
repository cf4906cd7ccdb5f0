"""One pass over a file: its scopes, what each binds, and the names and calls that use them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeAlias, TypeVar

from trainferry.migrate.scopes import (
    Assigned,
    FileScopes,
    ImportedModule,
    ImportedName,
    Scope,
    Star,
    Use,
)


def scan_scopes(tree: ast.Module, *, list_variables_leak: bool) -> FileScopes:
    """Scan a file; in Python 2 the variable of a list comprehension belongs to the function."""
    return _Scan(list_variables_leak).run(tree)


def first_name(expression: ast.expr) -> ast.Name | None:
    """Give the name that an expression like `a.b.c` or `getattr(a, "b").c` starts with."""
    node = expression
    while True:
        if isinstance(node, ast.Name):
            return node
        if isinstance(node, ast.Attribute):
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.args[0] if is_getattr(node) else node.func
        else:
            return None


def is_getattr(node: ast.Call) -> bool:
    """Whether it is `getattr(x, "name")`, a default allowed."""
    return (
        isinstance(node.func, ast.Name)
        and node.func.id == "getattr"
        and len(node.args) in (2, 3)
        and not node.keywords
        and isinstance(node.args[1], ast.Constant)
        and isinstance(node.args[1].value, str)
    )


_LEAVES = frozenset(["ctx", "op", "ops", "type_ignores", "type_comment", "simple", "is_async"])
_PARTS: dict[type[ast.AST], tuple[str, ...]] = {}
_DYNAMIC = frozenset(["getattr", "import_module", "__import__"])


class _Scan:
    def __init__(self, list_variables_leak: bool) -> None:
        self.module = Scope("module", None)
        self.scopes = [self.module]
        self.uses: list[Use] = []
        self.calls: list[ast.Call] = []
        self.functions: list[ast.FunctionDef | ast.AsyncFunctionDef] = []
        self.classes: list[ast.ClassDef] = []
        self.imports: list[ast.Import | ast.ImportFrom] = []
        self.stores: list[ast.Assign | ast.AugAssign | ast.AnnAssign] = []
        self.exported: set[str] | None = None
        self.exports_are_set = False
        self.exports_are_known = True
        # A stack instead of recursion: generated code nests deeper than Python allows.
        self.todo: list[tuple[ast.AST, Scope]] = []
        self.handlers = dict(_HANDLERS)
        if list_variables_leak:
            del self.handlers[ast.ListComp]

    def run(self, tree: ast.Module) -> FileScopes:
        todo, handlers = self.todo, self.handlers
        todo.append((tree, self.module))
        while todo:
            node, scope = todo.pop()
            handler = handlers.get(type(node))
            if handler is None:
                self.visit_parts(node, scope)
            else:
                handler(self, node, scope)
        self.move_declared_names()
        return self.result()

    def result(self) -> FileScopes:
        libraries = {
            name
            for scope in self.scopes
            for name, bound in scope.bindings.items()
            if bound not in ((), (None,))
        }
        has_star = any(scope.stars for scope in self.scopes)

        def may_be_library(name: ast.Name | None) -> bool:
            return name is not None and (has_star or name.id in libraries or name.id in _DYNAMIC)

        uses = [use for use in self.uses if may_be_library(use.name)]
        uses.sort(key=lambda use: (use.expression.lineno, use.expression.col_offset))
        calls = [call for call in self.calls if may_be_library(first_name(call.func))]
        calls.sort(key=lambda call: (call.lineno, call.col_offset))
        return FileScopes(
            module=self.module,
            uses=tuple(uses),
            calls=tuple(calls),
            scope_of={use.name: use.scope for use in uses},
            exported=None if self.exported is None else frozenset(self.exported),
            exports_are_known=self.exports_are_known,
            scopes=tuple(self.scopes),
            attribute_calls=_by_attribute(self.calls),
            name_calls=_by_name(self.calls),
            all_uses=tuple(self.uses),
            functions=_in_order(self.functions),
            classes=_in_order(self.classes),
            imports=_in_order(self.imports),
            stores=_in_order(self.stores),
        )

    def move_declared_names(self) -> None:
        """`global` and `nonlocal` give a function's bindings to another scope."""
        for scope in self.scopes:
            for name in scope.module_names | scope.outer_names:
                if name not in scope.bindings:
                    continue
                bound = scope.bindings.pop(name)
                owner = self.module if name in scope.module_names else _owner(scope, name)
                owner.own(name)
                for binding in bound:
                    owner.bind(name, binding)

    def visit_parts(self, node: ast.AST, scope: Scope) -> None:
        kind = type(node)
        parts = _PARTS.get(kind)
        if parts is None:
            parts = tuple(field for field in kind._fields if field not in _LEAVES)
            _PARTS[kind] = parts
        todo = self.todo
        for part in parts:
            value = getattr(node, part, None)
            if isinstance(value, list):
                todo.extend([(item, scope) for item in value if isinstance(item, ast.AST)])
            elif isinstance(value, ast.AST):
                todo.append((value, scope))

    def visit_all(self, nodes: Iterable[ast.AST | None], scope: Scope) -> None:
        self.todo.extend([(node, scope) for node in nodes if node is not None])

    def enter(self, kind: Literal["class", "function", "comprehension"], parent: Scope) -> Scope:
        scope = Scope(kind, parent)
        self.scopes.append(scope)
        return scope

    def visit_leaf(self, _node: ast.AST, _scope: Scope) -> None:
        pass

    # Names, attributes, calls.

    def visit_name(self, node: ast.Name, scope: Scope) -> None:
        context = type(node.ctx)
        if context is ast.Load:
            self.uses.append(Use(node, node, scope))
        elif context is ast.Store:
            scope.bind(node.id, None)
        else:
            scope.own(node.id)

    def visit_attribute(self, node: ast.Attribute, scope: Scope) -> None:
        value = node.value
        while type(value) is ast.Attribute:
            value = value.value
        if type(value) is ast.Name:
            self.uses.append(Use(node, value, scope))
        elif type(value) is ast.Call and is_getattr(value):
            self.add_call(value, node, scope)
        else:
            self.todo.append((value, scope))

    def visit_call(self, node: ast.Call, scope: Scope) -> None:
        self.add_call(node, node, scope)

    def add_call(self, node: ast.Call, outermost: ast.expr, scope: Scope) -> None:
        self.calls.append(node)
        todo = self.todo
        todo.append((node.func, scope))
        arguments = node.args
        if is_getattr(node):
            name = first_name(node)
            if name is not None and _is_plain(arguments[0]):
                self.uses.append(Use(outermost, name, scope))
                arguments = arguments[1:]
        todo.extend([(argument, scope) for argument in arguments])
        todo.extend([(keyword.value, scope) for keyword in node.keywords])

    # Statements that bind.

    def visit_assign(self, node: ast.Assign, scope: Scope) -> None:
        if any(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets):
            self.stores.append(node)
        for target in node.targets:
            self.bind_target(target, node.value, scope)
            if scope is self.module:
                self.note_exports(target, node.value, adds=False)
        self.todo.append((node.value, scope))

    def bind_target(self, target: ast.expr, value: ast.expr, scope: Scope) -> None:
        if isinstance(target, ast.Name):
            if isinstance(value, ast.Constant) and value.value is None:
                # Nothing can be called or looked up on None: where the name is used, it is
                # what the other binding says (`except ImportError: hvd = None`).
                scope.own(target.id)
            else:
                may_be = _may_be_library(value)
                scope.bind(target.id, Assigned(value, scope, target.lineno) if may_be else None)
        elif (
            isinstance(target, ast.Tuple | ast.List)
            and isinstance(value, ast.Tuple | ast.List)
            and len(target.elts) == len(value.elts)
            and not any(isinstance(part, ast.Starred) for part in target.elts + value.elts)
        ):
            for part, part_value in zip(target.elts, value.elts, strict=True):
                self.bind_target(part, part_value, scope)
        else:
            self.todo.append((target, scope))

    def visit_annotated(self, node: ast.AnnAssign, scope: Scope) -> None:
        if isinstance(node.target, ast.Attribute | ast.Subscript):
            self.stores.append(node)
        if node.value is not None:
            self.bind_target(node.target, node.value, scope)
            if scope is self.module:
                self.note_exports(node.target, node.value, adds=False)
        elif isinstance(node.target, ast.Name):
            scope.own(node.target.id)
        else:
            self.todo.append((node.target, scope))
        self.visit_all([node.annotation, node.value], scope)

    def visit_augmented(self, node: ast.AugAssign, scope: Scope) -> None:
        if isinstance(node.target, ast.Attribute | ast.Subscript):
            self.stores.append(node)
        if scope is self.module:
            self.note_exports(node.target, node.value, adds=True)
        self.visit_all([node.target, node.value], scope)

    def visit_walrus(self, node: ast.NamedExpr, scope: Scope) -> None:
        owner = scope
        while owner.kind == "comprehension" and owner.parent is not None:
            owner = owner.parent
        may_be = _may_be_library(node.value)
        owner.bind(node.target.id, Assigned(node.value, scope, node.lineno) if may_be else None)
        self.todo.append((node.value, scope))

    def visit_import(self, node: ast.Import, scope: Scope) -> None:
        self.imports.append(node)
        for alias in node.names:
            parts = tuple(alias.name.split("."))
            if alias.asname:
                scope.bind(alias.asname, ImportedModule(parts, len(parts), node.lineno))
            else:
                scope.bind(parts[0], ImportedModule(parts, 1, node.lineno))

    def visit_import_from(self, node: ast.ImportFrom, scope: Scope) -> None:
        self.imports.append(node)
        parts = tuple(node.module.split(".")) if node.module else ()
        for alias in node.names:
            if alias.name == "*":
                scope.stars.append(Star(parts, node.level, node.lineno))
            elif parts != ("__future__",):
                imported = ImportedName(parts, node.level, alias.name, node.lineno)
                scope.bind(alias.asname or alias.name, imported)

    def visit_handler(self, node: ast.ExceptHandler, scope: Scope) -> None:
        if node.name:
            scope.bind(node.name, None)
        self.visit_parts(node, scope)

    def visit_pattern(
        self, node: ast.MatchAs | ast.MatchStar | ast.MatchMapping, scope: Scope
    ) -> None:
        name = node.rest if isinstance(node, ast.MatchMapping) else node.name
        if name:
            scope.bind(name, None)
        self.visit_parts(node, scope)

    def visit_global(self, node: ast.Global, scope: Scope) -> None:
        if scope is not self.module:
            scope.module_names |= set(node.names)

    def visit_nonlocal(self, node: ast.Nonlocal, scope: Scope) -> None:
        scope.outer_names |= set(node.names)

    # Scopes.

    def visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        self.functions.append(node)
        scope.bind(node.name, None)
        self.visit_all(node.decorator_list, scope)
        scope = self.enter_type_parameters(node, scope)
        inner = self.enter_parameters(node.args, scope)
        self.visit_all([node.returns], scope)
        self.visit_all(node.body, inner)

    def visit_lambda(self, node: ast.Lambda, scope: Scope) -> None:
        self.todo.append((node.body, self.enter_parameters(node.args, scope)))

    def enter_parameters(self, arguments: ast.arguments, scope: Scope) -> Scope:
        inner = self.enter("function", scope)
        parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        parameters += [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
        for parameter in parameters:
            inner.bind(parameter.arg, None)
        # Defaults and annotations are evaluated outside the function.
        self.visit_all([parameter.annotation for parameter in parameters], scope)
        self.visit_all([*arguments.defaults, *arguments.kw_defaults], scope)
        return inner

    def visit_class(self, node: ast.ClassDef, scope: Scope) -> None:
        self.classes.append(node)
        scope.bind(node.name, None)
        self.visit_all(node.decorator_list, scope)
        scope = self.enter_type_parameters(node, scope)
        self.visit_all([*node.bases, *node.keywords], scope)
        self.visit_all(node.body, self.enter("class", scope))

    def enter_type_parameters(self, node: ast.AST, scope: Scope) -> Scope:
        parameters: list[ast.AST] = getattr(node, "type_params", [])  # Python 3.12
        if not parameters:
            return scope
        inner = self.enter("function", scope)
        for parameter in parameters:
            inner.bind(getattr(parameter, "name", ""), None)
        self.visit_all(parameters, inner)
        return inner

    def visit_comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, scope: Scope
    ) -> None:
        inner = self.enter("comprehension", scope)
        first, *others = node.generators
        # The first iterable is evaluated outside; a class is visible there and not further in.
        self.todo.append((first.iter, scope))
        self.visit_all([first.target, *first.ifs, *others], inner)
        results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self.visit_all(results, inner)

    # `__all__`.

    def visit_statement(self, node: ast.Expr, scope: Scope) -> None:
        value = node.value
        if (
            scope is self.module
            and isinstance(value, ast.Call)
            and isinstance(value.func, ast.Attribute)
        ):
            adds_many = value.func.attr == "extend" and len(value.args) == 1
            added = value.args[0] if adds_many else ast.List(elts=value.args, ctx=ast.Load())
            if value.func.attr in ("extend", "append"):
                self.note_exports(value.func.value, added, adds=True)
        self.todo.append((value, scope))

    def note_exports(self, target: ast.expr, value: ast.expr, *, adds: bool) -> None:
        if not (isinstance(target, ast.Name) and target.id == "__all__"):
            return
        names = _strings(value)
        if names is None or (self.exports_are_set and not adds):
            self.exports_are_known = False
        self.exports_are_set = self.exports_are_set or not adds
        self.exported = (self.exported or set()) | (names or set())


_Statement = TypeVar("_Statement", bound=ast.stmt)


def _in_order(statements: list[_Statement]) -> tuple[_Statement, ...]:
    return tuple(sorted(statements, key=lambda one: (one.lineno, one.col_offset)))


def _by_attribute(calls: list[ast.Call]) -> dict[str, tuple[ast.Call, ...]]:
    found: dict[str, list[ast.Call]] = {}
    for call in calls:
        if isinstance(call.func, ast.Attribute):
            found.setdefault(call.func.attr, []).append(call)
    return {
        name: tuple(sorted(some, key=lambda call: (call.end_lineno or 0, call.end_col_offset or 0)))
        for name, some in found.items()
    }


def _by_name(calls: list[ast.Call]) -> dict[str, tuple[ast.Call, ...]]:
    found: dict[str, list[ast.Call]] = {}
    for call in calls:
        if isinstance(call.func, ast.Name):
            found.setdefault(call.func.id, []).append(call)
    return {name: tuple(some) for name, some in found.items()}


def _is_plain(expression: ast.expr) -> bool:
    """Whether it is a name and attributes of it, and nothing else that would need a visit."""
    while isinstance(expression, ast.Attribute):
        expression = expression.value
    return isinstance(expression, ast.Name)


def _may_be_library(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        called = value.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        return name in _DYNAMIC
    if isinstance(value, ast.IfExp):
        return all(isinstance(one, ast.Name | ast.Attribute) for one in (value.body, value.orelse))
    if isinstance(value, ast.NamedExpr):
        return isinstance(value.value, ast.Name | ast.Attribute)
    return isinstance(value, ast.Name | ast.Attribute)


def _strings(value: ast.expr) -> set[str] | None:
    if not isinstance(value, ast.List | ast.Tuple):
        return None
    names = [
        item.value
        for item in value.elts
        if isinstance(item, ast.Constant) and isinstance(item.value, str)
    ]
    return set(names) if len(names) == len(value.elts) else None


def _owner(scope: Scope, name: str) -> Scope:
    """Find the enclosing function that a `nonlocal` name belongs to."""
    outer = scope.parent
    while outer is not None and outer.parent is not None:
        if outer.kind == "function" and name in outer.bindings:
            return outer
        outer = outer.parent
    return scope  # not a valid program; the name stays unknown to others


_Handler: TypeAlias = Callable[[_Scan, Any, Scope], None]
_HANDLERS: dict[type[ast.AST], _Handler] = {
    ast.AnnAssign: _Scan.visit_annotated,
    ast.Assign: _Scan.visit_assign,
    ast.AsyncFunctionDef: _Scan.visit_function,
    ast.Attribute: _Scan.visit_attribute,
    ast.AugAssign: _Scan.visit_augmented,
    ast.Call: _Scan.visit_call,
    ast.ClassDef: _Scan.visit_class,
    ast.Constant: _Scan.visit_leaf,
    ast.DictComp: _Scan.visit_comprehension,
    ast.ExceptHandler: _Scan.visit_handler,
    ast.Expr: _Scan.visit_statement,
    ast.FunctionDef: _Scan.visit_function,
    ast.GeneratorExp: _Scan.visit_comprehension,
    ast.Global: _Scan.visit_global,
    ast.Import: _Scan.visit_import,
    ast.ImportFrom: _Scan.visit_import_from,
    ast.Lambda: _Scan.visit_lambda,
    ast.ListComp: _Scan.visit_comprehension,
    ast.MatchAs: _Scan.visit_pattern,
    ast.MatchMapping: _Scan.visit_pattern,
    ast.MatchStar: _Scan.visit_pattern,
    ast.Name: _Scan.visit_name,
    ast.NamedExpr: _Scan.visit_walrus,
    ast.Nonlocal: _Scan.visit_nonlocal,
    ast.SetComp: _Scan.visit_comprehension,
}
