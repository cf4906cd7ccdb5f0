"""More collectives than a session has threads: not all of them may wait at once."""

import tensorflow as tf

from npu_bridge.npu_init import *

COUNT, THREADS = 600, 256

init_resource()
totals = [hccl_ops.allreduce(tf.constant(float(i)), "sum") for i in range(COUNT)]
operators = tf.get_default_graph().get_operations()
waiting = [op for op in operators if op.type == "PyFunc" and op.name.startswith("Hcom")]
assert 0 < sum(not op.control_inputs for op in waiting) < THREADS
with tf.Session() as sess:
    assert sess.run(totals) == [2.0 * i for i in range(COUNT)]
print("done")
