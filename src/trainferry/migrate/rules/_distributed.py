"""What the rules for several devices share: what is asked for, and the texts they put in."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.edit import Edit
from trainferry.migrate.file import File, ProjectFiles
from trainferry.migrate.find import Call, wrap
from trainferry.migrate.options import Options
from trainferry.migrate.rules._npu import npu_name
from trainferry.migrate.surface import import_for

RANK_FUNCTIONS = {
    "rank": "get_npu_rank_id",
    "local_rank": "get_npu_local_rank_id",
    "size": "get_npu_rank_size",
    "local_size": "get_npu_local_rank_size",
}
RANK_NAMES = frozenset(
    (
        *RANK_FUNCTIONS.values(),
        "get_rank_id",
        "get_local_rank_id",
        "get_rank_size",
        "get_local_rank_size",
    )
)
START = "npu_session, npu_shutdown = init_resource()"
# Last in, first out: communication ends, then its session, then the adapter itself.
AT_EXIT = (
    "atexit.register(close_session, npu_session)",
    "atexit.register(shutdown_resource, npu_session, npu_shutdown)",
)
START_NAMES = ("npu_session", "npu_shutdown")
WRAPPER = "npu_distributed_optimizer_wrapper"
_TRAIN_STEPS = ("minimize", "apply_gradients", "create_train_op")
MIRRORED = (
    "tf.distribute.MirroredStrategy",
    "tf.distribute.experimental.MultiWorkerMirroredStrategy",
    "tf.contrib.distribute.MirroredStrategy",
    "tf.contrib.distribute.CollectiveAllReduceStrategy",
    "tf.contrib.distribute.DistributionStrategy",
    "tf.compat.v2.distribute.MirroredStrategy",
    "tf.compat.v2.distribute.experimental.MultiWorkerMirroredStrategy",
)


def makes_train_step(file: File) -> bool:
    """Whether a file minimizes something: calls of these methods, whatever they belong to."""
    return any(file.names.attribute_calls(file.source, name) for name in _TRAIN_STEPS)


def wants_horovod(options: Options) -> bool:
    return options.distributed in ("auto", "horovod", "hccl")


def wants_strategy(options: Options) -> bool:
    return options.distributed in ("auto", "strategy", "hccl")


def imports_of(*names: str) -> tuple[str, ...]:
    """The imports that bring these names of the adapter."""
    found = [import_for(name) for name in names]
    assert None not in found, names
    return tuple(statement for statement in found if statement is not None)


def start_imports() -> tuple[str, ...]:
    return "import atexit", *imports_of("init_resource", "close_session", "shutdown_resource")


def uses_horovod(project: ProjectFiles) -> bool:
    return project.once(_imports_horovod_somewhere)


def _imports_horovod_somewhere(project: ProjectFiles) -> bool:
    return next(horovod_imports(project), None) is not None


def horovod_imports(project: ProjectFiles) -> Iterator[tuple[File, ast.Import | ast.ImportFrom]]:
    """All imports of Horovod for TensorFlow and Keras, in the order of the files."""
    for file in project.files:
        for statement in file.imports:
            if imports_horovod(statement):
                yield file, statement


def imports_horovod(statement: ast.Import | ast.ImportFrom) -> bool:
    if isinstance(statement, ast.ImportFrom):
        paths = [f"{statement.module or ''}.{one.name}" for one in statement.names]
        return not statement.level and any(is_horovod(path) for path in paths)
    return any(is_horovod(one.name) for one in statement.names)


def is_horovod(path: str) -> bool:
    """Whether a dotted path is Horovod's, and not its part for another framework."""
    first, _, rest = path.partition(".")
    return first == "horovod" and rest.partition(".")[0] not in ("torch", "mxnet", "spark", "ray")


def is_made_parallel(project: ProjectFiles) -> bool:
    """Whether the optimizers have to reduce gradients: Horovod's own ones do it already."""
    return project.once(_is_made_parallel)


def _is_made_parallel(project: ProjectFiles) -> bool:
    chosen = project.options.distributed
    if chosen in ("strategy", "hccl"):
        return not uses_horovod(project)
    return chosen == "auto" and uses_strategy(project) and not uses_horovod(project)


def uses_strategy(project: ProjectFiles) -> bool:
    return any(name in MIRRORED or npu_name(name) == "NPUStrategy" for name in project.used)


def first_use(
    project: ProjectFiles, names: frozenset[str] | tuple[str, ...]
) -> tuple[File, ast.expr] | None:
    """The first place in the project where one of these full names stands."""
    return next(
        ((file, node) for file in project.files for node, name in file.uses if name in names), None
    )


def broadcast_text(root: str, variables: str, condition: str = "") -> str:
    """An operation that gives every rank the values of the root's variables."""
    return (
        f"tf.group([tf.assign(variable, hccl_ops.broadcast([variable], {root})[0]) "
        f"for variable in {variables}{condition}])"
    )


def put_first(call: Call, values: ast.expr, text: str) -> tuple[Edit, ...]:
    """Put the adapter's hook or callback before those that the user gives."""
    start, _ = call.source.span(values)
    if isinstance(values, ast.Constant) and values.value is None:
        return (call.replace_argument(values, f"[{text}]"),)
    if isinstance(values, ast.List):
        follows = call.source.data[start + 1 : start + 2]
        comma = "" if not values.elts else "," if follows in b"\r\n" else ", "
        return (Edit(start + 1, start + 1, f"{text}{comma}"),)
    if isinstance(values, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
        return wrap(call.source, values, f"[{text}] + list(", " or ())")
    return wrap(call.source, values, f"[{text}] + list((", ") or ())")
