"""Where a session's configuration comes from, and whether it is for the NPU already."""

from __future__ import annotations

import ast

from trainferry.migrate.file import File, Function, ProjectFiles
from trainferry.migrate.nodes import walk

WRAPPER = "npu_config_proto"
WRAPPER_IMPORT = "from npu_bridge.npu_init import npu_config_proto"


def assigned_values(file: File, node: ast.expr) -> list[ast.expr]:
    """All that the file assigns to a name or attribute where `node` can see it."""
    if not isinstance(node, ast.Name | ast.Attribute):
        return []
    wanted = ast.unparse(node)
    return [
        one.value
        for one in file.inside(_surroundings(file, node), ast.Assign)
        if any(isinstance(to, type(node)) and ast.unparse(to) == wanted for to in one.targets)
    ]


def is_npu_config(file: File, config: ast.expr) -> bool:
    """Whether a configuration has the NPU's optimizer already."""
    if _is_wrapped(file, config) or _is_made_for_npu(file, config):
        return True
    return _has_optimizer(_surroundings(file, config), ast.unparse(config))


def _is_wrapped(file: File, config: ast.expr) -> bool:
    for value in (config, *assigned_values(file, config)):
        if isinstance(value, ast.Call):
            name = file.full_name(value.func) or ast.unparse(value.func)
            if name.rpartition(".")[2] == WRAPPER:
                return True
    return False


def _is_made_for_npu(file: File, config: ast.expr) -> bool:
    """Whether the project's function that gives the configuration puts the optimizer in."""
    for value in (config, *assigned_values(file, config)):
        if isinstance(value, ast.Call):
            makers = _functions(file, ast.unparse(value.func).rpartition(".")[2])
            if makers and all(_makes_npu_config(home, maker) for home, maker in makers):
                return True
    return False


def _functions(file: File, name: str) -> list[tuple[File, Function]]:
    """The file's own functions with this name, else those of the project."""
    own = [(file, one) for one in file.functions if one.name == name]
    return own or file.project.once(_functions_by_name).get(name, [])


def _functions_by_name(project: ProjectFiles) -> dict[str, list[tuple[File, Function]]]:
    found: dict[str, list[tuple[File, Function]]] = {}
    for file in project.files:
        for one in file.functions:
            found.setdefault(one.name, []).append((file, one))
    return found


def _makes_npu_config(file: File, function: Function) -> bool:
    returned = [
        one.value
        for one in ast.walk(function)
        if isinstance(one, ast.Return) and one.value is not None
    ]
    return any(_is_wrapped(file, value) for value in returned) or _has_optimizer(function, "")


def _has_optimizer(block: ast.AST, config: str) -> bool:
    """Whether a block adds an `NpuOptimizer` to this configuration, or to one it hides from us."""
    nodes = list(walk(block))
    named = any(isinstance(one, ast.Constant) and one.value == "NpuOptimizer" for one in nodes)
    if not named:
        return False
    owners = [
        ast.unparse(one.func.value).partition(".graph_options.")[0]
        for one in nodes
        if isinstance(one, ast.Call)
        and isinstance(one.func, ast.Attribute)
        and one.func.attr == "add"
        and ast.unparse(one.func.value).endswith("custom_optimizers")
    ]
    is_plain = all(not owner.endswith("custom_optimizers") for owner in owners)
    return bool(owners) and (not config or not is_plain or config in owners)


def _surroundings(file: File, node: ast.expr) -> ast.AST:
    """The block that may assign to `node`: for `self.x` the class, for `x` the function."""
    if isinstance(node, ast.Attribute):
        return file.class_around(node) or file.source.tree
    function = file.function(node)
    if function is None or not isinstance(node, ast.Name):
        return function or file.source.tree
    is_local = any(
        one.id == node.id and isinstance(one.ctx, ast.Store)
        for one in file.inside(function, ast.Name)
    )
    names = [one.arg for one in walk(function.args) if isinstance(one, ast.arg)]
    return function if is_local or node.id in names else file.source.tree
