"""Fits a surface on several devices, with Keras."""

import argparse

import tensorflow as tf
from npu_bridge.estimator.npu.npu_callbacks import NPUBroadcastGlobalVariablesCallback
from npu_bridge.estimator.npu.npu_optimizer import npu_distributed_optimizer_wrapper
from npu_bridge.npu_init import close_session
from npu_bridge.npu_init import get_npu_rank_id
from npu_bridge.npu_init import get_npu_rank_size
from npu_bridge.npu_init import init_resource
from npu_bridge.npu_init import set_keras_session_npu_config
from npu_bridge.npu_init import shutdown_resource

from samples import make_samples


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=16)
    args = parser.parse_args()

    npu_session, npu_shutdown = init_resource()
    keras_session = set_keras_session_npu_config()
    dataset = tf.data.Dataset.from_tensor_slices(make_samples(320))
    dataset = dataset.shard(get_npu_rank_size(), get_npu_rank_id())
    dataset = dataset.repeat().batch(args.batch, drop_remainder=True)
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Dense(32, activation="tanh", input_shape=(2,)),
            tf.keras.layers.Dense(1),
        ]
    )
    optimizer = tf.keras.optimizers.SGD(0.05, momentum=0.9)
    model.compile(npu_distributed_optimizer_wrapper(optimizer), "mse")
    callbacks = [NPUBroadcastGlobalVariablesCallback(0)]
    model.fit(dataset, epochs=1, steps_per_epoch=20, callbacks=callbacks, verbose=2)
    shutdown_resource(npu_session, npu_shutdown)
    close_session(npu_session)
    close_session(keras_session)


if __name__ == "__main__":
    main()
