"""The packages `npu_bridge` and `hccl` as they are on the device, on stock TensorFlow."""
