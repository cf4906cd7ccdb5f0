"""Horovod becomes HCCL, whatever its name in the file; what is not certain is told."""

from __future__ import annotations

import textwrap

import pytest

from tests.migrate.rules.migrated import (
    check_migrated,
    check_project,
    check_unchanged,
    findings,
    migrate,
    outcomes,
    text_after,
)
from trainferry.migrate.options import Options
from trainferry.migrate.rule import Concern, Outcome

RULE = "horovod_to_hccl"
INIT = "from npu_bridge.npu_init import"
OPTIMIZER = "from npu_bridge.estimator.npu.npu_optimizer import"


def test_a_whole_program_needs_horovod_no_more() -> None:
    told = check_migrated(
        """\
        import tensorflow as tf
        import horovod.tensorflow as hvd

        def main(_):
            hvd.init()  # first of all
            optimizer = tf.train.AdamOptimizer(0.1 * hvd.size())
            optimizer = hvd.DistributedOptimizer(optimizer)
            hvd.shutdown()
        """,
        f"""\
        import tensorflow as tf
        import atexit
        {OPTIMIZER} npu_distributed_optimizer_wrapper
        {INIT} close_session
        {INIT} get_npu_rank_size
        {INIT} init_resource
        {INIT} shutdown_resource

        def main(_):
            npu_session, npu_shutdown = init_resource()  # first of all
            atexit.register(close_session, npu_session)
            atexit.register(shutdown_resource, npu_session, npu_shutdown)
            optimizer = tf.train.AdamOptimizer(0.1 * get_npu_rank_size())
            optimizer = npu_distributed_optimizer_wrapper(optimizer)
        """,
        RULE,
    )
    changed, check = Outcome.CHANGED, Outcome.CHECK
    assert outcomes(told) == [changed, check, changed, changed, check]


@pytest.mark.parametrize(
    ("before", "name", "after"),
    [
        ("import horovod.tensorflow as mgw", "mgw", "get_npu_rank_id()"),
        ("import horovod.tensorflow", "horovod.tensorflow", "get_npu_rank_id()"),
        ("from horovod import tensorflow as h", "h", "get_npu_rank_id()"),
        ("import horovod.tensorflow.keras as hvd", "hvd", "get_npu_rank_id()"),
        ("import horovod.keras as hvd", "hvd", "get_npu_rank_id()"),
    ],
)
def test_horovod_may_have_any_name(before: str, name: str, after: str) -> None:
    check_migrated(
        f"import tensorflow as tf\n{before}\nx = {name}.rank()\n",
        f"import tensorflow as tf\n{INIT} get_npu_rank_id\nx = {after}\n",
        RULE,
    )


