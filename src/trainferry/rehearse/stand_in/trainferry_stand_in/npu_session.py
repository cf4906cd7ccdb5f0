"""How the adapter changes the configuration of a session to hand its graphs to the NPU."""

from tensorflow.core.protobuf import config_pb2, rewriter_config_pb2


def turn_to_npu(config):
    """Change `config` as the adapter changes every session, and give it back."""
    config.allow_soft_placement = True
    config.log_device_placement = False
    turn_graph_to_npu(config.graph_options)
    return config


def turn_graph_to_npu(graph_options):
    off = rewriter_config_pb2.RewriterConfig.OFF
    rewrite = graph_options.rewrite_options
    if not any(entry.name == "NpuOptimizer" for entry in rewrite.custom_optimizers):
        rewrite.custom_optimizers.add().name = "NpuOptimizer"
        rewrite.memory_optimization = off
    rewrite.remapping = off
    graph_options.optimizer_options.global_jit_level = config_pb2.OptimizerOptions.OFF
    return graph_options


def npu_entry(config):
    entries = config.graph_options.rewrite_options.custom_optimizers
    return next(entry for entry in entries if entry.name == "NpuOptimizer")
