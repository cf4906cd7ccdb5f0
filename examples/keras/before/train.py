"""Trains a network that sorts waves by their shape, with tf.keras."""

import argparse

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

LENGTH = 64
SHAPES = ["sine", "square", "saw"]


def make_waves(count, seed):
    random = np.random.RandomState(seed)
    labels = random.randint(len(SHAPES), size=count)
    turns = np.linspace(0, 3, LENGTH) * random.uniform(0.7, 1.3, (count, 1))
    turns = (turns + random.uniform(0, 1, (count, 1))) % 1
    sine = np.sin(2 * np.pi * turns)
    waves = np.choose(labels[:, None], [sine, np.sign(sine), 2 * turns - 1])
    waves += random.normal(0, 0.2, waves.shape)
    return waves[..., None].astype(np.float32), labels.astype(np.int32)


def make_dataset(count, seed, batch_size, training):
    dataset = tf.data.Dataset.from_tensor_slices(make_waves(count, seed))
    if training:
        dataset = dataset.shuffle(count).repeat()
    return dataset.batch(batch_size)


def build_model():
    return tf.keras.Sequential(
        [
            layers.Conv1D(16, 7, activation="relu", input_shape=(LENGTH, 1)),
            layers.MaxPool1D(2),
            layers.Conv1D(32, 5, activation="relu"),
            layers.GlobalAveragePooling1D(),
            layers.Dropout(0.1),
            layers.Dense(len(SHAPES), activation="softmax"),
        ]
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch_size", type=int, default=50)
    parser.add_argument("--weights", default="waves.h5")
    args = parser.parse_args()

    model = build_model()
    model.compile(
        optimizer=tf.keras.optimizers.Adam(0.005),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    train = make_dataset(3000, 0, args.batch_size, training=True)
    test = make_dataset(500, 1, args.batch_size, training=False)
    model.fit(
        train,
        epochs=args.epochs,
        steps_per_epoch=3000 // args.batch_size,
        callbacks=[tf.keras.callbacks.TerminateOnNaN()],
        verbose=2,
    )
    _, accuracy = model.evaluate(test, steps=500 // args.batch_size, verbose=0)
    print("accuracy %.3f" % accuracy)
    model.save_weights(args.weights)


if __name__ == "__main__":
    main()
