"""The few device kernels that pay for themselves; each has a plain PyTorch path beside it."""
