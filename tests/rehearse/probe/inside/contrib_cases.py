"""Computes with parts of `tf.contrib` that we rebuilt; prints the numbers as JSON.

Runs on TensorFlow 1.15 with the real parts and behind the import layer with ours. Each function
is a case: it returns tensors, or a function of the session that returns values.
"""

from __future__ import annotations

import inspect
import json
import sys
import traceback
import zlib

import numpy as np
import tensorflow as tf

WORDS = np.random.RandomState(0).randn(2, 5, 3).astype("f")
LENGTHS = [5, 3]


def _steps():
    return tf.unstack(tf.constant(WORDS), axis=1)


def _with_gradients(outputs):
    return outputs, tf.gradients(outputs[0], tf.trainable_variables())


def stacked_bidirectional():
    make = tf.contrib.rnn.LSTMCell
    return _with_gradients(
        tf.contrib.rnn.stack_bidirectional_dynamic_rnn(
            [make(4), make(4)],
            [make(4), make(4)],
            tf.constant(WORDS),
            sequence_length=LENGTHS,
            dtype=tf.float32,
        )
    )


def stacked_bidirectional_over_a_list():
    part = tf.contrib.rnn
    return part.stack_bidirectional_rnn(
        [part.BasicLSTMCell(4)], [part.GRUCell(4)], _steps(), dtype=tf.float32
    )


def _over_words(cell):
    return _with_gradients(tf.nn.dynamic_rnn(cell, tf.constant(WORDS), LENGTHS, dtype=tf.float32))


def normalised_lstm():
    return _over_words(tf.contrib.rnn.LayerNormBasicLSTMCell(4))


def normalised_lstm_without_norm():
    return _over_words(tf.contrib.rnn.LayerNormBasicLSTMCell(4, layer_norm=False))


def projected_cell():
    part = tf.contrib.rnn
    inner = part.InputProjectionWrapper(part.GRUCell(4), 6)
    return _over_words(part.OutputProjectionWrapper(inner, 2))


def block_lstm():
    return _over_words(tf.contrib.rnn.LSTMBlockCell(4))


def block_lstm_with_peepholes_and_clipping():
    return _over_words(tf.contrib.rnn.LSTMBlockCell(4, use_peephole=True, cell_clip=0.5))


def fused_lstm():
    cell = tf.contrib.rnn.LSTMBlockFusedCell(4, use_peephole=True)
    words = tf.constant(WORDS.transpose(1, 0, 2))
    return _with_gradients(cell(words, dtype=tf.float32, sequence_length=[5, 0]))


def _attention(heads, initial):
    places = tf.constant(np.arange(60).reshape(2, 6, 5) / 60, tf.float32)
    return _with_gradients(
        tf.contrib.legacy_seq2seq.attention_decoder(
            _steps(),
            tf.nn.rnn_cell.LSTMCell(4).zero_state(2, tf.float32),
            places,
            tf.nn.rnn_cell.LSTMCell(4),
            num_heads=heads,
            output_size=7,
            initial_state_attention=initial,
            loop_function=lambda previous, _: previous[:, :3],
        )
    )


def attention_with_one_head():
    return _attention(1, False)


def attention_with_two_heads_from_the_initial_state():
    return _attention(2, True)


def attention_over_symbols():
    cell = tf.nn.rnn_cell.GRUCell(4)
    return tf.contrib.legacy_seq2seq.embedding_attention_decoder(
        [tf.constant([1, 2]), tf.constant([3, 0])],
        cell.zero_state(2, tf.float32),
        tf.constant(WORDS),
        cell,
        5,
        3,
        output_size=5,
        feed_previous=True,
    )


def encoder_and_decoder():
    cell = tf.nn.rnn_cell.GRUCell(4)
    return tf.contrib.legacy_seq2seq.basic_rnn_seq2seq(_steps(), _steps()[:2], cell)


def losses_over_steps():
    part = tf.contrib.legacy_seq2seq
    given = _steps()[:3], [tf.constant([0, 2])] * 3, [tf.constant([1.0, 0.5])] * 3
    return part.sequence_loss(*given), part.sequence_loss_by_example(*given)


def _train(optimizer, sparse=False, resource=False):
    # The gradient does not depend on the weights: 1.15 decays them before or behind it by chance.
    weights = tf.get_variable("w", [4, 3], use_resource=resource)
    rows = tf.gather(weights, [1, 1, 2]) if sparse else weights
    step = optimizer.minimize(tf.reduce_sum(rows * [1.0, -2.0, 3.0]))

    def values(session):
        found = []
        for _ in range(4):
            session.run(step)
            found.append(session.run(weights))
        return found

    return values


def lars():
    return _train(tf.contrib.opt.LARSOptimizer(0.1, eeta=0.1, epsilon=1e-5))


def lars_with_nesterov_on_resources():
    return _train(tf.contrib.opt.LARSOptimizer(0.1, use_nesterov=True), resource=True)


def lars_on_rows():
    return _train(tf.contrib.opt.LARSOptimizer(0.1, skip_list=["w"]), sparse=True)


def lazy_adam():
    return _train(tf.contrib.opt.LazyAdamOptimizer(0.1), sparse=True)


def adam_with_decay():
    return _train(tf.contrib.opt.AdamWOptimizer(0.01, 0.1))


def adam_with_decay_on_rows():
    return _train(tf.contrib.opt.AdamWOptimizer(0.01, 0.1), sparse=True, resource=True)


def momentum_with_decay():
    return _train(tf.contrib.opt.MomentumWOptimizer(0.01, 0.1, 0.9))


