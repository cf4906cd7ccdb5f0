"""The variables that carry the number of steps per loop to the device."""

import tensorflow as tf

from trainferry_stand_in import sessions
from trainferry_stand_in.errors import RefusedType, RefusedValue
from trainferry_stand_in.notes import note
from trainferry_stand_in.npu_session import npu_entry

SCOPE = "npu_runconfig"
NAMES = ("iterations_per_loop", "loop_cond", "one", "zero")


def loop_variable(name):
    """The variable `name` of this graph, made at the first question; a local variable."""
    found = tf.get_collection(collection_of(name))
    if found:
        return found[0]
    with tf.variable_scope(SCOPE, reuse=tf.AUTO_REUSE):
        return tf.get_variable(
            name,
            shape=[],
            dtype=tf.int64,
            initializer=tf.zeros_initializer(),
            trainable=False,
            collections=[collection_of(name), tf.GraphKeys.LOCAL_VARIABLES],
            use_resource=True,
        )


def collection_of(name):
    return f"{SCOPE}_{name}"


def check_steps(steps):
    if not isinstance(steps, int) or isinstance(steps, bool):
        raise RefusedType(f"`iterations_per_loop` is a whole number, not {steps!r}")
    if steps < 1:
        raise RefusedValue(f"`iterations_per_loop` is 1 or more, not {steps}")


def group_for_loop(train_op):
    """`train_op` under the name by which the device knows the body of its loop."""
    if not isinstance(train_op, tf.Operation):
        raise RefusedValue(
            f"the device loops over an operation; `{train_op}` is a {type(train_op).__name__}"
        )
    return tf.group(train_op, name=sessions.LOOP)


def load_loop(sess, steps):
    """Write the number of steps into the variables of the session, and loop as often."""
    check_steps(steps)
    _check_session(sess, steps)
    for name, value in zip(NAMES, (steps - 1, 0, 1, 0)):
        loop_variable(name).load(value, session=sess)
    sessions.set_loop(sess, steps)


def _check_session(sess, steps):
    """The option of the session must say the same number."""
    config = getattr(sess, "_config", None)
    if not sessions.has_npu(config):
        return
    options = npu_entry(config).parameter_map
    said = options["iterations_per_loop"].i if "iterations_per_loop" in options else 1
    if said != steps:
        note(
            "loop-differs",
            f"the train step is made for {steps} steps per loop, but the session's "
            f"`iterations_per_loop` is {said}",
        )
