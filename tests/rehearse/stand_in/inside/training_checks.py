"""Optimizers, loss scales, loops, estimators and Keras on one rank."""

import numpy as np
import tensorflow as tf

from npu_bridge.npu_init import *
from trainferry_stand_in.errors import WouldFail
from trainferry_stand_in.overflow import set_overflow_steps


def _scales(manager, finite):
    """The loss scale after each step, and the count of good and bad ones."""
    flag = tf.placeholder(tf.bool, [])
    update = manager.update_loss_scale(flag)
    seen = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for good in finite:
            sess.run(update, {flag: good})
            seen.append(float(sess.run(manager.get_loss_scale())))
    return seen


def the_loss_scale_grows_after_good_steps_in_a_row():
    manager = ExponentialUpdateLossScaleManager(8, 2, 2, 2, 0.5)
    assert _scales(manager, [1, 1, 1, 0, 1, 1]) == [8, 16, 16, 16, 16, 32]


def the_loss_scale_shrinks_after_bad_steps_that_need_not_be_in_a_row():
    manager = ExponentialUpdateLossScaleManager(8, 100, 2, 2, 0.5)
    assert _scales(manager, [0, 1, 0, 0, 0]) == [8, 8, 4, 4, 2]


def the_loss_scale_never_falls_below_one():
    manager = ExponentialUpdateLossScaleManager(1, 100, 1, 2, 0.5)
    assert _scales(manager, [0, 0]) == [1, 1]


def the_loss_scale_does_not_grow_to_infinity():
    manager = ExponentialUpdateLossScaleManager(3e38, 1, 2, 10, 0.5)
    assert np.isfinite(_scales(manager, [1, 1])[-1])


def decay_of_the_loss_scale_is_eight_tenths_by_default():
    manager = ExponentialUpdateLossScaleManager(10, 100)
    np.testing.assert_allclose(_scales(manager, [0, 0]), [10, 8])


def a_fixed_scale_below_one_is_refused():
    try:
        FixedLossScaleManager(0.5)
    except ValueError:
        return
    raise AssertionError("nothing was raised")


def _weights(manager, steps, overflow=""):
    """A weight after each step of gradient descent, and the global step at the end."""
    set_overflow_steps(overflow)
    weight = tf.Variable([1.0])
    step = tf.train.get_or_create_global_step()
    optimizer = NPULossScaleOptimizer(tf.train.GradientDescentOptimizer(0.5), manager)
    train = optimizer.minimize(tf.reduce_sum(weight * 0.25), global_step=step)
    seen = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(steps):
            sess.run(train)
            seen.append(float(sess.run(weight)[0]))
        taken = int(sess.run(step))
    set_overflow_steps(None)
    return seen, taken


def scaling_the_loss_does_not_change_the_step():
    assert _weights(FixedLossScaleManager(1024.0), 2) == ([0.875, 0.75], 2)


def an_overflowing_step_is_skipped_and_not_counted():
    assert _weights(FixedLossScaleManager(2.0), 3, "2") == ([0.875, 0.875, 0.75], 2)


def without_the_check_an_overflowing_step_is_taken():
    manager = FixedLossScaleManager(2.0, enable_overflow_check=False)
    assert _weights(manager, 2, "1-2") == ([0.875, 0.75], 2)


def overflow_lowers_the_dynamic_scale():
    manager = ExponentialUpdateLossScaleManager(64, 1000, 1, 2, 0.5)
    set_overflow_steps("1,3")
    weight = tf.Variable([1.0])
    optimizer = NPULossScaleOptimizer(tf.train.AdamOptimizer(0.1), manager)
    train = optimizer.minimize(tf.reduce_sum(weight * weight))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            sess.run(train)
        assert sess.run(manager.get_loss_scale()) == 16
    set_overflow_steps(None)


def a_gradient_that_is_not_finite_is_an_overflow():
    weight = tf.Variable([1.0])
    optimizer = NPULossScaleOptimizer(
        tf.train.GradientDescentOptimizer(1.0), FixedLossScaleManager(1.0)
    )
    train = optimizer.minimize(tf.reduce_sum(weight * np.float32(np.inf)))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        assert sess.run(weight)[0] == 1.0


def npu_optimizer_needs_a_manager_to_scale():
    try:
        NPUOptimizer(tf.train.GradientDescentOptimizer(1.0), is_loss_scale=True)
    except ValueError:
        return
    raise AssertionError("nothing was raised")


def a_broadcast_of_something_else_than_a_list_is_refused():
    try:
        hccl_ops.broadcast(tf.constant([1.0]), 0)
    except TypeError as error:
        assert "list" in str(error)
        return
    raise AssertionError("nothing was raised")


def allreduce_has_no_float64_and_no_bool():
    for value in (tf.constant(1.0, tf.float64), tf.constant(True), tf.constant(1, tf.uint8)):
        try:
            hccl_ops.allreduce(value, "sum")
        except TypeError as error:
            assert "HCCL" in str(error)
        else:
            raise AssertionError("nothing was raised")


