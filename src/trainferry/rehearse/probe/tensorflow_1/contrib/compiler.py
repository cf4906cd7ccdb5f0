"""`tf.contrib.compiler`: XLA."""

import types

import tensorflow.compat.v1 as tf

jit = types.SimpleNamespace(experimental_jit_scope=tf.xla.experimental.jit_scope)
xla = types.SimpleNamespace(compile=tf.xla.experimental.compile)
