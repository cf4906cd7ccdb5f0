"""Clear away what earlier migrations left behind.

Migrations by name alone leave code that does not run: `config=npu_config_proto()` given to the
session of a web library, `None` where an import of Horovod was, shutdown code behind
`tf.app.run()`, which never returns, and star imports in files that have no TensorFlow.

    -session = requests.Session(config=npu_config_proto())
    +session = requests.Session()

By hand: names of a removed import that are still used, shutdown code that is never reached, rank
functions that nothing initialises, and star imports that nothing uses.

Source: TF Adapter 1.15, npu_bridge/npu_init.py; Ascend TF Adapter 1.x migration guide.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.file import File, ProjectFiles
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_call, on_file, on_project
from trainferry.migrate.rules._imported import imported_modules
from trainferry.migrate.rules._npu import called, npu_name
from trainferry.migrate.rules._stars import binds, npu_stars, uses_star
from trainferry.migrate.statements import remove_statement

CONCERN = Concern.RUN
LINT = True

_ENDS = frozenset(("shutdown_resource", "close_session", "shutdown_system", "npu_close"))
_STARTS = frozenset(
    ("init_resource", "initialize_system", "npu_resource_init", "NPUInit", "NPUEstimator")
)


@on_call("requests.*", "boto3.*", "aiohttp.*", "botocore.*", "sqlalchemy.*")
def session_of_others(call: Call, file: File) -> Iterator[Finding]:
    config = call.keyword("config")
    if config is not None and npu_name(called(file, config.value)) == "npu_config_proto":
        message = "this session is not TensorFlow's and takes no `npu_config_proto`"
        yield Finding(call, Outcome.CHANGED, message, (call.remove_argument(config),))


@on_file
def unused_star(file: File) -> Iterator[Finding]:
    stars = npu_stars(file)
    if not stars or file.libraries & {"npu_bridge", "hccl"} or _imports_framework(file):
        return
    if not uses_star(file):
        message = "nothing here is TensorFlow's or the adapter's; take the import out"
        yield Finding(Spot(file.source, stars[0]), Outcome.BY_HAND, message, concern=Concern.TIDY)


@on_file
def bare_none(file: File) -> Iterator[Finding]:
    """The vendor's tool puts `None` where it takes an import of Horovod away."""
    if not npu_stars(file):
        return
    lost = _lost_horovod(file)
    for node in ast.walk(file.source.tree):
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            continue
        if node.value.value is None:
            spot = Spot(file.source, node)
            edit = remove_statement(file, node)
            if lost:
                message = (
                    f"an import was here, and `{lost}` is still used; migrate the original file, "
                    "or replace what is left of Horovod by hand"
                )
                yield Finding(spot, Outcome.BY_HAND, message)
            elif edit is not None:
                message = "an import was here that is not needed any more"
                yield Finding(spot, Outcome.CHANGED, message, (edit,), concern=Concern.TIDY)


@on_call("tf.app.run", "absl.app.run")
def never_reached(call: Call, file: File) -> Iterator[Finding]:
    """`tf.app.run` ends the process itself."""
    statement = file.statement(call.node)
    above = file.parent(statement)
    body: list[ast.stmt] = getattr(above, "body", [])
    if not isinstance(statement, ast.Expr) or statement not in body:
        return
    for after in body[body.index(statement) + 1 :]:
        names = [npu_name(called(file, node)) for node in ast.walk(after)]
        if name := next((one for one in names if one in _ENDS), None):
            message = (
                f"never runs: `tf.app.run` ends the process; call `{name}` and what follows at "
                "the end of `main`, or register it with `atexit` before"
            )
            yield Finding(Spot(file.source, after), Outcome.BY_HAND, message)
            return


@on_project
def not_initialised(project: ProjectFiles) -> Iterator[Finding]:
    """Rank functions raise before the collective communication is up."""
    if not project.options.lint:  # other rules put both in, one after the other
        return
    names = {npu_name(name) for name in project.used}
    if names & _STARTS:
        return
    for file in project.files:
        for call in file.calls:
            name = npu_name(call.name) or ""
            if name.startswith("get_") and name.endswith(("rank_id", "rank_size")):
                start = "init_resource()" if "npu" in name else "npu_ops.initialize_system()"
                message = f"nothing in the project calls `{start}`, without which `{name}` raises"
                yield Finding(call, Outcome.BY_HAND, message, concern=Concern.DISTRIBUTED)
                return


def _imports_framework(file: File) -> bool:
    """Whether a file has to do with TensorFlow, so that the import may be for its effect."""
    frameworks = ("tensorflow", "keras", "horovod", "tf_slim")
    return any(name.partition(".")[0] in frameworks for name in imported_modules(file))


def _lost_horovod(file: File) -> str | None:
    """A usual name of Horovod that is used, and bound nowhere."""
    for name in ("hvd", "mgw", "horovod"):
        used = any(
            isinstance(one, ast.Name) and one.id == name for one in ast.walk(file.source.tree)
        )
        if used and not binds(file, name):
            return name
    return None