def test_a_function_that_is_imported_alone_goes_too() -> None:
    check_migrated(
        "from horovod.tensorflow import rank, local_rank as lr\nx = rank() + lr()\n",
        f"{INIT} get_npu_local_rank_id\n{INIT} get_npu_rank_id\n"
        "x = get_npu_rank_id() + get_npu_local_rank_id()\n",
        RULE,
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("hvd.local_size()", "get_npu_local_rank_size()"),
        ("hvd.rank(*args)", "get_npu_rank_id(*args)"),
        ("f(hvd.rank)", "f(get_npu_rank_id)"),
        ("hvd.allreduce(x)", "npu_allreduce(x)"),
        ("hvd.allreduce(x, name='n')", "npu_allreduce(x)"),
        ("hvd.allreduce(x, average=False)", 'npu_allreduce(x, reduction="sum")'),
        ("hvd.allreduce(x, False)", 'npu_allreduce(x, "sum")'),
        ("hvd.allreduce(tensor=x, average=a or b)",
         'npu_allreduce(values=x, reduction="mean" if (a or b) else "sum")'),
        ("hvd.allreduce(x, op=hvd.Sum)", 'npu_allreduce(x, reduction="sum")'),
        ("hvd.allreduce(x, op=hvd.Max)", 'npu_allreduce(x, reduction="max", fusion=0)'),
        ("hvd.allreduce(x, op=hvd.Average, compression=hvd.Compression.fp16)",
         "npu_allreduce(x)"),
        ("hvd.grouped_allreduce([x, y])", "npu_allreduce([x, y])"),
        ("hvd.allgather(x, name='n')", "hccl_ops.allgather(x, get_npu_rank_size())"),
        ("hvd.allgather(tensor=x)",
         "hccl_ops.allgather(tensor=x, rank_size=get_npu_rank_size())"),
        ("hvd.broadcast(x * 2, 1, name='n')", "hccl_ops.broadcast([x * 2], 1)[0]"),
        ("hvd.BroadcastGlobalVariablesHook(1)",
         "NPUBroadcastGlobalVariablesHook(1, get_npu_rank_id())"),
        ("hvd.BroadcastGlobalVariablesHook(root_rank=0, device='/gpu:0')",
         "NPUBroadcastGlobalVariablesHook(root_rank=0, index=get_npu_rank_id())"),
        ("hvd.DistributedOptimizer(o, name='n', compression=hvd.Compression.fp16, op=hvd.Average)",
         "npu_distributed_optimizer_wrapper(o)"),
        ("hvd.DistributedOptimizer(optimizer=o, use_locking=True)",
         "npu_distributed_optimizer_wrapper(optimizer=o)"),
        ("hvd.Compression.fp16 if half else hvd.Compression.none", "None if half else None"),
        ("hvd.callbacks.BroadcastGlobalVariablesCallback(0)",
         "NPUBroadcastGlobalVariablesCallback(0)"),
        ("hvd.nccl_built() and fast", "False and fast"),
    ],
)  # fmt: skip
def test_each_call_has_its_counterpart(before: str, after: str) -> None:
    program = f"import tensorflow as tf\nimport horovod.tensorflow as hvd\ny = {before}\n"
    result = migrate({"program.py": program}, RULE)
    text = text_after(result)
    assert text.splitlines()[-1] == f"y = {after}"
    assert "horovod" not in text
    assert text_after(migrate({"program.py": text}, RULE)) == text


def test_variables_are_sent_by_one_operation() -> None:
    check_migrated(
        """\
        import tensorflow as tf
        import horovod.tensorflow as hvd
        sess.run(hvd.broadcast_global_variables(0))
        sess.run(hvd.broadcast_variables(get(a), root_rank=root))
        """,
        """\
        import tensorflow as tf
        from npu_bridge.hccl import hccl_ops
        sess.run(tf.group([tf.assign(variable, hccl_ops.broadcast([variable], 0)[0]) for variable in tf.global_variables() if variable.dtype.is_floating]))
        sess.run(tf.group([tf.assign(variable, hccl_ops.broadcast([variable], root)[0]) for variable in (get(a))]))
        """,  # noqa: E501
        RULE,
    )


