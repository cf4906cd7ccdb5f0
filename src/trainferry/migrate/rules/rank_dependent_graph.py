"""Build the same graph on every device.

Communication pairs the operations of all ranks by their order in the graph. A summary, a variable
or any other operation that only one rank builds shifts that order, and the run hangs. Writing
files, logs and checkpoints on one rank is fine: only what goes into the graph counts.

    -if hvd.rank() == 0:
    -    tf.summary.scalar("loss", loss)
    +tf.summary.scalar("loss", loss)

By hand: always; build it everywhere, and use it on one rank.

Source: Ascend TF Adapter 1.x migration guide, distributed training, frequently asked questions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_file
from trainferry.migrate.rules._distributed import RANK_NAMES
from trainferry.migrate.rules._horovod import member
from trainferry.migrate.rules._npu import npu_name, scope_of

CONCERN = Concern.DISTRIBUTED
LINT = True

_BUILDS = re.compile(
    r"tf\.(summary\.(scalar|histogram|image|audio|text|merge|merge_all|tensor_summary)"
    r"|(nn|layers|losses|metrics|math|image|random|linalg)\.\w+|keras\.layers\.\w+"
    r"|contrib\.(slim|layers)\.(?!learning|evaluation)\w+"
    r"|Variable|get_variable|placeholder|constant|gradients|reduce_\w+|cast|matmul|assign\w*"
    r"|add_n|concat|stack|identity|group|no_op|global_variables_initializer)"
)
_RANKS = frozenset(one for one in RANK_NAMES if "size" not in one)


@on_file
def rank_dependent_graph(file: File) -> Iterator[Finding]:
    if file.options.distributed == "none" or not any(_is_rank(name) for name in file.used):
        return
    tests: dict[ast.AST, ast.AST] = {}
    for node, name in file.uses:
        if _is_rank(name):
            tests |= dict.fromkeys(_branches(file, node), node)
            tests |= dict.fromkeys(_later_branches(file, node), node)
    for branch in tests:
        built = next(_built(file, branch), None)
        if built is not None:
            message = (
                f"`{built}` is built on some ranks only, and communication hangs when graphs "
                "differ: build it on every rank, and use it on one"
            )
            yield Finding(Spot(file.source, branch), Outcome.BY_HAND, message)


def _is_rank(name: str) -> bool:
    what = member(name)
    is_horovod = what is not None and what.name in ("rank", "local_rank")
    return is_horovod or npu_name(name) in _RANKS


def _branches(file: File, node: ast.AST) -> Iterator[ast.If | ast.IfExp]:
    """The conditions that a rank stands in."""
    below = node
    for above in file.parents(node):
        if isinstance(above, ast.If | ast.IfExp) and above.test is below:
            yield above
        below = above


def _later_branches(file: File, node: ast.expr) -> Iterator[ast.If | ast.IfExp]:
    """`is_chief = hvd.rank() == 0` and then `if is_chief:` in the same function."""
    above = file.statement(node)
    if not isinstance(above, ast.Assign) or not _decides(above.value):
        return
    names = {one.id for one in above.targets if isinstance(one, ast.Name)}
    for other in ast.walk(scope_of(file, node)):
        if isinstance(other, ast.If | ast.IfExp) and any(
            isinstance(one, ast.Name) and one.id in names for one in ast.walk(other.test)
        ):
            yield other


def _decides(value: ast.expr) -> bool:
    return isinstance(value, ast.Compare | ast.Call | ast.UnaryOp | ast.BoolOp)


def _built(file: File, branch: ast.AST) -> Iterator[str]:
    assert isinstance(branch, ast.If | ast.IfExp)
    parts = (
        [*branch.body, *branch.orelse]
        if isinstance(branch, ast.If)
        else [branch.body, branch.orelse]
    )
    for part in parts:
        for node in ast.walk(part):
            name = file.full_name(node.func) if isinstance(node, ast.Call) else None
            if name is not None and _BUILDS.fullmatch(name):
                yield name
