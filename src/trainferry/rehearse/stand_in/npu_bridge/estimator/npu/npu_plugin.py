"""Stands in for the start and the end of the device, and its modes."""

from trainferry_stand_in import state
from trainferry_stand_in.errors import RefusedValue, only_on_device
from trainferry_stand_in.options import check_options


def npu_resource_init(
    graph_run_mode=1,
    op_debug_level=0,
    enable_profiling=False,
    profiling_options=None,
    precision_mode=None,
    enable_scope_fusion_passes=None,
    enable_exception_dump=2,
    aoe_mode=None,
    work_path=None,
    op_compiler_cache_mode=None,
    op_compiler_cache_dir=None,
    debug_dir=None,
    hcom_multi_mode=False,
    distribute_config=None,
    aoe_config_file=None,
    precision_mode_v2=None,
    export_compile_stat=1,
    aicore_num=None,
    oo_constant_folding=True,
    input_batch_cpy=False,
    oo_level="O3",
    optimization_switch=None,
):
    """Start the device with these options, which are checked."""
    options = dict(locals())
    options["profiling_mode"] = options.pop("enable_profiling")
    refused = [problem.message for problem in check_options(options) if problem.refused]
    if refused:
        raise RefusedValue("npu_resource_init: " + "; ".join(refused))
    state.start()


def npu_resource_shutdown():
    """End what `npu_resource_init` started."""
    state.stop()


def npu_close():
    """Give the device back."""
    state.stop()


def init_rdma_pool(mem_size):
    only_on_device("init_rdma_pool", "it sets memory of the device apart for other devices")


def rdma_remote_register(remote_var_list):
    only_on_device("rdma_remote_register", "it opens variables to other devices")


def rdma_remote_init(remote_var_list, mem_size):
    only_on_device("rdma_remote_init", "it opens variables to other devices")


def get_var_addr_and_size(var_name):
    only_on_device("get_var_addr_and_size", "it gives an address in the memory of the device")


def malloc_shared_memory(var_name, shape, data_type):
    only_on_device("malloc_shared_memory", "it takes memory of the device")


def get_rdma_cache(data_type, shape, name="rdma_w"):
    only_on_device("get_rdma_cache", "it takes memory of the device")


def set_device_sat_mode(mode):
    """0: what overflows becomes the greatest number; 1: it becomes Inf or NaN."""
    if mode not in (0, 1):
        raise RefusedValue(f"set_device_sat_mode: the mode is 0 or 1, not {mode!r}")
    state.set_inf_nan(mode == 1)


def is_inf_nan_enabled():
    return state.has_inf_nan()
