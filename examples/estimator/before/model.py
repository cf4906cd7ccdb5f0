"""A small convolutional classifier as a model_fn."""

import tensorflow as tf


def model_fn(features, labels, mode, params):
    training = mode == tf.estimator.ModeKeys.TRAIN
    net = tf.layers.conv2d(features, 16, 3, padding="same", activation=tf.nn.relu)
    net = tf.layers.max_pooling2d(net, 2, 2)
    net = tf.layers.conv2d(net, 32, 3, padding="same", activation=tf.nn.relu)
    net = tf.layers.max_pooling2d(net, 2, 2)
    net = tf.layers.dense(tf.layers.flatten(net), 64, activation=tf.nn.relu)
    if training:
        net = tf.nn.dropout(net, rate=params["dropout"])
    logits = tf.layers.dense(net, params["classes"])
    classes = tf.argmax(logits, axis=1)

    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"classes": classes})

    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    if training:
        optimizer = tf.train.AdamOptimizer(params["learning_rate"])
        step = tf.train.get_or_create_global_step()
        return tf.estimator.EstimatorSpec(
            mode, loss=loss, train_op=optimizer.minimize(loss, global_step=step)
        )
    accuracy = tf.metrics.accuracy(labels, classes)
    return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={"accuracy": accuracy})