def test_one_inside_the_other_is_migrated_too() -> None:
    program = (
        "import horovod.tensorflow as hvd\ny = hvd.broadcast(hvd.allreduce(x) * hvd.size(), 0)\n"
    )
    text = text_after(migrate({"program.py": program}, RULE))
    assert "hccl_ops.broadcast([npu_allreduce(x) * get_npu_rank_size()], 0)[0]" in text
    assert "horovod" not in text


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("hvd.init(comm=[0, 1])", "rank table"),
        ("x = hvd.init()", "init_resource"),
        ("hvd.DistributedOptimizer(o, op=hvd.Sum)", "npu_allreduce"),
        ("hvd.DistributedOptimizer(o, op=hvd.Adasum)", "mean"),
        ("hvd.DistributedOptimizer(o, backward_passes_per_step=n)", "every step"),
        ("hvd.DistributedOptimizer(**options)", "npu_distributed_optimizer_wrapper"),
        ("hvd.allreduce(x, op=hvd.Adasum)", "npu_allreduce"),
        ("hvd.allreduce(x, prescale_factor=0.5)", "npu_allreduce"),
        ("hvd.alltoall(x)", "all_to_all_v"),
        ("hvd.join()", "same number of steps"),
        ("hvd.broadcast_object(x)", "tensors only"),
        ("hvd.is_initialized()", "init_resource"),
        ("hvd.start_timeline('f')", "profiling_mode"),
        ("hvd.elastic.run(f)", "checkpoint"),
        ("hvd.DistributedGradientTape(t)", "graph"),
        ("hvd.load_model('m')", "load_model"),
        ("hvd.callbacks.MetricAverageCallback()", "npu_allreduce"),
        ("hvd.callbacks.LearningRateWarmupCallback(5)", "LearningRateScheduler"),
        ("hvd.callbacks.LearningRateScheduleCallback(1)", "LearningRateScheduler"),
        ("assert hvd.mpi_threads_supported()", "assertion"),
        ("build(loss, hvd=hvd)", "passed on"),
        ("hvd.something_new()", "something_new"),
    ],
)
def test_what_has_no_certain_counterpart_is_told(text: str, word: str) -> None:
    told = check_unchanged(f"import horovod.tensorflow as hvd\n{text}\n", RULE)
    assert outcomes(told) == [Outcome.BY_HAND] * 2
    assert "remove it when that is done" in told[0].message
    assert word in told[1].message


def test_keras_values_that_are_sent_at_once_are_told() -> None:
    told = check_unchanged("import horovod.keras as hvd\nhvd.broadcast_global_variables(0)\n", RULE)
    assert len(told) == 2


def test_the_import_stays_for_what_is_left_by_hand() -> None:
    result = migrate(
        {"program.py": "import horovod.tensorflow as hvd\nx = hvd.rank()\nhvd.join()\n"}, RULE
    )
    assert "import horovod.tensorflow as hvd\n" in text_after(result)
    assert "x = get_npu_rank_id()\n" in text_after(result)


WRAPPER = """\
try:
  import horovod.tensorflow as mgw
  print('using Horovod')
except ImportError:
  try:
    import {other} as mgw
  except ImportError:
    print('no')

def init(*args):
  try:
    return mgw.init(*args)
  except NameError:
    raise NameError('module <mgw> not imported')

def rank(*args):
  return mgw.rank(*args)

def DistributedOptimizer(*args):
  return mgw.DistributedOptimizer(*args)

def broadcast_global_variables(*args):
  return mgw.broadcast_global_variables(*args)
"""


def test_a_wrapper_of_horovod_or_another_package_is_migrated_inside() -> None:
    result = migrate({"program.py": WRAPPER.format(other="tfplus.tensorflow")}, RULE)
    after = text_after(result)
    compile(after, "program.py", "exec")
    assert "  print('using Horovod')\n" in after
    assert after[after.index("def init") :] == textwrap.dedent(
        """\
        def init(*args):
          try:
            npu_session, npu_shutdown = init_resource()
            atexit.register(close_session, npu_session)
            atexit.register(shutdown_resource, npu_session, npu_shutdown)
            return None
          except NameError:
            raise NameError('module <mgw> not imported')

        def rank(*args):
          return get_npu_rank_id(*args)

        def DistributedOptimizer(*args):
          return npu_distributed_optimizer_wrapper(*args)

        def broadcast_global_variables(*args):
          return tf.group([tf.assign(variable, hccl_ops.broadcast([variable], *args)[0]) \
for variable in tf.global_variables() if variable.dtype.is_floating])
        """
    )
    told = findings(result)
    assert outcomes(told) == [Outcome.BY_HAND] + [Outcome.CHECK] * 4
    assert "remove this import and what depends on it" in told[0].message
    assert told[0].finding.concern is Concern.TIDY, "it stops no run"
    assert migrate({"program.py": after}, RULE).after == {}


