"""Remembers what `tf.gradients` differentiated: the losses and the gradients of a graph.

An optimizer of TensorFlow 1 may write a variable while the loss still reads it, so that the loss
of a step is now that before its update, now that after it. Under watch the update waits.
"""

import functools
import sys

from tensorflow.python.framework import ops
from tensorflow.python.ops import gradients_util
from tensorflow.python.training import optimizer

from .on_graphs import kept_on

# Wrappers of optimizers scale the loss before they hand it on; the outermost call has the user's.
_ENTRANCES = {"minimize", "compute_gradients", "get_updates", "get_gradients"}


class Gradients:
    """One call of `tf.gradients`."""

    def __init__(self, losses, pairs):
        self.losses = losses
        self.pairs = pairs  # [(x, gradient)], without those that have none


def install():
    """Listen to every later call."""
    gradients_util._GradientsHelper = _listening(gradients_util._GradientsHelper)
    base = optimizer.Optimizer
    base.apply_gradients = _after_loss(base.apply_gradients)


def gradients_of(graph):
    """The calls of `tf.gradients` in a graph, in their order."""
    return kept_on(graph, "gradients", list)


def _listening(original):
    @functools.wraps(original)
    def helper(ys, xs, *args, **kwargs):
        gradients = original(ys, xs, *args, **kwargs)
        _remember(_as_list(ys), _as_list(xs), gradients)
        return gradients

    return helper


def _after_loss(original):
    @functools.wraps(original)
    def apply_gradients(self, grads_and_vars, *args, **kwargs):
        pairs = list(grads_and_vars)
        with ops.control_dependencies(_losses_of([variable for _, variable in pairs])):
            return original(self, pairs, *args, **kwargs)

    return apply_gradients


def _losses_of(variables):
    """The losses of the latest gradients of these variables, where an update can wait for them."""
    graph = ops.get_default_graph()
    names = {variable.op.name for variable in variables if hasattr(variable, "op")}
    for record in reversed(gradients_of(graph)):
        if any(x.op.name in names for x, _ in record.pairs):
            return [
                loss.op for loss in record.losses if loss.op._get_control_flow_context() is None
            ]
    return []


def _remember(ys, xs, gradients):
    pairs = [(x, gradient) for x, gradient in zip(xs, gradients) if gradient is not None]
    if not pairs or not all(isinstance(y, ops.Tensor) for y in ys):
        return
    graph = ys[0].graph
    loss = _users_loss(graph)
    losses = ys if loss is None else [loss]
    gradients_of(graph).append(Gradients(losses, pairs))


def _users_loss(graph):
    found, frame = None, sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_name in _ENTRANCES:
            loss = frame.f_locals.get("loss")
            if isinstance(loss, ops.Tensor) and loss.graph is graph:
                found = loss
        frame = frame.f_back
    return found


def _as_list(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]
