"""A reduction that HCCL does not know."""

# ranks: 2
import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *

starter = tf.Session(config=npu_config_proto())
starter.run(npu_ops.initialize_system())
rank, ranks = get_rank_id(), get_rank_size()

mean = hccl_ops.allreduce(tf.ones([4]), "mean")  # fault: refused-value

with tf.Session(config=npu_config_proto()) as sess:
    sess.run(mean)
