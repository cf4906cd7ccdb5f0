"""A recurrent network, unrolled; as migrated, with some of the graph optimizers turned off."""

import sys

import tensorflow as tf
from tensorflow.core.protobuf import rewriter_config_pb2

state, output, loss = tf.zeros([2, 32]), tf.zeros([2, 16]), 0.0
kernel = tf.get_variable("kernel", [48, 32])
project = tf.get_variable("project", [32, 16])
for _ in range(30):
    state = tf.tanh(tf.matmul(tf.concat([output, state], 1), kernel) + 0.1)
    output = tf.matmul(state * tf.sigmoid(state), project)
    loss += tf.reduce_sum(tf.square(output - 1))
train = tf.train.GradientDescentOptimizer(1e-3).minimize(loss)

config = tf.ConfigProto()
if "migrated" in sys.argv:
    options = config.graph_options.rewrite_options
    options.arithmetic_optimization = rewriter_config_pb2.RewriterConfig.OFF
    options.remapping = rewriter_config_pb2.RewriterConfig.OFF
with tf.Session(config=config) as session:
    session.run(tf.global_variables_initializer())
    while True:
        session.run(train)
