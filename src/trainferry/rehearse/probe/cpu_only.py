"""Lets a script see the TensorFlow that NPU machines have: one that was built without CUDA."""


def look_like_cpu_build(tensorflow):
    """Answer as there: a script then chooses `channels_last`, and no GPU."""
    for interface in (tensorflow, tensorflow.compat.v1):
        interface.test.is_built_with_cuda = _is_built_with_cuda


def _is_built_with_cuda():
    return False
