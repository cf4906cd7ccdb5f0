"""Replace Horovod by the NPU's collective communication.

On NPUs, HCCL does what Horovod does on GPUs. Every call is replaced by the adapter's, whatever
name Horovod was imported under; the import goes when nothing uses it any more. Communication
starts where Horovod's did, and ends with the program, as Horovod's does.

    -import horovod.tensorflow as hvd
    -hvd.init()
    +npu_session, npu_shutdown = init_resource()
    +atexit.register(close_session, npu_session)
    +atexit.register(shutdown_resource, npu_session, npu_shutdown)
    -optimizer = tf.train.AdamOptimizer(0.01 * hvd.size())
    -optimizer = hvd.DistributedOptimizer(optimizer)
    +optimizer = tf.train.AdamOptimizer(0.01 * get_npu_rank_size())
    +optimizer = npu_distributed_optimizer_wrapper(optimizer)

A name that is Horovod's if it can be imported, and another package's if not, is replaced too:
neither is on an NPU host.

By hand: such a name that stands for the project's own code otherwise; Horovod that is passed on
to functions and objects, or that a function imports by its name; gradients that are summed, or
kept for several steps; objects that are no tensors; Keras callbacks for metrics and learning
rates. The import then stays and is told.
Not touched: with `--distributed none` or `strategy`; Horovod for other frameworks.

Source: Ascend TF Adapter 1.x migration guide, "Porting with Horovod"; TF Adapter 1.15,
npu_bridge/npu_init.py and npu_bridge/hccl/hccl_ops.py.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from trainferry.migrate.edit import Edit
from trainferry.migrate.file import File, Function, ProjectFiles
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_file, on_project
from trainferry.migrate.rules._distributed import (
    RANK_FUNCTIONS,
    horovod_imports,
    imports_horovod,
    imports_of,
    is_horovod,
    uses_horovod,
    wants_horovod,
)
from trainferry.migrate.rules._horovod import OPERATORS, SPELLING, Member, by_hand, member
from trainferry.migrate.rules._horovod_alternative import is_package_or_another
from trainferry.migrate.rules._horovod_calls import converted
from trainferry.migrate.statements import remove_statement

CONCERN = Concern.RUN

_LOOKS_LIKE_HOROVOD = re.compile(r"(.*[._])?(hvd|horovod)(_\w*)?", re.DOTALL)
_NAMED = re.compile(rb"""["']horovod\.(tensorflow|keras)\b""")
_OTHERS = re.compile(rb"(import|from)\s+horovod\.(torch|mxnet)\b")
_NO_COMPRESSION = (
    "HCCL does not compress: gradients are reduced in the type that they have, so float16 saves "
    "nothing and rounds nothing"
)


@on_project
def horovod_is_left(project: ProjectFiles) -> Iterator[Finding]:
    found = next(horovod_imports(project), None)
    if found is None or wants_horovod(project.options):
        return
    chosen = project.options.distributed
    message = f"Horovod is left as it is, as `--distributed {chosen}` asks"
    yield Finding(Spot(found[0].source, found[1]), Outcome.BY_HAND, message)


@on_file
def horovod_to_hccl(file: File) -> Iterator[Finding]:
    if not wants_horovod(file.options) or _is_of_others(file):
        return
    if not uses_horovod(file.project):
        if _NAMED.search(file.source.data):  # imported by a function of the project, by its name
            yield from _passed_on(file)
        return
    found = [*_calls(file), *_names(file), *_possible(file)]
    yield from found
    yield from _passed_on(file)
    yield from _imports(file, found)


def _is_of_others(file: File) -> bool:
    """Whether a file uses Horovod with another framework only."""
    return "tf" not in file.libraries and any(
        _OTHERS.match(file.source.data, file.source.span(one)[0]) for one in file.imports
    )


def _calls(file: File) -> Iterator[Finding]:
    for call in file.calls:
        what = member(call.name)
        if what is not None:
            yield converted(call, what, file)


