"""Estimators and Keras models on one rank."""

import numpy as np
import tensorflow as tf

from npu_bridge.npu_init import *


def _data():
    x = np.random.RandomState(0).rand(8, 3).astype(np.float32)
    data = tf.data.Dataset.from_tensor_slices((x, x.sum(1, keepdims=True)))
    return data.repeat().batch(4, drop_remainder=True)


def _model(features, labels, mode):
    y = tf.layers.dense(features, 1, kernel_initializer=tf.zeros_initializer())
    loss = tf.losses.mean_squared_error(labels, y)
    step = tf.train.get_global_step()
    if mode == tf.estimator.ModeKeys.EVAL:
        return NPUEstimatorSpec(mode, loss=loss, eval_metric_ops={})
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)
    return NPUEstimatorSpec(mode, loss=loss, train_op=train)


class _Counter(tf.train.SessionRunHook):
    def __init__(self):
        self.runs = 0

    def after_run(self, run_context, run_values):
        self.runs += 1


def an_estimator_trains_and_evaluates():
    estimator = NPUEstimator(_model, config=NPURunConfig(), params=None)
    estimator.train(_data, max_steps=4)
    result = estimator.evaluate(_data, steps=2)
    assert result["global_step"] == 4
    assert estimator.model_dir.startswith(os.getcwd())


def an_estimator_loops_on_the_device():
    counter = _Counter()
    config = NPURunConfig(iterations_per_loop=5, save_checkpoints_steps=10)
    estimator = NPUEstimator(_model, config=config)
    estimator.train(_data, max_steps=10, hooks=[counter])
    assert counter.runs == 2
    assert estimator.get_variable_value("global_step") == 10


def communication_ends_with_training():
    sess, _ = init_resource()
    assert get_rank_size() == 1
    estimator = NPUEstimator(_model, config=NPURunConfig())
    estimator.train(_data, max_steps=1)
    try:
        get_rank_size()
    except ValueError as error:
        assert "ended" in str(error)
    else:
        raise AssertionError("nothing was raised")
    sess.close()


def a_host_call_runs_with_every_step():
    seen = []

    def host(step, loss):
        def see(value):
            seen.append(int(value))

        return [tf.py_func(see, [step], [])]

    def model(features, labels, mode):
        spec = _model(features, labels, mode)
        call = (host, [tf.train.get_global_step(), spec.loss])
        return NPUEstimatorSpec(mode, loss=spec.loss, train_op=spec.train_op, host_call=call)

    NPUEstimator(model, config=NPURunConfig()).train(_data, max_steps=3)
    assert len(seen) == 3


def two_folders_for_one_model_are_refused():
    try:
        NPUEstimator(_model, model_dir="one", config=NPURunConfig(model_dir="other"))
    except ValueError:
        return
    raise AssertionError("nothing was raised")


def a_wrapped_run_configuration_trains_a_plain_estimator():
    config = npu_run_config_init(run_config=tf.estimator.RunConfig(save_summary_steps=0))
    estimator = tf.estimator.Estimator(_model, config=config)
    estimator.train(_data, max_steps=2)


def _keras_model():
    return tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])


def _keras_data():
    x = np.random.RandomState(0).rand(8, 3).astype(np.float32)
    return x, x.sum(1, keepdims=True)


def a_keras_model_trains_in_a_session_of_the_npu():
    sess = set_keras_session_npu_config()
    model = _keras_model()
    optimizer = npu_distributed_optimizer_wrapper(tf.keras.optimizers.SGD(0.1))
    model.compile(optimizer, "mse")
    callbacks = npu_callbacks_append([])
    history = model.fit(*_keras_data(), epochs=3, verbose=0, callbacks=callbacks)
    assert history.history["loss"][-1] < history.history["loss"][0]
    npu_clear_session()
    sess.close()


def a_keras_optimizer_can_be_wrapped_by_class():
    set_keras_session_npu_config()
    model = _keras_model()
    model.compile(KerasDistributeOptimizer(tf.keras.optimizers.SGD(0.1)), "mse")
    history = model.fit(*_keras_data(), epochs=3, verbose=0)
    assert history.history["loss"][-1] < history.history["loss"][0]
    npu_clear_session()


def a_keras_model_becomes_an_estimator():
    model = _keras_model()
    model.compile(tf.keras.optimizers.SGD(0.1), "mse")
    config = NPURunConfig(iterations_per_loop=2, save_checkpoints_steps=4)
    estimator = keras_to_npu.model_to_npu_estimator(model, model_dir="keras", config=config)
    assert isinstance(estimator, NPUEstimator)
    estimator.train(_data, max_steps=4)
    assert estimator.get_variable_value("global_step") == 4


def dropout_of_keras_layers_becomes_the_npus():
    original = tf.keras.layers.Dropout.call
    try:
        from npu_bridge.estimator.npu import npu_convert_dropout

        layer = tf.keras.layers.Dropout(0.5)
        dropped = layer(tf.ones([1000]), training=True)
        kept = layer(tf.ones([1000]), training=False)
        with tf.Session() as sess:
            one, other = sess.run([dropped, kept])
        assert set(np.unique(one)) == {np.float32(0), np.float32(2)}
        assert (other == 1).all()
        assert npu_convert_dropout.dropout_call is tf.keras.layers.Dropout.call
    finally:
        tf.keras.layers.Dropout.call = original


def a_strategy_counts_ranks_as_replicas():
    strategy = npu_strategy.NPUStrategy()
    assert strategy.num_replicas_in_sync == 1
    config = NPURunConfig(train_distribute=strategy)
    NPUEstimator(_model, config=config).train(_data, max_steps=2)
