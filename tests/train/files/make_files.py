"""Makes lars.json and rates.json in this folder; run with TensorFlow 1.15.5, Python 3.7.

    python make_files.py

`lars.json`: variables of each kind before and after five updates of
`tf.contrib.opt.LARSOptimizer`, with the arguments that the official ResNet gives it.
`rates.json`: learning rates of the official ResNet, `official/r1/resnet/resnet_run_loop.py`,
and of the zoo's DenseNet, at the steps where they turn.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

FOLDER = Path(__file__).parent
UPDATES = 5
RATES = (5.0, 4.0, 3.0, 2.5, 0.1)
START = {
    "conv2d/kernel": (3, 3, 2, 4),
    "batch_normalization/gamma": (4,),
    "batch_normalization/beta": (4,),
    "dense/kernel": (4, 3),
    "dense/bias": (3,),
    "zeros/kernel": (2, 2),
    "still/kernel": (2, 2),
}
IMAGENET = 1281167


def lars() -> None:
    stream = np.random.RandomState(3)
    start = {name: stream.standard_normal(shape).astype("f") for name, shape in START.items()}
    start["zeros/kernel"][:] = 0
    gradients = [
        {name: stream.standard_normal(shape).astype("f") for name, shape in START.items()}
        for _ in range(UPDATES)
    ]
    for one in gradients:
        one["still/kernel"][:] = 0
    after = {str(nesterov): updated(start, gradients, nesterov) for nesterov in (False, True)}
    save("lars.json", {"start": start, "rates": RATES, "gradients": gradients, "after": after})


def updated(start: Any, gradients: Any, nesterov: bool) -> Any:
    """Return every variable and its slot after the updates."""
    tf.reset_default_graph()
    rate = tf.placeholder(tf.float32, [])
    variables = {name: tf.get_variable(name, initializer=value) for name, value in start.items()}
    fed = {name: tf.placeholder(tf.float32, value.shape) for name, value in start.items()}
    optimizer = tf.contrib.opt.LARSOptimizer(
        rate,
        momentum=0.9,
        weight_decay=1e-4,
        skip_list=["batch_normalization", "bias"],
        use_nesterov=nesterov,
    )
    update = optimizer.apply_gradients([(fed[name], variables[name]) for name in start])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for number, one in enumerate(gradients):
            feeds = {fed[name]: one[name] for name in start}
            session.run(update, {rate: RATES[number], **feeds})
        slots = {name: optimizer.get_slot(variables[name], "momentum") for name in start}
        return session.run({"variables": variables, "momentum": slots})


def rates() -> None:
    found: dict[str, Any] = {}
    for batch in (32, 256, 1024):
        per_epoch = IMAGENET / batch
        turns = [int(per_epoch * epoch) for epoch in (5, 30, 60, 80, 90)]
        steps = [0, 1, *(turn + by for turn in turns for by in (-1, 0, 1))]
        found[f"piecewise {batch}"] = evaluated(lambda step, b=batch: piecewise(step, b), steps)
    for samples in (IMAGENET, 4096 * 312):
        warm, last = int(5 * (samples / 4096)), int(90 * (samples / 4096))
        steps = [0, 1, warm - 1, warm, warm + 1, warm + 2, last // 2, last - 1, last, last + 9]
        found[f"polynomial {samples}"] = evaluated(lambda step, n=samples: poly(step, n), steps)
    found["densenet 256"] = densenet(256)
    save("rates.json", found)


def piecewise(step: Any, batch: int) -> Any:
    initial = 0.128 * batch / 256
    per_epoch = IMAGENET / batch
    boundaries = [int(per_epoch * epoch) for epoch in (30, 60, 80, 90)]
    values = [initial * decay for decay in (1, 0.1, 0.01, 0.001, 1e-4)]
    rate = tf.compat.v1.train.piecewise_constant(step, boundaries, values)
    warmup = int(per_epoch * 5)
    rising = initial * tf.cast(step, tf.float32) / tf.cast(warmup, tf.float32)
    return tf.cond(step < warmup, lambda: rising, lambda: rate)


def poly(step: Any, samples: int, batch: int = 4096) -> Any:
    """`poly_rate_fn` of the original, for a batch below 8192."""
    peak, per_epoch = 5.0, samples / batch
    warmup = int(5 * per_epoch)
    rising = peak * tf.cast(step, tf.float32) / tf.cast(warmup, tf.float32)
    train_steps = per_epoch * 90
    done = tf.maximum(tf.constant(1, dtype=tf.int64), tf.subtract(step, warmup))
    falling = tf.train.polynomial_decay(peak, done, train_steps - warmup + 1, power=2.0)
    return tf.where(step <= warmup, rising, falling)


def densenet(batch: int) -> list[tuple[int, float]]:
    """The table that the original makes in NumPy, without TensorFlow."""
    per_epoch = IMAGENET // batch
    table = [0.5 * 0.1 * (1 + math.cos(math.pi * epoch / 150)) for epoch in range(150)]
    places = [0, 1, 29, 30, 75, 149]
    steps = [epoch * per_epoch + by for epoch in places for by in (0, per_epoch - 1)]
    return [(step, table[step // per_epoch]) for step in steps]


def evaluated(rate: Any, steps: list[int]) -> list[tuple[int, float]]:
    tf.reset_default_graph()
    step = tf.placeholder(tf.int64, [])
    value = rate(step)
    with tf.Session() as session:
        return [(one, float(session.run(value, {step: one}))) for one in steps]


def save(name: str, facts: Any) -> None:
    text = json.dumps(facts, default=lambda array: array.tolist(), separators=(",", ":"))
    (FOLDER / name).write_text(text + "\n")


if __name__ == "__main__":
    lars()
    rates()
