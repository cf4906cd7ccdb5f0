"""Horovod's start and end become those of HCCL; None where no edit is certain."""

from __future__ import annotations

import ast

from trainferry.migrate.edit import Edit
from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Finding, Outcome
from trainferry.migrate.rules._distributed import (
    AT_EXIT,
    START,
    START_NAMES,
    horovod_imports,
    start_imports,
)
from trainferry.migrate.rules._horovod import Member, member
from trainferry.migrate.rules._npu import has_name
from trainferry.migrate.statements import insert_after, remove_statement


def convert_init(call: Call, _what: Member, file: File) -> Finding | None:
    statement = file.statement(call.node)
    if (call.node.args or call.node.keywords) and not call.has_star_arguments:
        message = (
            f"write `{START}` and name the devices in the rank table: HCCL takes no communicator"
        )
        return Finding(call, Outcome.BY_HAND, message)
    is_returned = isinstance(statement, ast.Return) and statement.value is call.node
    if not (is_returned or _is_whole(statement, call)) or _is_taken(file):
        return None
    first = Edit(*file.source.span(statement), START)
    rest_lines = (*AT_EXIT, "return None") if is_returned else AT_EXIT
    rest = insert_after(file, statement, "\n".join(rest_lines))
    if rest is None:
        edits: tuple[Edit, ...] = (Edit(first.start, first.end, "; ".join((START, *rest_lines))),)
    else:
        edits = (first, rest)
    message = (
        "communication starts here in a session of its own and ends with the program; settings "
        "for all sessions, such as `precision_mode`, go into `init_resource(config=...)` too"
    )
    if call.node.args:
        message += "; a communicator that is passed on is dropped, HCCL has its rank table"
    return Finding(call, Outcome.CHECK, message, edits, start_imports())


def convert_shutdown(call: Call, _what: Member, file: File) -> Finding | None:
    statement = file.statement(call.node)
    if not _is_whole(statement, call) or _starts(file) > 1:
        return None
    edit = remove_statement(file, statement)
    if edit is None:
        return None
    message = "communication now ends when the program does, not here"
    return Finding(call, Outcome.CHECK, message, (edit,))


def _is_whole(statement: ast.stmt, call: Call) -> bool:
    return isinstance(statement, ast.Expr) and statement.value is call.node


def _is_taken(file: File) -> bool:
    return has_name(file, *START_NAMES)


def _starts(file: File) -> int:
    files = {id(one): one for one, _ in horovod_imports(file.project)}.values()
    names = (member(call.name) for one in files for call in one.calls)
    return sum(1 for what in names if what is not None and what.name == "init")
