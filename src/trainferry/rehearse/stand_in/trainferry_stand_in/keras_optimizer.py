"""Optimizers of Keras whose gradients are averaged over ranks."""

import tensorflow as tf

from trainferry_stand_in.gradients import reduce_all

# TensorFlow 2.11 and later keep the optimizers that graphs can use under `legacy`.
_BASE = getattr(tf.keras.optimizers, "legacy", tf.keras.optimizers).Optimizer


def is_keras_optimizer(optimizer):
    return isinstance(optimizer, (_BASE, tf.keras.optimizers.Optimizer))


def wrap_keras_optimizer(optimizer):
    """Average what `get_gradients` gives, in the optimizer itself."""
    get = optimizer.get_gradients
    optimizer.get_gradients = lambda loss, params: reduce_all(get(loss, params))


class KerasDistributeOptimizer(_BASE):
    """Another optimizer of Keras, with averaged gradients."""

    def __init__(self, optimizer, name="NpuKerasOptimizer", **kwargs):
        super().__init__(name, **kwargs)
        self._inner = optimizer

    def get_gradients(self, loss, params):
        return reduce_all(self._inner.get_gradients(loss, params))

    def apply_gradients(self, grads_and_vars, name=None):
        return self._inner.apply_gradients(grads_and_vars, name)

    def get_updates(self, loss, params):
        gradients = self.get_gradients(loss, params)
        pairs = [(g, v) for g, v in zip(gradients, params) if g is not None]
        return [self.apply_gradients(pairs)]

    def get_config(self):
        return self._inner.get_config()

    def get_weights(self):
        return self._inner.get_weights()

    def set_weights(self, weights):
        self._inner.set_weights(weights)

    @property
    def weights(self):
        return self._inner.weights

    @property
    def iterations(self):
        return self._inner.iterations

    @iterations.setter
    def iterations(self, variable):
        self._inner.iterations = variable

    def __getattr__(self, name):
        if name.startswith("_") or "_inner" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self._inner, name)
