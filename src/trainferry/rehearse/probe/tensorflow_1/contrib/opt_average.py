"""An optimizer that also keeps moving averages of what it trains."""

import tensorflow.compat.v1 as tf


class MovingAverageOptimizer(tf.train.Optimizer):
    """Does what `opt` does, then averages; `swapping_saver` saves the averages as the weights."""

    def __init__(self, opt, average_decay=0.9999, num_updates=None, sequential_update=True):
        # Without the base's __init__, as everything is passed on to `opt`.
        self._optimizer = opt
        self._ema = tf.train.ExponentialMovingAverage(average_decay, num_updates=num_updates)
        self._swapped_variable_name_map = None
        self._sequential_update = sequential_update

    def compute_gradients(self, *positional, **options):
        return self._optimizer.compute_gradients(*positional, **options)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        pairs = list(grads_and_vars)
        step = self._optimizer.apply_gradients(pairs, global_step=global_step, name=name)
        variables = [variable for _, variable in pairs]
        self._swapped_variable_name_map = {
            variable.op.name: self._ema.average_name(variable) for variable in variables
        }
        if self._sequential_update:
            with tf.control_dependencies([step]):
                return tf.group(step, self._ema.apply(variables))
        return tf.group(step, self._ema.apply(variables))

    def swapping_saver(self, var_list=None, name="swapping_saver", **options):
        if self._swapped_variable_name_map is None:
            raise RuntimeError("Must call apply_gradients or minimize before swapping_saver")
        variables = tf.global_variables() if var_list is None else var_list
        if not isinstance(variables, dict):
            variables = {variable.op.name: variable for variable in variables}
        swapped = dict(variables)
        for plain, averaged in self._swapped_variable_name_map.items():
            if plain in variables and averaged not in variables:
                raise ValueError(f"{plain} is saved, but not its average {averaged}")
            if plain in variables:
                swapped[plain], swapped[averaged] = variables[averaged], variables[plain]
        return tf.train.Saver(swapped, name=name, **options)