def any_optimizer_with_decay():
    extend = tf.contrib.opt.extend_with_decoupled_weight_decay
    plain = tf.train.GradientDescentOptimizer
    return _train(extend(plain)(0.01, learning_rate=0.1))


def nadam():
    return _train(tf.contrib.opt.NadamOptimizer(0.1))


def averages():
    plain = tf.train.GradientDescentOptimizer(0.1)
    return _train(tf.contrib.opt.MovingAverageOptimizer(plain, 0.5))


def fixed_loss_scale():
    part = tf.contrib.mixed_precision
    plain = tf.train.AdamOptimizer(0.1)
    return _train(part.LossScaleOptimizer(plain, part.FixedLossScaleManager(128)))


def loss_scale_that_follows():
    part = tf.contrib.mixed_precision
    manager = part.ExponentialUpdateLossScaleManager(4.0, 2, 2, 2, 0.5)
    factor = tf.placeholder(tf.float32, [])
    weights = tf.get_variable("w", [2])
    optimizer = part.LossScaleOptimizer(tf.train.GradientDescentOptimizer(0.1), manager)
    counter = tf.train.get_or_create_global_step()
    step = optimizer.minimize(tf.reduce_sum(weights * factor), global_step=counter)
    bad = float("nan")

    def values(session):
        found = []
        for number in (1, 1, 1, 1, 1, bad, 1, bad, bad, bad, bad, 1, 1, bad, bad, bad, bad):
            session.run(step, {factor: number})
            found.append(session.run([manager.get_loss_scale(), weights, counter]))
        return found

    return values


def random_fields():
    part = tf.contrib.crf
    tags = tf.constant([[0, 1, 2, 1, 0], [2, 1, 0, 0, 0]])
    transitions = tf.get_variable("t", [3, 3])
    lengths = tf.constant(LENGTHS)
    likely, _ = part.crf_log_likelihood(tf.constant(WORDS), tags, lengths, transitions)
    best = part.crf_decode(tf.constant(WORDS), transitions, lengths)
    tags_in_numpy, score = part.viterbi_decode(WORDS[0], WORDS[1][:3])
    given = tf.constant(tags_in_numpy), tf.constant(score, tf.float32)
    return likely, tf.gradients(likely, transitions), best, given


def turned_pictures():
    part = tf.contrib.image
    pictures = tf.constant(np.arange(60).reshape(2, 6, 5, 1), tf.float32)
    return (
        part.rotate(pictures, [0.3, -1.0], interpolation="BILINEAR"),
        part.rotate(pictures[0], 1.57),
        part.translate(pictures, [1, 2]),
        part.transform(pictures[0, :, :, 0], [1, 0.1, 0, 0.2, 1, 0, 0, 0]),
    )


def tables():
    part = tf.contrib.lookup
    table = part.index_table_from_tensor(mapping=tf.constant(["a", "b"]), num_oov_buckets=1)
    pairs = part.HashTable(part.KeyValueTensorInitializer(["k"], [7]), -1)

    def values(session):
        session.run(pairs.init)
        words = tf.constant(["b", "q"]), tf.constant(["k", "z"])
        return session.run([table.lookup(words[0]), pairs.lookup(words[1])])

    return values


def datasets():
    part = tf.contrib.data
    numbers = tf.data.Dataset.range(10)
    return [
        numbers.apply(change).make_one_shot_iterator().get_next()
        for change in (
            part.batch_and_drop_remainder(4),
            part.map_and_batch(lambda number: number * 2, 3),
            part.shuffle_and_repeat(1),
        )
    ]


def flipped_losses():
    part = tf.contrib.nn
    logits = tf.constant(WORDS[0])
    return (
        part.deprecated_flipped_sigmoid_cross_entropy_with_logits(logits, tf.ones_like(logits)),
        part.deprecated_flipped_softmax_cross_entropy_with_logits(logits, tf.nn.softmax(logits)),
    )


def settings():
    found = tf.contrib.training.HParams(a=1, b=0.5, c="x", d=[1, 2, 3], e=True, f=None)
    texts = []
    for text in (
        "a=3,b=2,c=hello world,d=[4,5],e=false",
        "a=3.5",
        "d=4",
        "d[1]=9",
        "a=[1,2]",
        "zz=1",
        "a",
        "a=1,a=2",
        "c=a=b",
        "d=[]",
        "e=0",
    ):
        try:
            texts.append(found.parse(text).to_json(sort_keys=True))
        except ValueError as error:
            texts.append(str(error))
    return lambda _: texts


def _fill(session):
    """Give each weight values that follow from its name alone."""
    for variable in tf.trainable_variables():
        random = np.random.RandomState(zlib.crc32(variable.op.name.encode()) % 2**31)
        value = random.randn(*variable.shape.as_list()).astype("f") * 0.3
        session.run(variable.initializer, {variable.initializer.inputs[1]: value})


def _values(case):
    tf.reset_default_graph()
    fetched = case()
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        _fill(session)
        found = fetched(session) if callable(fetched) else session.run(fetched)
        names = sorted(variable.op.name for variable in tf.trainable_variables())
    return names, [np.asarray(value).tolist() for value in _flat(found)]


def _flat(values):
    if isinstance(values, (list, tuple)):
        return [inner for value in values for inner in _flat(value)]
    return [values]


def main():
    tf.logging.set_verbosity("ERROR")
    found = {}
    for name, case in list(globals().items()):
        if inspect.isfunction(case) and not name.startswith("_") and name != "main":
            try:
                found[name] = _values(case)
            except Exception:
                found[name] = traceback.format_exc()
    print()
    print(json.dumps(found))
    sys.stdout.flush()


main()
