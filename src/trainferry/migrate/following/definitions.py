"""Fills a scope with its definitions: one pass over its statements, not into expressions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from trainferry.migrate.following.flow import (
    Block,
    Definition,
    Frame,
    Function,
    Kind,
    dotted,
)

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


def fill(frame: Frame) -> Frame:
    """Find all definitions of a scope that was just made."""
    _Fill(frame).run()
    return frame


class _Fill:
    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.order = 0
        self.has_walrus = b":=" in frame.source.data

    def run(self) -> None:
        node = self.frame.node
        if isinstance(node, ast.Module | ast.ClassDef):
            self.visit_block(node.body, ())
        elif isinstance(node, Function):
            self.add_parameters(node.args)
            self.visit_block(node.body, ())
        elif isinstance(node, ast.Lambda):
            self.add_parameters(node.args)
        elif isinstance(node, _COMPREHENSIONS):
            for part in node.generators:
                self.bind(part.target, Kind.ELEMENT, part.iter, (), ())

    def add_parameters(self, arguments: ast.arguments) -> None:
        for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            self.add(one.arg, Kind.PARAMETER, one, (), ())
        for other in (arguments.vararg, arguments.kwarg):
            if other is not None:
                self.add(other.arg, Kind.OTHER, other, (), ())

    def add(
        self,
        name: str,
        kind: Kind,
        node: ast.AST,
        path: tuple[int | None, ...],
        blocks: tuple[Block, ...],
        since: int | None = None,
    ) -> None:
        start = self.order if since is None else since
        definition = Definition(kind, node, path, blocks, self.order, start)
        self.frame.definitions.setdefault(name, []).append(definition)

    def bind(
        self,
        target: ast.expr,
        kind: Kind,
        value: ast.AST,
        path: tuple[int | None, ...],
        blocks: tuple[Block, ...],
    ) -> None:
        if isinstance(target, ast.Name | ast.Attribute):
            name = dotted(target)
            if name is not None:
                self.add(name, kind, value, path, blocks)
        elif isinstance(target, ast.Starred):
            self.bind(target.value, Kind.OTHER, value, path, blocks)
        elif isinstance(target, ast.Subscript):
            name = dotted(target.value)
            if name is not None:
                self.add(f"{name}[]", kind, value, path, blocks)
        elif isinstance(target, ast.Tuple | ast.List):
            has_star = any(isinstance(one, ast.Starred) for one in target.elts)
            for index, one in enumerate(target.elts):
                self.bind(one, kind, value, (*path, None if has_star else index), blocks)

    # Statements.

    def visit_block(self, statements: Iterable[ast.stmt], blocks: tuple[Block, ...]) -> None:
        for statement in statements:
            self.order += 1
            self.frame.places[statement] = (blocks, self.order)
            self.visit(statement, blocks)

    def visit(self, node: ast.stmt, blocks: tuple[Block, ...]) -> None:
        if self.has_walrus:
            self.find_walrus(node, blocks)
        handler = _HANDLERS.get(type(node))
        if handler is not None:
            handler(self, node, blocks)

    def visit_assign(self, node: ast.Assign, blocks: tuple[Block, ...]) -> None:
        for target in node.targets:
            self.bind(target, Kind.ASSIGN, node.value, (), blocks)
        self.note_yield(node.value, node)

    def visit_annotated(self, node: ast.AnnAssign, blocks: tuple[Block, ...]) -> None:
        if node.value is not None:
            self.bind(node.target, Kind.ASSIGN, node.value, (), blocks)

    def visit_augmented(self, node: ast.AugAssign, blocks: tuple[Block, ...]) -> None:
        self.bind(node.target, Kind.OTHER, node, (), blocks)

    def visit_expression(self, node: ast.Expr, blocks: tuple[Block, ...]) -> None:
        self.note_yield(node.value, node)
        self.note_append(node.value, blocks)

    def visit_return(self, node: ast.Return, _blocks: tuple[Block, ...]) -> None:
        if node.value is not None:
            self.frame.returned.append((node.value, node))

    def visit_function(self, node: Function, blocks: tuple[Block, ...]) -> None:
        self.add(node.name, Kind.FUNCTION, node, (), blocks)

    def visit_class(self, node: ast.ClassDef, blocks: tuple[Block, ...]) -> None:
        self.add(node.name, Kind.CLASS, node, (), blocks)

    def visit_global(self, node: ast.Global, _blocks: tuple[Block, ...]) -> None:
        self.frame.global_names.update(node.names)

    def visit_nonlocal(self, node: ast.Nonlocal, _blocks: tuple[Block, ...]) -> None:
        self.frame.outer_names.update(node.names)

    def visit_import(self, node: ast.Import | ast.ImportFrom, blocks: tuple[Block, ...]) -> None:
        for alias in node.names:
            if alias.name == "*" and isinstance(node, ast.ImportFrom):
                self.frame.stars.append(node)
            else:
                name = alias.asname or alias.name
                if isinstance(node, ast.Import) and alias.asname is None:
                    name = name.partition(".")[0]
                self.add(name, Kind.IMPORT, node, (), blocks)

    # Statements with blocks.

    def visit_with(self, node: ast.With | ast.AsyncWith, blocks: tuple[Block, ...]) -> None:
        for item in node.items:
            if item.optional_vars is not None:
                self.bind(item.optional_vars, Kind.ENTERED, item.context_expr, (), blocks)
        self.visit_block(node.body, blocks)

    def visit_for(self, node: ast.For | ast.AsyncFor, blocks: tuple[Block, ...]) -> None:
        inside = (*blocks, Block(node, "body", True))
        self.bind(node.target, Kind.ELEMENT, node.iter, (), inside)
        self.visit_block(node.body, inside)
        self.visit_block(node.orelse, (*blocks, Block(node, "orelse", False)))

    def visit_while(self, node: ast.While, blocks: tuple[Block, ...]) -> None:
        inside = (*blocks, Block(node, "body", True))
        self.frame.places[node] = (inside, self.order)
        self.visit_block(node.body, inside)
        self.visit_block(node.orelse, (*blocks, Block(node, "orelse", False)))

    def visit_if(self, node: ast.If, blocks: tuple[Block, ...]) -> None:
        since = self.order
        branches = [
            (node.body, (*blocks, Block(node, "body", False))),
            (node.orelse, (*blocks, Block(node, "orelse", False))),
        ]
        sizes = {name: len(found) for name, found in self.frame.definitions.items()}
        for body, inside in branches:
            self.visit_block(body, inside)
        ends = [bool(body) and _ends(body[-1]) for body, _ in branches]
        self.order += 1
        for name, found in self.frame.definitions.items():
            new = found[sizes.get(name, 0) :]
            if new and all(
                end or any(one.blocks == inside for one in new)
                for end, (_, inside) in zip(ends, branches, strict=True)
            ):
                self.add(name, Kind.MERGED, node, (), blocks, since)

    def visit_match(self, node: ast.Match, blocks: tuple[Block, ...]) -> None:
        for index, case in enumerate(node.cases):
            inside = (*blocks, Block(node, f"case {index}", False))
            for part in ast.walk(case.pattern):
                name = getattr(part, "name", None) or getattr(part, "rest", None)
                if isinstance(name, str):
                    self.add(name, Kind.OTHER, part, (), inside)
            self.visit_block(case.body, inside)

    def visit_try(self, node: ast.Try, blocks: tuple[Block, ...]) -> None:
        # Without a handler the body runs to its end, or what comes after does not run.
        inside = (*blocks, Block(node, "body", False)) if node.handlers else blocks
        self.visit_block(node.body, inside)
        for index, handler in enumerate(node.handlers):
            within = (*blocks, Block(node, f"handler {index}", False))
            if handler.name:
                self.add(handler.name, Kind.OTHER, handler, (), within)
            self.visit_block(handler.body, within)
        self.visit_block(node.orelse, inside)
        self.visit_block(node.finalbody, blocks)

    def note_yield(self, value: ast.expr, node: ast.stmt) -> None:
        if isinstance(value, ast.Yield) and value.value is not None:
            self.frame.yielded.append((value.value, node))

    def note_append(self, value: ast.expr, blocks: tuple[Block, ...]) -> None:
        if (
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Attribute)
            and value.func.attr in ("append", "add", "extend", "update", "insert")
            and (name := dotted(value.func.value)) is not None
            and value.args
        ):
            plain = value.func.attr in ("append", "add")
            self.add(f"{name}[]", Kind.ASSIGN if plain else Kind.OTHER, value.args[0], (), blocks)

    def find_walrus(self, node: ast.stmt, blocks: tuple[Block, ...]) -> None:
        for part in _own_expressions(node):
            if isinstance(part, ast.NamedExpr):
                self.bind(part.target, Kind.ASSIGN, part.value, (), blocks)


def _ends(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Return | ast.Raise | ast.Continue | ast.Break)


def _own_expressions(node: ast.stmt) -> Iterator[ast.AST]:
    todo = [one for one in ast.iter_child_nodes(node) if not isinstance(one, ast.stmt)]
    while todo:
        part = todo.pop()
        yield part
        if not isinstance(part, ast.Lambda):
            todo += [one for one in ast.iter_child_nodes(part) if not isinstance(one, ast.stmt)]


_HANDLERS: dict[type[ast.AST], Callable[[_Fill, Any, tuple[Block, ...]], None]] = {
    ast.AnnAssign: _Fill.visit_annotated,
    ast.Assign: _Fill.visit_assign,
    ast.AsyncFor: _Fill.visit_for,
    ast.AsyncFunctionDef: _Fill.visit_function,
    ast.AsyncWith: _Fill.visit_with,
    ast.AugAssign: _Fill.visit_augmented,
    ast.ClassDef: _Fill.visit_class,
    ast.Expr: _Fill.visit_expression,
    ast.For: _Fill.visit_for,
    ast.FunctionDef: _Fill.visit_function,
    ast.Global: _Fill.visit_global,
    ast.If: _Fill.visit_if,
    ast.Import: _Fill.visit_import,
    ast.ImportFrom: _Fill.visit_import,
    ast.Match: _Fill.visit_match,
    ast.Nonlocal: _Fill.visit_nonlocal,
    ast.Return: _Fill.visit_return,
    ast.Try: _Fill.visit_try,
    ast.TryStar: _Fill.visit_try,
    ast.While: _Fill.visit_while,
    ast.With: _Fill.visit_with,
}
