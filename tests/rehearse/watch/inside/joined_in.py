"""Another part of the probe joins in: reads gradients, and the weights that a step left."""

import importlib
import json

import tensorflow as tf

watch = importlib.import_module("trainferry_probe.watch")
told = []


def choose(run):
    (weights, gradient), *others = run.gradients
    assert not others
    assert run.can_fetch(gradient)
    return {"gradients/" + weights.op.name: gradient}


def begin(step):
    told.append(["before", step.number, step.read(variable).tolist()])


def end(step):
    values = {name: value.tolist() for name, value in step.values.items()}
    told.append(["after", step.number, step.read(variable).tolist(), values, step.loss])


watch.add_fetches(choose)
watch.before_step(begin)
watch.after_step(end)
variable = tf.get_variable("weights", [2], initializer=tf.ones_initializer())
loss = tf.reduce_sum(tf.square(variable))
train = tf.train.GradientDescentOptimizer(0.25).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(2):
        assert session.run([loss, train])[1] is None
print(json.dumps(told))