def test_a_stand_in_of_the_project_is_told_call_by_call() -> None:
    program = WRAPPER.format(other="stand_in")
    told = check_project({"program.py": program, "stand_in.py": "def rank(): return 0\n"}, {}, RULE)
    assert outcomes(told) == [Outcome.BY_HAND] * 5
    assert "init_resource" in told[1].message
    assert "get_npu_rank_id" in told[2].message


def test_an_import_that_may_fail_goes_with_its_try() -> None:
    check_migrated(
        """\
        import tensorflow as tf
        try:
            import horovod.tensorflow as hvd
        except ImportError:
            hvd = None
        x = hvd.rank()
        """,
        f"import tensorflow as tf\n{INIT} get_npu_rank_id\nx = get_npu_rank_id()\n",
        RULE,
    )


def test_a_question_whether_horovod_is_there_is_told() -> None:
    told = check_unchanged(
        """\
        try:
            import horovod.tensorflow as hvd
        except ImportError:
            hvd = None
        if hvd is not None:
            train()
        """,
        RULE,
    )
    assert "get_npu_rank_size() > 1" in told[1].message


def test_horovod_in_objects_and_parameters_is_told() -> None:
    text = """\
        import horovod.tensorflow as hvd

        class Trainer:
            def __init__(self):
                self.hvd = hvd

            def rank(self):
                return self.hvd.rank()

        def step(hvd):
            return hvd.size()
        """
    told = check_unchanged(text, RULE)
    assert [one.message for one in told if "looks like" in one.message] == [
        "`self.hvd` looks like Horovod; write `get_npu_rank_id()`",
        "`hvd` looks like Horovod; write `get_npu_rank_size()`",
    ]


def test_functions_of_the_projects_own_wrapper_are_not_horovods() -> None:
    told = check_project(
        {
            "tools/__init__.py": "",
            "tools/wrapper.py": "import horovod.tensorflow as h\n"
            "def rank():\n    return h.rank()\n",
            "train.py": "from tools import wrapper as hvd\nx = hvd.rank()\ny = hvd.size()\n",
        },
        {
            "tools/wrapper.py": f"{INIT} get_npu_rank_id\ndef rank():\n"
            "    return get_npu_rank_id()\n",
        },
        RULE,
    )
    assert [one.message for one in told if one.path.name == "train.py"] == [
        "`hvd` looks like Horovod; write `get_npu_rank_size()`",  # the wrapper has no `size`
    ]


def test_an_import_goes_though_an_object_has_horovod_too() -> None:
    told = check_migrated(
        """\
        def begin(model, variable):
            from horovod.tensorflow import rank
            return rank() or model.hvd.rank()
        """,
        f"""\
        {INIT} get_npu_rank_id
        def begin(model, variable):
            return get_npu_rank_id() or model.hvd.rank()
        """,
        RULE,
    )
    assert [one.message for one in told if one.outcome is Outcome.BY_HAND] == [
        "`model.hvd` looks like Horovod; write `get_npu_rank_id()`"
    ]


def test_horovod_that_a_function_imports_by_its_name_is_told() -> None:
    text = "from lazy import Lazy\nhvd = Lazy('horovod.tensorflow')\nx = hvd.rank()\n"
    told = check_unchanged(text, RULE)
    assert [one.message for one in told] == ["`hvd` looks like Horovod; write `get_npu_rank_id()`"]
    assert check_unchanged(text.replace("horovod", "myhorovod"), RULE) == []


def test_the_sum_under_its_older_name_is_told() -> None:
    text = "import horovod.tensorflow as hvd\nx = hvd.mpi_ops._allreduce(y)\n"
    told = check_unchanged(text, RULE)
    assert any('`npu_allreduce(tensor, reduction="sum")`' in one.message for one in told)


