"""Trains a classifier of stripes with an Estimator."""

import argparse

import tensorflow as tf

import stripes
from model import model_fn


def train_input_fn(batch_size):
    images, labels = stripes.draw(2000, seed=0)
    dataset = tf.data.Dataset.from_tensor_slices((images, labels))
    return dataset.shuffle(2000).repeat().batch(batch_size).prefetch(2)


def eval_input_fn(batch_size):
    images, labels = stripes.draw(500, seed=1)
    return tf.data.Dataset.from_tensor_slices((images, labels)).batch(batch_size)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model_dir", default="run")
    parser.add_argument("--batch_size", type=int, default=64)
    parser.add_argument("--steps", type=int, default=200)
    args = parser.parse_args()

    session_config = tf.ConfigProto(allow_soft_placement=True)
    session_config.gpu_options.allow_growth = True
    run_config = tf.estimator.RunConfig(
        model_dir=args.model_dir,
        session_config=session_config,
        save_checkpoints_steps=100,
        log_step_count_steps=50,
    )
    estimator = tf.estimator.Estimator(
        model_fn,
        config=run_config,
        params={"classes": stripes.DIRECTIONS, "dropout": 0.2, "learning_rate": 1e-3},
    )
    train_spec = tf.estimator.TrainSpec(
        lambda: train_input_fn(args.batch_size), max_steps=args.steps
    )
    eval_spec = tf.estimator.EvalSpec(
        lambda: eval_input_fn(args.batch_size), steps=None, throttle_secs=0
    )
    scores, _ = tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)
    print("accuracy %.3f after %d steps" % (scores["accuracy"], scores["global_step"]))


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.INFO)
    main()
