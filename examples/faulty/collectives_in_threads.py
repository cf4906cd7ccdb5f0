"""A thread looks at the loss of all ranks while another trains."""

# ranks: 2
import threading

import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *

starter = tf.Session(config=npu_config_proto())
starter.run(npu_ops.initialize_system())
rank, ranks = get_rank_id(), get_rank_size()

data = tf.data.Dataset.from_tensor_slices(
    (np.random.RandomState(0).rand(48, 8).astype("float32"), np.arange(48) % 3)
)
data = data.shard(ranks, rank)
iterator = data.repeat().batch(4, drop_remainder=True).make_initializable_iterator()
images, labels = iterator.get_next()
logits = tf.matmul(images, tf.get_variable("w", [8, 3]))
loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
train_op = npu_distributed_optimizer_wrapper(tf.train.MomentumOptimizer(0.1, 0.9)).minimize(loss)
broadcast = hccl_ops.broadcast(tf.trainable_variables(), 0)
worst = hccl_ops.allreduce(loss, "max")
looked, ended = threading.Event(), threading.Event()


def look():
    sess.run(worst)  # fault: collectives-in-threads
    looked.set()
    ended.wait()


with tf.Session(config=npu_config_proto()) as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(iterator.initializer)
    sess.run(broadcast)
    thread = threading.Thread(target=look)
    thread.start()
    looked.wait()
    for _ in range(3):
        sess.run(train_op)
    ended.set()
    thread.join()
starter.run(npu_ops.shutdown_system())
starter.close()
