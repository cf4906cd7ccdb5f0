"""Lets a dimension be a float that is a whole number, as 1.15 does: `channels / groups`."""


def accept_whole_floats():
    """Patch the class `Dimension`."""
    from tensorflow.python.framework import tensor_shape

    make = tensor_shape.Dimension.__init__

    def make_also_from_float(self, value):
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        make(self, value)

    tensor_shape.Dimension.__init__ = make_also_from_float
