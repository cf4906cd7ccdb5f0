"""Run two optimizers with a loss scale one after the other.

A chip of the first generation (910) has one status for overflows. When two optimizers, as those
of a GAN, run in the same `sess.run`, neither knows whose overflow it sees: a step is left out that
was right, or applied that was broken.

    -sess.run([d_train, g_train])
    +sess.run(d_train)
    +sess.run(g_train)

By hand: always, and only for the 910. With one `sess.run` for both, both must be skipped together.

Source: Ascend TF Adapter 1.x migration guide, frequently asked questions, several optimizers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_file
from trainferry.migrate.rules._loss_scale import scales_loss

CONCERN = Concern.PRECISION
LINT = True


@on_file
def two_optimizers(file: File) -> Iterator[Finding]:
    if not file.options.saturates:
        return
    updates = _updates(file)
    if len(set(updates.values())) < 2 or not scales_loss(file.project):
        return
    for call in file.unresolved_calls("run"):
        fetched = [node for one in call.args[:1] for node in ast.walk(one)]
        texts = {ast.unparse(one) for one in fetched if isinstance(one, ast.Name | ast.Attribute)}
        if len({updates[text] for text in texts & updates.keys()}) > 1:
            message = (
                "run the two optimizers in a `sess.run` each: on a 910 they share the status "
                "that shows an overflow"
            )
            yield Finding(Spot(file.source, call), Outcome.BY_HAND, message)


def _updates(file: File) -> dict[str, str]:
    """What holds an update of weights, with the optimizer that made it."""
    found: dict[str, str] = {}
    for method in ("minimize", "apply_gradients"):
        for call in file.names.attribute_calls(file.source, method):
            above = file.parent(call)
            if isinstance(above, ast.Assign) and isinstance(call.func, ast.Attribute):
                optimizer = ast.unparse(call.func.value)
                if isinstance(call.func.value, ast.Call):
                    optimizer = f"{optimizer} at {call.lineno}"
                found |= {ast.unparse(target): optimizer for target in above.targets}
    return found
