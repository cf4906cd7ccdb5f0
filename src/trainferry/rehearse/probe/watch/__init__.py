"""Watches the sessions of the user's script and writes what they did as facts.

The rest of the probe joins in through four functions, before TensorFlow is imported or after:

    from ..watch import add_fetches, after_step, before_step, settings

    add_fetches(choose)     choose(run) -> {name: tensor}. Asked once for every kind of train step,
                            before its first; these tensors are then fetched in the same
                            `Session.run` as the script's own, at every step of that kind. The
                            answer is kept: another set of fetches would make TensorFlow build its
                            executor anew, which takes seconds on a large graph.
    before_step(callback)   callback(step), before each train step runs.
    after_step(callback)    callback(step), after it, with `step.values`.
    settings()              the dictionary of the file that TRAINFERRY_WATCH names.

`run` and `step` are described in `records.py`:

    run.number run.session run.graph run.feeds (names) run.fetches (names) run.operators (a set of
    names: what the run executes) run.losses (tensors) run.gradients (list of (x, gradient), as
    `tf.gradients` gave them, those that this run computes) run.can_fetch(tensor)
    step.number (from 1) step.run step.session step.feeds {tensor: array}
    step.values {name: array} of add_fetches; step.loss, a number or None
    step.read(fetches, feed_dict) runs what is not watched, e.g. to read the updated weights

Callbacks run in the thread of the step; what they raise reaches the script. A train step is a run
that changes trainable variables by gradients; a loop of the device is several steps.
"""

from .callbacks import add_fetches, after_step, before_step
from .settings import VARIABLE, settings

__all__ = ["VARIABLE", "add_fetches", "after_step", "before_step", "install", "settings"]


def install(tensorflow):
    """Begin to watch; `tensorflow` has just been imported."""
    from .install import install_all

    install_all(tensorflow)
