"""Stands in for the configuration of estimators and sessions, with the checks of the device."""

import functools
import inspect
import os

import tensorflow as tf
from tensorflow.core.protobuf import config_pb2

from trainferry_stand_in.config_objects import (
    DumpConfig,
    DynamicInputConfig,
    ExperimentalConfig,
    GraphMemoryOptimizeConfig,
    MemoryConfig,
    NpuExecutePlacement,
    ProfilingConfig,
)
from trainferry_stand_in.errors import RefusedType, RefusedValue
from trainferry_stand_in.notes import note
from trainferry_stand_in.npu_session import npu_entry, turn_to_npu
from trainferry_stand_in.options import check_options, proto_field, table
from trainferry_stand_in.ranks import world_size
from trainferry_stand_in.sessions import adapter

_STEPS_BETWEEN_CHECKPOINTS = 100
# Arguments that older adapters took; today's refuse them.
_OLDER = ("auto_tune_mode", "mstune_mode")


class NPURunConfig(tf.estimator.RunConfig):
    """What an `NPUEstimator` runs with; wrong options raise, as they do on the device."""

    def __init__(
        self,
        iterations_per_loop=1,
        profiling_config=None,
        model_dir=None,
        tf_random_seed=None,
        save_summary_steps=0,
        save_checkpoints_steps=None,
        save_checkpoints_secs=None,
        session_config=None,
        keep_checkpoint_max=5,
        keep_checkpoint_every_n_hours=10000,
        log_step_count_steps=100,
        distribute=None,
        enable_data_pre_proc=True,
        precision_mode=None,
        enable_reduce_precision=False,
        variable_format_optimize=None,
        mix_compile_mode=False,
        hcom_parallel=True,
        graph_memory_max_size=None,
        variable_memory_max_size=None,
        dump_config=None,
        stream_max_parallel_num=None,
        is_tailing_optimization=False,
        horovod_mode=False,
        graph_run_mode=1,
        op_debug_level=None,
        enable_scope_fusion_passes=None,
        enable_exception_dump=2,
        op_select_implmode=None,
        optypelist_for_implmode=None,
        dynamic_input_config=None,
        aoe_mode=None,
        work_path=None,
        buffer_optimize="l2_optimize",
        enable_small_channel=0,
        fusion_switch_file=None,
        enable_compress_weight=False,
        compress_weight_conf=None,
        op_compiler_cache_mode=None,
        op_compiler_cache_dir=None,
        debug_dir=None,
        hcom_multi_mode=False,
        dynamic_input=None,
        dynamic_graph_execute_mode="dynamic_execute",
        dynamic_inputs_shape_range=None,
        train_distribute=None,
        eval_distribute=None,
        local_rank_id=None,
        local_device_list=None,
        session_device_id=None,
        distribute_config=None,
        modify_mixlist=None,
        op_precision_mode=None,
        device_type="default_device_type",
        soc_config=None,
        hccl_timeout=None,
        op_wait_timeout=None,
        op_execute_timeout=None,
        HCCL_algorithm=None,
        customize_dtypes=None,
        op_debug_config=None,
        memory_config=None,
        experimental_config=None,
        topo_sorting_mode=None,
        aoe_config_file=None,
        insert_op_file=None,
        stream_sync_timeout=-1,
        event_sync_timeout=-1,
        external_weight=False,
        deterministic=0,
        frozen_variable=False,
        variable_placement="Device",
        jit_compile="auto",
        precision_mode_v2=None,
        ac_parallel_enable=None,
        quant_dumpable=None,
        input_fusion_size=131072,
        compile_dynamic_mode=None,
        graph_max_parallel_model_num=1,
        export_compile_stat=1,
        aicore_num=None,
        oo_constant_folding=True,
        input_batch_cpy=False,
        shape_generalization_mode="STRICT",
        all_tensor_not_empty=False,
        auto_multistream_parallel_mode=None,
        oo_level="O3",
        optimization_switch=None,
        **older,
    ):
        given = dict(locals())
        for name in sorted(older):
            if adapter() == "patched" or name not in _OLDER:
                raise TypeError(f"__init__() got an unexpected keyword argument '{name}'")
        self._npu_options = _options_of(given)
        _check(self._npu_options)
        _check_cluster(distribute, mix_compile_mode)
        for name in table()["run_config"] + ["horovod_mode", "enable_reduce_precision"]:
            setattr(self, name, given[name])
        self.profiling_config = profiling_config
        self.dump_config = dump_config
        self.memory_config = memory_config
        self.experimental_config = experimental_config
        self.dynamic_input_config = dynamic_input_config
        self.distribute = distribute
        if save_checkpoints_secs is not None and world_size() > 1:
            note(
                "save-by-time",
                "`save_checkpoints_secs` does not work with several devices; "
                "give `save_checkpoints_steps`",
            )
        if save_checkpoints_steps is None and save_checkpoints_secs is None:
            save_checkpoints_steps = _STEPS_BETWEEN_CHECKPOINTS
        _check_loop(iterations_per_loop, given)
        super().__init__(
            model_dir=model_dir,
            tf_random_seed=tf_random_seed,
            save_summary_steps=save_summary_steps,
            save_checkpoints_steps=save_checkpoints_steps,
            save_checkpoints_secs=save_checkpoints_secs,
            session_config=session_config,
            keep_checkpoint_max=keep_checkpoint_max,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            log_step_count_steps=log_step_count_steps,
            train_distribute=train_distribute or distribute,
            eval_distribute=eval_distribute,
        )

    def npu_session_config(self):
        """The session of this run: the user's, with an entry for the NPU that has all options."""
        config = config_pb2.ConfigProto()
        if self.session_config is not None:
            config.CopyFrom(self.session_config)
        turn_to_npu(config)
        entry = npu_entry(config)
        entry.parameter_map["use_off_line"].b = True
        for name, value in self._npu_options.items():
            if value is not None:
                field = proto_field(name)
                setattr(entry.parameter_map[name], field, value.encode() if field == "s" else value)
        return config