def _names(file: File) -> Iterator[Finding]:
    """Uses that are not calls: functions passed on, constants, the module itself."""
    for node, name in file.uses:
        what = member(name)
        if what is None or _is_called(file, node) or _is_option(file, node, what.name):
            continue
        spot = Spot(file.source, node)
        if what.name in RANK_FUNCTIONS:
            function = RANK_FUNCTIONS[what.name]
            edit = Edit(*file.source.span(node), function)
            message = f"`{what.name}` is `{function}` of the adapter"
            yield Finding(spot, Outcome.CHANGED, message, (edit,), imports_of(function))
        elif what.name.startswith("Compression."):
            edit = Edit(*file.source.span(node), "None")
            yield Finding(spot, Outcome.CHECK, _NO_COMPRESSION, (edit,))
        else:
            yield Finding(spot, Outcome.BY_HAND, _module_message(file, node, what.name))


def _module_message(file: File, node: ast.expr, name: str) -> str:
    if name:
        return by_hand(name)
    if isinstance(file.parent(node), ast.Call | ast.keyword):
        return (
            "Horovod itself is passed on here: let the function that gets it import "
            "`get_npu_rank_id`, `get_npu_rank_size` and the others from `npu_bridge.npu_init`"
        )
    return (
        "whether Horovod is there decides here: ask `get_npu_rank_size() > 1`, after "
        "`init_resource()`, instead"
    )


def _is_called(file: File, node: ast.expr) -> bool:
    above = file.parent(node)
    return isinstance(above, ast.Call) and above.func is node


def _is_option(file: File, node: ast.expr, name: str) -> bool:
    """Whether a constant is an argument of Horovod's own, whose finding is about it too."""
    if name not in OPERATORS and not name.startswith("Compression"):
        return False
    return any(
        isinstance(above, ast.Call) and member(file.full_name(above.func)) is not None
        for above in file.parents(node)
    )


def _possible(file: File) -> Iterator[Finding]:
    """Names that are Horovod's only if it can be imported."""
    for node in file.names.name_expressions(file.source):
        if file.full_name(node) is not None:
            continue
        names = [one for one in file.names.possible_names(file.source, node) if is_horovod(one)]
        what = member(names[0]) if names else None
        if what is not None and what.name:
            yield _possibly(file, node, names[0], what)


def _possibly(file: File, node: ast.expr, path: str, what: Member) -> Finding:
    """Replace the call where the alternative is another package, which no NPU host has either."""
    above = file.parent(node)
    if isinstance(above, ast.Call) and above.func is node and is_package_or_another(file, node):
        found = converted(Call(file.source, above, path), what, file)
        if found.edits:
            message = f"this is Horovod's if it can be imported: {found.message}"
            return replace(found, outcome=Outcome.CHECK, message=message)
    message = f"this is Horovod's if it can be imported; {_to_write(what.name)}"
    return Finding(Spot(file.source, node), Outcome.BY_HAND, message)


def _passed_on(file: File) -> Iterator[Finding]:
    """`self.hvd.rank()`, and calls of a parameter that is named like Horovod."""
    for method in SPELLING:
        for node in file.unresolved_calls(method.rpartition(".")[2]):
            assert isinstance(node.func, ast.Attribute)
            owner = node.func.value
            if not _LOOKS_LIKE_HOROVOD.fullmatch(file.text(owner)) or _is_own(file, node.func):
                continue
            if not file.names.possible_names(file.source, node.func):
                message = f"`{file.text(owner)}` looks like Horovod; {_to_write(method)}"
                yield Finding(Spot(file.source, node), Outcome.BY_HAND, message)


def _is_own(file: File, function: ast.Attribute) -> bool:
    """Whether this is a function of a module of the project, in which it is told if need be."""
    homes = file.names.own_sources(file.source, function.value)
    return bool(homes) and all(
        any(isinstance(one, Function) and one.name == function.attr for one in home.tree.body)
        for home in homes
    )


