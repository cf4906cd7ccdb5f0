"""What the stand-ins for `npu_bridge` and `hccl` share: ranks, the hub, options, errors."""