_CLASSES = {
    "profiling_config": ProfilingConfig,
    "dump_config": DumpConfig,
    "memory_config": MemoryConfig,
    "experimental_config": ExperimentalConfig,
    "dynamic_input_config": DynamicInputConfig,
}


def set_npu_default_config(func, args, kwargs):
    """The arguments of a session with a configuration that hands its graphs to the NPU."""
    bound = inspect.signature(func).bind(*args, **kwargs)
    config = bound.arguments.get("config")
    if config is None and "config" in bound.arguments and "config" not in kwargs:
        raise AttributeError(
            "the session was given None for its configuration by position, where the adapter "
            "fails; leave it out, or write `config=None`"
        )
    bound.arguments["config"] = turn_to_npu(config or config_pb2.ConfigProto())
    return bound.args, bound.kwargs


def decorator_tf_session(func):
    """Make a session's `__init__` hand its graphs to the NPU."""

    @functools.wraps(func)
    def init(*args, **kwargs):
        args, kwargs = set_npu_default_config(func, args, kwargs)
        return func(*args, **kwargs)

    return init


def _options_of(given):
    """The options of `parameter_map` that the arguments stand for."""
    options = {name: given[name] for name in table()["run_config"]}
    for name, row in table()["objects"].items():
        value = given[name]
        if value is None:
            continue
        if not isinstance(value, _CLASSES[name]):
            raise RefusedType(
                "`{}` takes a {}, not {!r}".format(name, row["class"], type(value).__name__)
            )
        for field, key in row["fields"].items():
            if key:
                options[key] = getattr(value, field)
    return options


def _check(options):
    refused = []
    for problem in check_options(options):
        if problem.refused:
            refused.append(problem.message)
        else:
            note("npu-option", problem.message)
    if refused:
        raise RefusedValue("NPURunConfig: " + "; ".join(refused))


def _check_loop(steps, given):
    """What happens every so many steps has to fall between two loops on the device."""
    if steps <= 1:
        return
    for name, check in (
        ("save_checkpoints_steps", "loop-and-saving"),
        ("save_summary_steps", "loop-and-logging"),
        ("log_step_count_steps", "loop-and-logging"),
    ):
        every = given[name]
        is_default = name == "log_step_count_steps" and every == 100
        if every and every % steps and not is_default:
            note(
                check,
                f"`{name}` is {every}, but the host sees every {steps}th step only "
                "(`iterations_per_loop`)",
            )


def _check_cluster(distribute, mix_compile_mode):
    """Parameter servers need a strategy, and operators left on the host."""
    if not os.environ.get("TF_CONFIG") or "cluster" not in os.environ["TF_CONFIG"]:
        return
    if distribute is None or not mix_compile_mode:
        raise RefusedValue(
            "TF_CONFIG describes a cluster: NPURunConfig needs `distribute`, a "
            "ParameterServerStrategy, and `mix_compile_mode=True`"
        )