def test_an_import_that_a_parameter_is_named_like_stays_and_is_told() -> None:
    told = check_migrated(
        """\
        import horovod.tensorflow as hvd
        x = hvd.rank()
        def step(hvd):
            return hvd.size()
        """,
        f"""\
        import horovod.tensorflow as hvd
        {INIT} get_npu_rank_id
        x = get_npu_rank_id()
        def step(hvd):
            return hvd.size()
        """,
        RULE,
    )
    assert [one.message for one in told if one.outcome is Outcome.BY_HAND] == [
        "this import stays for what is left by hand here; remove it when that is done",
        "`hvd` looks like Horovod; write `get_npu_rank_size()`",
    ]


def test_a_name_that_other_files_import_goes_after_them() -> None:
    told = check_project(
        {
            "common.py": "import horovod.tensorflow as hvd\nimport os\n",
            "train.py": "import tensorflow as tf\nfrom common import hvd\nx = hvd.rank()\n",
        },
        {
            "common.py": "import os\n",
            "train.py": f"import tensorflow as tf\n{INIT} get_npu_rank_id\nx = get_npu_rank_id()\n",
        },
        RULE,
    )
    assert Outcome.BY_HAND not in outcomes(told)


def test_one_of_several_imports_goes_alone() -> None:
    check_migrated(
        "import os, horovod.tensorflow as hvd, sys\nx = hvd.rank()\n",
        f"import os, sys\n{INIT} get_npu_rank_id\nx = get_npu_rank_id()\n",
        RULE,
    )


def test_a_start_on_one_line_stays_on_one_line() -> None:
    result = migrate(
        {"program.py": "import horovod.tensorflow as hvd\nif many: hvd.init()\nx = 1\n"}, RULE
    )
    assert textwrap.dedent(
        """\
        if many: npu_session, npu_shutdown = init_resource(); atexit.register(close_session, npu_session); atexit.register(shutdown_resource, npu_session, npu_shutdown)
        x = 1
        """  # noqa: E501
    ) in text_after(result)


@pytest.mark.parametrize("distributed", ["none", "strategy"])
def test_horovod_can_be_left_alone(distributed: str) -> None:
    told = check_unchanged(
        "import horovod.tensorflow as hvd\nhvd.init()\n",
        RULE,
        Options(distributed=distributed),  # type: ignore[arg-type] # from a list of strings
    )
    assert [one.message for one in told] == [
        f"Horovod is left as it is, as `--distributed {distributed}` asks"
    ]


def test_horovod_of_another_framework_and_other_ranks_are_not_ours() -> None:
    assert check_unchanged("import horovod.torch as hvd\nhvd.init()\n", RULE) == []
    assert check_unchanged("import mpi as hvd\nhvd.init()\nx = hvd.rank()\n", RULE) == []


def test_what_was_migrated_by_hand_stays() -> None:
    text = (
        "from npu_bridge.npu_init import *\n"
        "sess, shutdown = init_resource()\nx = get_npu_rank_id()\n"
    )
    assert findings(migrate({"program.py": text}, RULE)) == []


def test_programs_of_other_frameworks_are_left_alone() -> None:
    torch = "import horovod\nimport horovod.torch as hvd\nhvd.init()\nhorovod.run(main)\n"
    flow = "import horovod.tensorflow as hvd\nimport tensorflow as tf\nhvd.rank()\n"
    told = findings(migrate({"a.py": torch, "b.py": flow}, RULE))
    assert {str(one.path) for one in told} == {"b.py"}


def test_a_switch_for_adasum_leaves_the_mean() -> None:
    check_migrated(
        """\
        import horovod.tensorflow as hvd
        opt = hvd.DistributedOptimizer(opt, op=hvd.Adasum if adasum else hvd.Average)
        """,
        """\
        from npu_bridge.estimator.npu.npu_optimizer import npu_distributed_optimizer_wrapper
        opt = npu_distributed_optimizer_wrapper(opt)
        """,
        RULE,
    )
