"""A loop of the script's own: feeds, an iterator, a recurrent network, a mask."""

import numpy as np
import tensorflow as tf


def build():
    rows = np.random.RandomState(0).rand(64, 8).astype("float32")
    batches = tf.data.Dataset.from_tensor_slices(rows).repeat()
    batches = batches.batch(4)
    rows = batches.make_one_shot_iterator().get_next()
    keep = tf.placeholder(tf.float32, [], name="keep")
    hidden = tf.layers.dense(rows, 8, tf.nn.relu)
    hidden = tf.nn.dropout(hidden, keep)
    cell = tf.nn.rnn_cell.BasicRNNCell(4)
    hidden, _ = tf.nn.dynamic_rnn(cell, tf.reshape(hidden, [-1, 2, 4]), dtype=tf.float32)
    masked = tf.boolean_mask(rows, rows[:, 0] > 0.5)
    loss = tf.reduce_mean(tf.square(hidden)) + 0.0 * tf.reduce_sum(masked)
    return keep, loss, tf.train.AdamOptimizer(0.1).minimize(loss)


keep, loss, train = build()
options = tf.ConfigProto(allow_soft_placement=True)
entry = options.graph_options.rewrite_options.custom_optimizers.add()
entry.name = "NpuOptimizer"
entry.parameter_map["use_off_line"].b = True
entry.parameter_map["precision_mode"].s = b"allow_mix_precision"
options.graph_options.rewrite_options.remapping = 2
with tf.Session(config=options) as session:
    session.run(tf.global_variables_initializer())
    for _ in range(50):
        value = session.run([train, loss], {keep: 0.5})[1]
        print("loss", value)
print("after the loop")
