"""Learns to add two handfuls of dots, on all GPUs of a machine, with MirroredStrategy."""

import argparse

import numpy as np
import tensorflow as tf

SIZE = 12
MOST = 5


def scatter_dots(count, seed):
    """Two pictures side by side with up to five dots each; the label is their sum."""
    random = np.random.RandomState(seed)
    sums = random.randint(MOST + 1, size=(2, count)).sum(axis=0)
    places = np.argsort(random.uniform(size=(count, 2 * SIZE * SIZE)), axis=1)
    images = (places < sums[:, None]).reshape(count, SIZE, 2 * SIZE, 1)
    return {"image": images.astype(np.float32)}, sums.astype(np.float32)


def input_fn(count, seed, batch_size, training):
    dataset = tf.data.Dataset.from_tensor_slices(scatter_dots(count, seed))
    if training:
        dataset = dataset.shuffle(count).repeat()
    return dataset.batch(batch_size)


def model_fn(features, labels, mode, params):
    net = tf.layers.conv2d(features["image"], 8, 3, padding="same", activation=tf.nn.relu)
    net = tf.reduce_sum(net, axis=[1, 2]) / SIZE
    sums = tf.squeeze(tf.layers.dense(net, 1), axis=1)
    loss = tf.losses.mean_squared_error(labels, sums)
    if mode == tf.estimator.ModeKeys.EVAL:
        error = tf.metrics.mean_absolute_error(labels, sums)
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={"error": error})
    optimizer = tf.train.AdamOptimizer(params["learning_rate"])
    train_op = optimizer.minimize(loss, tf.train.get_or_create_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model_dir", default="run")
    parser.add_argument("--batch_size", type=int, default=100, help="of each GPU")
    parser.add_argument("--steps", type=int, default=400)
    args = parser.parse_args()

    strategy = tf.distribute.MirroredStrategy()
    config = tf.estimator.RunConfig(
        model_dir=args.model_dir, train_distribute=strategy, save_checkpoints_steps=200
    )
    estimator = tf.estimator.Estimator(model_fn, config=config, params={"learning_rate": 0.05})
    estimator.train(
        lambda: input_fn(4000, 0, args.batch_size, training=True), max_steps=args.steps
    )
    scores = estimator.evaluate(lambda: input_fn(500, 1, args.batch_size, training=False))
    print("mean error of the sum %.3f" % scores["error"])


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.INFO)
    main()
