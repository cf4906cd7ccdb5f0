"""`tf.contrib.crf`: conditional random fields over sequences of tags.

Lafferty, McCallum and Pereira, 2001. Scores are [batch, length, tags], transitions [tags, tags].
"""

import numpy as np
import tensorflow.compat.v1 as tf


def crf_unary_score(tag_indices, sequence_lengths, inputs):
    """What the tags score by themselves."""
    chosen = tf.batch_gather(inputs, tf.cast(tag_indices, tf.int32)[:, :, tf.newaxis])[:, :, 0]
    return tf.reduce_sum(chosen * _mask(sequence_lengths, inputs), 1)


def crf_binary_score(tag_indices, sequence_lengths, transition_params):
    """What the steps from tag to tag score."""
    pairs = tf.stack([tag_indices[:, :-1], tag_indices[:, 1:]], axis=2)
    scores = tf.gather_nd(transition_params, pairs)
    mask = tf.sequence_mask(sequence_lengths, tf.shape(tag_indices)[1], scores.dtype)
    return tf.reduce_sum(scores * mask[:, 1:], 1)


def crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params):
    """The score of the given tags."""
    total = crf_unary_score(tag_indices, sequence_lengths, inputs) + crf_binary_score(
        tag_indices, sequence_lengths, transition_params
    )
    return tf.where(tf.less_equal(sequence_lengths, 0), tf.zeros_like(total), total)


def crf_log_norm(inputs, sequence_lengths, transition_params):
    """The logarithm of the sum over all tags."""

    def step(known, given):
        score, number = given
        reached = tf.reduce_logsumexp(known[:, :, tf.newaxis] + transition_params[tf.newaxis], 1)
        within = tf.less(number, sequence_lengths)
        return tf.where(within, reached + score, known)

    scores = tf.transpose(inputs[:, 1:], [1, 0, 2])
    numbers = tf.range(1, tf.shape(inputs)[1], dtype=sequence_lengths.dtype)
    last = tf.foldl(step, (scores, numbers), initializer=inputs[:, 0])
    total = tf.reduce_logsumexp(last, 1)
    return tf.where(tf.less_equal(sequence_lengths, 0), tf.zeros_like(total), total)


def crf_log_likelihood(inputs, tag_indices, sequence_lengths, transition_params=None):
    """How likely the given tags are, as a logarithm per sequence; and the transitions."""
    tags = inputs.shape.as_list()[2]
    if transition_params is None:
        transition_params = tf.get_variable("transitions", [tags, tags])
    sequence_lengths = tf.convert_to_tensor(sequence_lengths)
    score = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    norm = crf_log_norm(inputs, sequence_lengths, transition_params)
    return score - norm, transition_params


def crf_decode(potentials, transition_params, sequence_length):
    """The best tags, [batch, length], and their scores."""
    sequence_length = tf.maximum(tf.cast(sequence_length, tf.int32), 1)
    steps = tf.shape(potentials)[1]
    batch, tags = tf.shape(potentials)[0], potentials.shape.as_list()[2]

    def forward(known, given):
        best, _ = known
        score, number = given
        reached = best[:, :, tf.newaxis] + transition_params[tf.newaxis]
        within = tf.less(number, sequence_length)
        stay = tf.tile(tf.range(tags)[tf.newaxis], [batch, 1])
        came = tf.where(within, tf.argmax(reached, 1, output_type=tf.int32), stay)
        return tf.where(within, tf.reduce_max(reached, 1) + score, best), came

    start = potentials[:, 0], tf.zeros([batch, tags], tf.int32)
    given = tf.transpose(potentials[:, 1:], [1, 0, 2]), tf.range(1, steps)
    best, came = tf.scan(forward, given, initializer=start)
    best = tf.concat([start[0][tf.newaxis], best], 0)[-1]
    last = tf.argmax(best, 1, output_type=tf.int32)

    def backward(tag, pointers):
        return tf.batch_gather(pointers, tag[:, tf.newaxis])[:, 0]

    before = tf.scan(backward, came, initializer=last, reverse=True)
    path = tf.transpose(tf.concat([before, last[tf.newaxis]], 0))
    path *= tf.sequence_mask(sequence_length, steps, tf.int32)
    return path, tf.reduce_max(best, 1)


def viterbi_decode(score, transition_params):
    """The best tags for scores [length, tags] in NumPy, and their score."""
    best = np.array(score[0], dtype=float)
    came = []
    for given in score[1:]:
        reached = best[:, np.newaxis] + transition_params
        came.append(np.argmax(reached, 0))
        best = given + np.max(reached, 0)
    tags = [int(np.argmax(best))]
    for pointers in reversed(came):
        tags.append(int(pointers[tags[-1]]))
    return tags[::-1], np.max(best)


def _mask(sequence_lengths, inputs):
    return tf.sequence_mask(sequence_lengths, tf.shape(inputs)[1], inputs.dtype)
