"""Configurations: what `NPURunConfig` refuses, and what sessions become."""

import os

import tensorflow as tf
from tensorflow.core.protobuf import rewriter_config_pb2

from npu_bridge.estimator.npu.npu_config import ExperimentalConfig
from npu_bridge.npu_init import *


def _refused(error, **options):
    try:
        NPURunConfig(**options)
    except error as caught:
        return str(caught)
    raise AssertionError(f"nothing was raised for {options}")


def _entries(config):
    return [e.name for e in config.graph_options.rewrite_options.custom_optimizers]


def the_plain_configuration_is_accepted():
    config = NPURunConfig()
    assert config.iterations_per_loop == 1
    assert config.save_checkpoints_steps == 100
    assert config.save_summary_steps == 0


def unknown_arguments_are_refused():
    assert "device_fn" in _refused(TypeError, device_fn=None)
    assert "precision" in _refused(TypeError, precision="fp16")


def wrong_types_are_refused():
    assert "jit_compile" in _refused(ValueError, jit_compile=True)
    assert "hcom_parallel" in _refused(ValueError, hcom_parallel="yes")
    assert "iterations_per_loop" in _refused(ValueError, iterations_per_loop=1.5)


def wrong_values_are_refused():
    assert "precision_mode" in _refused(ValueError, precision_mode="fp16")
    assert "graph_run_mode" in _refused(ValueError, graph_run_mode=2)
    assert "iterations_per_loop" in _refused(ValueError, iterations_per_loop=0)
    assert "buffer_optimize" in _refused(ValueError, buffer_optimize="l3")


def mixed_computing_needs_a_loop_of_one():
    message = _refused(ValueError, mix_compile_mode=True, iterations_per_loop=10)
    assert "must be 1" in message


def both_precision_modes_are_refused():
    _refused(ValueError, precision_mode="force_fp32", precision_mode_v2="origin")


def a_list_of_operators_needs_mixed_precision():
    _refused(ValueError, modify_mixlist="list.json")
    NPURunConfig(modify_mixlist="list.json", precision_mode="allow_mix_precision")


def config_objects_are_checked_by_class():
    _refused(TypeError, dump_config={"enable_dump": True})
    _refused(TypeError, profiling_config=DumpConfig())
    _refused(ValueError, dump_config=DumpConfig(enable_dump=True))
    NPURunConfig(
        dump_config=DumpConfig(enable_dump=True, dump_path="/tmp"),
        experimental_config=ExperimentalConfig(),
    )


def an_interval_of_zero_saves_no_checkpoints():
    assert NPURunConfig(save_checkpoints_steps=0).save_checkpoints_steps == 0


def options_reach_the_session():
    config = NPURunConfig(precision_mode="allow_mix_precision", iterations_per_loop=5)
    session_config = config.npu_session_config()
    assert _entries(session_config) == ["NpuOptimizer"]
    keys = session_config.graph_options.rewrite_options.custom_optimizers[0].parameter_map
    assert keys["precision_mode"].s == b"allow_mix_precision"
    assert keys["iterations_per_loop"].i == 5
    assert keys["use_off_line"].b
    assert "dump_path" not in keys


def the_configuration_survives_replace():
    config = NPURunConfig(iterations_per_loop=5).replace(model_dir="somewhere")
    assert isinstance(config, NPURunConfig)
    assert (config.model_dir, config.iterations_per_loop) == ("somewhere", 5)


def every_session_gets_one_entry_for_the_npu():
    with tf.Session() as sess:
        assert _entries(sess._config) == ["NpuOptimizer"]
        assert sess._config.allow_soft_placement
        rewrite = sess._config.graph_options.rewrite_options
        assert rewrite.remapping == rewriter_config_pb2.RewriterConfig.OFF
    with tf.Session(config=npu_config_proto(tf.ConfigProto())) as sess:
        assert _entries(sess._config) == ["NpuOptimizer"]


def a_session_given_none_by_position_fails_as_on_the_device():
    try:
        tf.Session("", None, None)
    except AttributeError as error:
        assert "config=None" in str(error)
    else:
        raise AssertionError("nothing was raised")
    tf.Session(config=None).close()


def a_configuration_is_changed_in_place():
    config = tf.ConfigProto()
    assert npu_config_proto(config) is config
    assert _entries(config) == ["NpuOptimizer"]


def a_second_entry_is_not_added():
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.custom_optimizers.add().name = "NpuOptimizer"
    assert _entries(npu_config_proto(config)) == ["NpuOptimizer"]
    memory = config.graph_options.rewrite_options.memory_optimization
    assert memory == rewriter_config_pb2.RewriterConfig.DEFAULT_MEM_OPT


def a_run_configuration_of_tensorflow_is_wrapped():
    assert _entries(npu_run_config_init().session_config) == ["NpuOptimizer"]
    given = tf.estimator.RunConfig(session_config=tf.ConfigProto(), model_dir="there")
    wrapped = npu_run_config_init(run_config=given)
    assert _entries(wrapped.session_config) == ["NpuOptimizer"]
    assert wrapped.model_dir == "there"


def an_estimator_needs_a_job_and_its_own_configuration():
    def model(features, labels, mode):
        return None

    job = os.environ.pop("JOB_ID")
    try:
        for config in (NPURunConfig(), tf.estimator.RunConfig()):
            try:
                NPUEstimator(model, config=config)
            except ValueError as error:
                assert "JOB_ID" in str(error) or "NPURunConfig" in str(error)
            else:
                raise AssertionError("nothing was raised")
    finally:
        os.environ["JOB_ID"] = job


def ranks_can_be_asked_for_only_while_communication_is_up():
    npu_plugin.npu_close()
    for ask in (get_rank_id, get_rank_size, get_local_rank_id):
        try:
            ask()
        except ValueError as error:
            assert "initialize_system" in str(error)
        else:
            raise AssertionError("nothing was raised")
    sess, shutdown = init_resource()
    assert (get_rank_id(), get_rank_size(), get_npu_rank_size()) == (0, 1, 1)
    create_group("alone", 1, [0])
    assert get_rank_size("alone") == 1
    assert get_world_rank_from_group_rank("alone", 0) == 0
    destroy_group("alone")
    shutdown_resource(sess, shutdown)
    close_session(sess)
    try:
        get_rank_id()
    except ValueError as error:
        assert "ended" in str(error)
    else:
        raise AssertionError("nothing was raised")


def hooks_in_a_tuple_are_lost_as_in_the_adapter():
    hook = NpuEmptyHook()
    assert npu_hooks_append([hook])[0] is hook
    assert len(npu_hooks_append((hook,))) == 1
