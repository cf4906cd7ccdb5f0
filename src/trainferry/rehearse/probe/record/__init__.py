"""Records the numbers of train steps, so that two runs can be compared.

values/step_0.npz   all variables before the first step, as weights/NAME
values/step_N.npz   loss; gradients/NAME, weights/NAME of the chosen variables; rows/NAME where
                    the gradient has rows only; sums/NAME of tensors that are cut to a sample
start.json          which variables are recorded, and what was copied from the run followed
"""

from ..after_import import call_after_import
from ..watch import add_fetches, after_step, before_step


def record(settings):
    """Record a run, if `settings`, the rehearsal's watch file, asks for values."""
    if settings.get("values") is not None:
        call_after_import("tensorflow", lambda _: _begin(settings))


def _begin(settings):
    from .recorder import Recorder

    recorder = Recorder(settings)
    add_fetches(recorder.choose)
    before_step(recorder.begin)
    after_step(recorder.end)
