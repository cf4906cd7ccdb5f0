"""The objects that `NPURunConfig` takes; they only hold what they are given."""

from enum import Enum

from trainferry_stand_in.errors import RefusedValue


class ProfilingConfig:
    """Whether and how a run is profiled."""

    def __init__(self, enable_profiling=False, profiling_options=None):
        self.enable_profiling = enable_profiling
        self.profiling_options = profiling_options


class MemoryConfig:
    """How the device gives out memory."""

    def __init__(
        self,
        atomic_clean_policy=0,
        static_memory_policy=0,
        memory_optimization_policy=None,
        variable_use_1g_huge_page=0,
    ):
        self.atomic_clean_policy = atomic_clean_policy
        self.static_memory_policy = static_memory_policy
        self.memory_optimization_policy = memory_optimization_policy
        self.variable_use_1g_huge_page = variable_use_1g_huge_page


class DumpConfig:
    """What the device writes out while it runs."""

    def __init__(
        self,
        enable_dump=False,
        dump_path=None,
        dump_step=None,
        dump_mode="output",
        enable_dump_debug=False,
        dump_debug_mode="all",
        dump_data="tensor",
        dump_layer=None,
    ):
        self.enable_dump = enable_dump
        self.dump_path = dump_path
        self.dump_step = dump_step
        self.dump_mode = dump_mode
        self.enable_dump_debug = enable_dump_debug
        self.dump_debug_mode = dump_debug_mode
        self.dump_data = dump_data
        self.dump_layer = dump_layer


class GraphMemoryOptimizeConfig:
    """How a graph is cut or recomputed to save memory."""

    def __init__(self, recompute=None, graph_slice=None):
        if recompute is not None and recompute not in ("auto", "manual"):
            raise RefusedValue(f"`recompute` is auto or manual, not {recompute!r}")
        if graph_slice is not None and graph_slice not in ("auto", "manual"):
            raise RefusedValue(f"`graph_slice` is auto or manual, not {graph_slice!r}")
        self.recompute = recompute
        self.graph_slice = graph_slice


class ExperimentalConfig:
    """Options that the vendor may still change."""

    def __init__(
        self,
        logical_device_cluster_deploy_mode="LB",
        logical_device_id=None,
        model_deploy_mode=None,
        model_deploy_devicelist=None,
        graph_memory_optimize_config=None,
        enable_graph_parallel=None,
        graph_parallel_option_path=None,
        graph_compiler_cache_dir=None,
        resource_config_path=None,
        accelerate_train_mode=None,
    ):
        self.logical_device_cluster_deploy_mode = logical_device_cluster_deploy_mode
        self.logical_device_id = logical_device_id
        self.model_deploy_mode = model_deploy_mode
        self.model_deploy_devicelist = model_deploy_devicelist
        self.graph_memory_optimize_config = graph_memory_optimize_config
        self.enable_graph_parallel = enable_graph_parallel
        self.graph_parallel_option_path = graph_parallel_option_path
        self.graph_compiler_cache_dir = graph_compiler_cache_dir
        self.resource_config_path = resource_config_path
        self.accelerate_train_mode = accelerate_train_mode


class NpuExecutePlacement(Enum):
    """Which part of the device an operator runs on."""

    ALL = "all"
    CUBE = "cube"
    VECTOR = "vector"
    TAISHAN = "taishan"
    DVPP = "dvpp"
    HOST = "host"


class DynamicInputConfig:
    """The shapes that are prepared for inference."""

    def __init__(self, input_shape, dynamic_dims, dynamic_node_type, compile_hybrid_mode):
        self.input_shape = input_shape
        self.dynamic_dims = dynamic_dims
        self.dynamic_node_type = dynamic_node_type
        self.compile_hybrid_mode = compile_hybrid_mode