def one_rank_alone_keeps_its_values():
    kept = [
        hccl_ops.allreduce(tf.constant([1.0, 2.0]), "sum"),
        hccl_ops.allgather(tf.constant([1.0, 2.0]), 1),
        hccl_ops.broadcast([tf.constant([1.0, 2.0])], 0)[0],
        hccl_ops.reduce_scatter(tf.constant([1.0, 2.0]), "max", 1),
    ]
    with tf.Session() as sess:
        for value in sess.run(kept):
            np.testing.assert_array_equal(value, [1.0, 2.0])


def gelu_is_the_one_with_tanh():
    x = np.linspace(-3, 3, 7).astype(np.float32)
    with tf.Session() as sess:
        y = sess.run(npu_unary_ops.gelu(tf.constant(x)))
    wanted = 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    np.testing.assert_allclose(y, wanted, atol=1e-6)


def dropout_keeps_the_mean_and_refuses_what_the_device_refuses():
    with tf.Session() as sess:
        kept = sess.run(npu_ops.dropout(tf.ones([10000]), keep_prob=0.8, seed=1))
    assert abs(kept.mean() - 1) < 0.05
    assert set(np.unique(kept)) == {np.float32(0), np.float32(1.25)}
    for value, keep in ((tf.constant([1]), 0.5), (tf.constant([1.0]), 0.0)):
        try:
            npu_ops.dropout(value, keep)
        except ValueError:
            continue
        raise AssertionError("nothing was raised")


def _counting(steps):
    step = tf.train.get_or_create_global_step()
    return step, tf.assign_add(step, 1).op


def one_run_of_the_loop_operator_is_several_steps():
    step, train = _counting(5)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        looped = util.set_iteration_per_loop(sess, train, 5)
        sess.run(looped)
        sess.run([looped])
        assert sess.run(step) == 10
        sess.run(train)
        assert sess.run(step) == 11


def the_loop_in_two_calls_works_on_a_frozen_graph():
    step, train = _counting(3)
    loop = util.IterationPerLoop()
    looped = loop.create_iteration_per_loop_var(train)
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        tf.get_default_graph().finalize()
        loop.load_iteration_per_loop_var(sess, 3)
        sess.run(looped)
        assert sess.run(step) == 3


def a_loop_needs_an_operation_and_a_whole_number():
    step, train = _counting(1)
    with tf.Session() as sess:
        for op, steps in ((tf.assign_add(step, 1), 2), (train, 0)):
            try:
                util.set_iteration_per_loop(sess, op, steps)
            except ValueError:
                continue
            raise AssertionError("nothing was raised")


def data_that_ends_inside_a_loop_is_an_error():
    data = tf.data.Dataset.range(5)
    iterator = tf.data.make_initializable_iterator(data)
    train = tf.group(iterator.get_next())
    with tf.Session() as sess:
        sess.run(iterator.initializer)
        looped = util.set_iteration_per_loop(sess, train, 3)
        sess.run(looped)
        try:
            sess.run(looped)
        except WouldFail as error:
            assert "2 of 3" in str(error)
            return
    raise AssertionError("nothing was raised")


def unfinished_stand_ins_say_so():
    for call in (
        lambda: npu_cpu_ops.ocr_find_contours(None),
        lambda: npu_plugin.init_rdma_pool(1),
        lambda: npu_unary_ops.some_operator(1),
    ):
        try:
            call()
        except NotImplementedError as error:
            assert "device only" in str(error)
        else:
            raise AssertionError("nothing was raised")


def scopes_mark_their_operators():
    with npu_scope.keep_dtype_scope():
        kept = tf.add(1.0, 2.0)
    with npu_scope.without_npu_compile_scope():
        host = tf.add(1.0, 2.0)
    assert kept.op.get_attr("_keep_dtype") == 1
    assert host.op.get_attr("_without_npu_compile")


def profilers_cannot_be_nested():
    try:
        with profiler.Profiler(level="L1"), profiler.Profiler():
            pass
    except ValueError as error:
        assert "nested" in str(error)
        return
    raise AssertionError("nothing was raised")


def gradients_of_larsv2_follow_the_norms():
    w, g = np.array([3.0, 4.0], np.float32), np.array([0.6, 0.8], np.float32)
    with tf.Session() as sess:
        found = sess.run(npu_ops.LARSV2(tf.constant(w), tf.constant(g), 0.1, 0.01))
    wanted = (g + 0.1 * w) * 0.001 * 5 / (1 + 0.1 * 5 + 1e-5)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def an_unrolled_network_equals_static_rnn():
    x = tf.constant(np.random.RandomState(1).randn(4, 2, 3).astype(np.float32))
    y, last = npu_rnn.npu_dynamic_rnn(tf.nn.rnn_cell.GRUCell(2), x, dtype=tf.float32)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        outputs, state = sess.run([y, last])
    np.testing.assert_array_equal(outputs[-1], state)
