"""`tf.contrib.layers`: tf_slim's layers."""

import tensorflow.compat.v1 as tf
from tf_slim.layers import *  # noqa: F403
from tf_slim.layers import fully_connected as _fully_connected
from tf_slim.layers import summaries
from tf_slim.layers.layers import linear, relu, relu6
from tf_slim.layers.sparse_ops import dense_to_sparse_tensor as dense_to_sparse


def embed_sequence(
    ids,
    vocab_size=None,
    embed_dim=None,
    unique=False,
    initializer=None,
    regularizer=None,
    trainable=True,
    scope=None,
    reuse=None,
):
    """Look up the symbols [batch, length] in a table of vectors, a variable of its own."""
    if not reuse and (vocab_size is None or embed_dim is None):
        raise ValueError("Must specify vocab size and embedding dimension when not reusing")
    with tf.variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        shape = [vocab_size, embed_dim]
        if reuse and (vocab_size is None or embed_dim is None):
            shape = None
        table = tf.get_variable(
            "embeddings",
            shape=shape,
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
        )
        if unique:
            symbols, places = tf.unique(tf.reshape(ids, [-1]))
            vectors = tf.gather(tf.nn.embedding_lookup(table, symbols), places)
            return tf.reshape(vectors, tf.concat([tf.shape(ids), [tf.shape(vectors)[1]]], 0))
        return tf.nn.embedding_lookup(table, ids)


def xavier_initializer_conv2d(uniform=True, seed=None, dtype=tf.float32):
    """Another name of `xavier_initializer`."""
    return xavier_initializer(uniform, seed, dtype)  # noqa: F405


def elu(*positional, **options):
    """A fully connected layer with that activation."""
    return _fully_connected(*positional, activation_fn=tf.nn.elu, **options)