def _to_write(name: str) -> str:
    return f"write {SPELLING[name]}" if name in SPELLING else by_hand(name)


def _imports(file: File, found: list[Finding]) -> Iterator[Finding]:
    is_left = any(not finding.edits for finding in found)
    for statement in file.imports:
        bound = [one for one in statement.names if _binds_horovod(file, statement, one)]
        if not bound:
            continue
        # What is passed on needs no import, but may have the same name.
        is_used = any(_is_used(file, statement, one) for one in bound)
        if is_left or (is_used and not found):
            message = "this import stays for what is left by hand here; remove it when that is done"
            if imports_horovod(statement):
                spot = Spot(file.source, statement)
                yield Finding(spot, Outcome.BY_HAND, message, concern=Concern.TIDY)
        elif not is_used:
            yield _without(file, statement, bound)


def _binds_horovod(file: File, statement: ast.Import | ast.ImportFrom, one: ast.alias) -> bool:
    if isinstance(statement, ast.Import):
        return is_horovod(one.name)
    if not statement.level and is_horovod(f"{statement.module}.{one.name}"):
        return True
    bound = file.names.top_name(file.source, one.asname or one.name)
    is_top = file.parent(statement) is file.source.tree
    return is_top and bound is not None and is_horovod(bound)


def _without(file: File, statement: ast.Import | ast.ImportFrom, bound: list[ast.alias]) -> Finding:
    spot = Spot(file.source, statement)
    rest = [one for one in statement.names if one not in bound]
    edit: Edit | None
    above = file.parent(statement)
    if rest:
        start, end = file.source.span(statement.names[0])[0], file.source.span(rest[-1])[1]
        last = file.source.span(statement.names[-1])[1]
        edit = Edit(start, max(end, last), ", ".join(file.text(one) for one in rest))
    elif isinstance(above, ast.Try):
        edit = remove_statement(file, above) if _only_tries(above, statement) else None
        spot = Spot(file.source, above) if edit else spot
    else:
        edit = remove_statement(file, statement)
    if edit is None:
        message = "nothing uses Horovod any more: remove this import and what depends on it"
        concern = Concern.TIDY if _goes_on(above) else None
        return Finding(spot, Outcome.BY_HAND, message, concern=concern)
    return Finding(spot, Outcome.CHANGED, "nothing uses Horovod any more", (edit,))


def _goes_on(above: ast.AST | None) -> bool:
    """Whether the program goes on where Horovod cannot be imported."""
    if not isinstance(above, ast.Try) or not above.handlers:
        return False
    inside = [node for handler in above.handlers for node in ast.walk(handler)]
    return not any(
        isinstance(node, ast.Raise) or (isinstance(node, ast.Call) and _exits(node))
        for node in inside
    )


def _exits(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name in ("exit", "_exit", "quit", "abort")


def _only_tries(above: ast.Try, statement: ast.stmt) -> bool:
    """Whether a `try` does nothing but import, with None for what is missing."""
    handled = [one for handler in above.handlers for one in handler.body]
    return (
        above.body == [statement]
        and not above.orelse
        and not above.finalbody
        and all(isinstance(one, ast.Pass) or _is_none(one) for one in handled)
    )


def _is_none(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Assign)
        and isinstance(statement.value, ast.Constant)
        and statement.value.value is None
    )


def _is_used(file: File, statement: ast.stmt, one: ast.alias) -> bool:
    """Whether the file names it, or another file imports it from here."""
    name = one.asname or one.name.partition(".")[0]
    if any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
        for node in ast.walk(file.source.tree)
    ):
        return True
    stem = file.source.module.rpartition(".")[2]
    return any(
        isinstance(other, ast.ImportFrom)
        and other is not statement
        and (other.module or "").rpartition(".")[2] in (stem, "")
        and any(alias.name in (name, "*") for alias in other.names)
        for elsewhere in file.project.files
        for other in elsewhere.imports
    )
