"""The last batch of one rank is smaller."""

# ranks: 2
import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *

starter = tf.Session(config=npu_config_proto())
starter.run(npu_ops.initialize_system())
rank, ranks = get_rank_id(), get_rank_size()

scores = tf.ones([4 - rank])
total = hccl_ops.allreduce(scores, "sum")  # fault: ranks-disagree

with tf.Session(config=npu_config_proto()) as sess:
    sess.run(total)
starter.run(npu_ops.shutdown_system())
starter.close()
