"""Fits a surface on several devices, with Horovod and Keras."""

import argparse

import horovod.tensorflow.keras as hvd
import tensorflow as tf

from samples import make_samples


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=16)
    args = parser.parse_args()

    hvd.init()
    dataset = tf.data.Dataset.from_tensor_slices(make_samples(320))
    dataset = dataset.shard(hvd.size(), hvd.rank()).repeat()
    dataset = dataset.batch(args.batch, drop_remainder=True)
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Dense(32, activation="tanh", input_shape=(2,)),
            tf.keras.layers.Dense(1),
        ]
    )
    optimizer = hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.05, momentum=0.9))
    model.compile(optimizer=optimizer, loss="mse")
    callbacks = [hvd.callbacks.BroadcastGlobalVariablesCallback(0)]
    model.fit(dataset, epochs=1, steps_per_epoch=20, callbacks=callbacks, verbose=2)


if __name__ == "__main__":
    main()
