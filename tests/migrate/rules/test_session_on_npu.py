"""Sessions of every kind get a configuration for the NPU, and only those of TensorFlow."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import (
    check_migrated,
    check_project,
    check_unchanged,
    findings,
    migrate,
    outcomes,
)
from trainferry.migrate.options import Options
from trainferry.migrate.rule import Concern, Outcome

RULE = "session_on_npu"
IMPORT = "from npu_bridge.npu_init import npu_config_proto\n"


def check(before: str, after: str) -> None:
    """Both lines below an import of TensorFlow; the session is moved without a note."""
    told = check_migrated(
        f"import tensorflow as tf\n{before}\n", f"import tensorflow as tf\n{IMPORT}{after}\n", RULE
    )
    assert outcomes(told) == [Outcome.CHANGED]


def left(text: str) -> list[Outcome]:
    return outcomes(check_unchanged(f"import tensorflow as tf\n{text}\n", RULE))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("s = tf.Session()", "s = tf.Session(config=npu_config_proto())"),
        ("s = tf.Session(graph=g)", "s = tf.Session(graph=g, config=npu_config_proto())"),
        ("s = tf.Session(config=c)", "s = tf.Session(config=npu_config_proto(config_proto=c))"),
        ("s = tf.Session('', g, c)", "s = tf.Session('', g, npu_config_proto(config_proto=c))"),
        ("s = tf.Session('', None, None)", "s = tf.Session('', None, npu_config_proto())"),
        ("s = tf.Session(config=None)", "s = tf.Session(config=npu_config_proto())"),
        (
            "s = tf.Session(config=a if b else None)",
            "s = tf.Session(config=npu_config_proto(config_proto=a if b else None))",
        ),
        (
            "s = tf.Session(config=(c := make()))",
            "s = tf.Session(config=(npu_config_proto(config_proto=(c := make()))))",
        ),
        (
            "s = tf.Session(*a, config=c)",
            "s = tf.Session(*a, config=npu_config_proto(config_proto=c))",
        ),
        ("s = tf.InteractiveSession()", "s = tf.InteractiveSession(config=npu_config_proto())"),
        (
            "getattr(tf, 'Session')(graph=g)",
            "getattr(tf, 'Session')(graph=g, config=npu_config_proto())",
        ),
        (
            "s = tf.train.MonitoredTrainingSession(config=c, hooks=h)",
            "s = tf.train.MonitoredTrainingSession("
            "config=npu_config_proto(config_proto=c), hooks=h)",
        ),
        (
            "s = tf.train.SingularMonitoredSession(h, sc, m, c)",
            "s = tf.train.SingularMonitoredSession(h, sc, m, npu_config_proto(config_proto=c))",
        ),
        (
            "s = tf.train.MonitoredSession(tf.train.ChiefSessionCreator(sc))",
            "s = tf.train.MonitoredSession("
            "tf.train.ChiefSessionCreator(sc, config=npu_config_proto()))",
        ),
        (
            "s = tf.train.WorkerSessionCreator(master=m)",
            "s = tf.train.WorkerSessionCreator(master=m, config=npu_config_proto())",
        ),
        (
            "s = tf.train.MonitoredSession(hooks=h)",
            "s = tf.train.MonitoredSession(hooks=h, session_creator="
            "tf.train.ChiefSessionCreator(config=npu_config_proto()))",
        ),
        (
            "s = tf.train.MonitoredSession(None, h)",
            "s = tf.train.MonitoredSession("
            "tf.train.ChiefSessionCreator(config=npu_config_proto()), h)",
        ),
        (
            "sv = tf.train.Supervisor()\nwith sv.managed_session(m) as s: pass",
            "sv = tf.train.Supervisor()\n"
            "with sv.managed_session(m, config=npu_config_proto()) as s: pass",
        ),
        (
            "sv = tf.contrib.slim.learning.supervisor.Supervisor()\ns = sv.managed_session(m)",
            "sv = tf.contrib.slim.learning.supervisor.Supervisor()\n"
            "s = sv.managed_session(m, config=npu_config_proto())",
        ),
        (
            "sv = tf.train.Supervisor()\ns = sv.prepare_or_wait_for_session(m, c)",
            "sv = tf.train.Supervisor()\n"
            "s = sv.prepare_or_wait_for_session(m, npu_config_proto(config_proto=c))",
        ),
        (
            "sm = tf.train.SessionManager()\ns = sm.prepare_session(m, init, config=c)",
            "sm = tf.train.SessionManager()\n"
            "s = sm.prepare_session(m, init, config=npu_config_proto(config_proto=c))",
        ),
        (
            "tf.contrib.slim.learning.train(op, d, session_config=c)",
            "tf.contrib.slim.learning.train(op, d, "
            "session_config=npu_config_proto(config_proto=c))",
        ),
        (
            "tf.contrib.slim.evaluation.evaluation_loop(m, c, d)",
            "tf.contrib.slim.evaluation.evaluation_loop("
            "m, c, d, session_config=npu_config_proto())",
        ),
        (
            "tf.contrib.training.evaluate_repeatedly(d)",
            "tf.contrib.training.evaluate_repeatedly(d, config=npu_config_proto())",
        ),
    ],
)
def test_every_kind_of_session_is_moved(before: str, after: str) -> None:
    check(before, after)


@pytest.mark.parametrize(
    ("imported", "call"),
    [
        ("import tensorflow.compat.v1 as tf", "tf.Session"),
        ("import tensorflow as foo", "foo.compat.v1.Session"),
        ("from tensorflow import Session as S", "S"),
        ("from tensorflow.python.client import session", "session.Session"),
        (
            "from tensorflow.python.training import monitored_session as ms",
            "ms.MonitoredTrainingSession",
        ),
    ],
)
def test_every_spelling_is_known(imported: str, call: str) -> None:
    check_migrated(
        f"{imported}\ns = {call}()\n",
        f"{imported}\n{IMPORT}s = {call}(config=npu_config_proto())\n",
        RULE,
    )


def test_slim_under_its_own_name_is_slim() -> None:
    check_migrated(
        "import tf_slim as slim\nslim.learning.train(op, d)\n",
        f"import tf_slim as slim\n{IMPORT}"
        "slim.learning.train(op, d, session_config=npu_config_proto())\n",
        RULE,
    )


def test_one_argument_per_line_stays_so() -> None:
    check(
        "with tf.Session(\n    graph=g,\n    config=tf.ConfigProto(\n        a=1),  # soft\n"
        ") as s:\n    pass",
        "with tf.Session(\n    graph=g,\n    config=npu_config_proto(config_proto=tf.ConfigProto(\n"
        "        a=1)),  # soft\n) as s:\n    pass",
    )


def test_a_configuration_from_another_file_is_wrapped_where_it_is_used() -> None:
    check_project(
        {
            "settings.py": "import tensorflow as tf\ndef config():\n    return tf.ConfigProto()\n",
            "train.py": "import tensorflow as tf\nimport settings\n"
            "s = tf.Session(config=settings.config())\n",
        },
        {
            "train.py": f"import tensorflow as tf\n{IMPORT}import settings\n"
            "s = tf.Session(config=npu_config_proto(config_proto=settings.config()))\n",
        },
        RULE,
    )


@pytest.mark.parametrize(
    "text",
    [
        "from npu_bridge.npu_init import *\ns = tf.Session(config=npu_config_proto(c))",
        "from npu_bridge import npu_init\nc = npu_init.npu_config_proto()\ntf.Session(config=c)",
        "from npu_bridge.npu_init import npu_config_proto\n"
        "def config():\n    return npu_config_proto()\ns = tf.Session(config=config())",
        "c = tf.ConfigProto()\no = c.graph_options.rewrite_options.custom_optimizers.add()\n"
        "o.name = 'NpuOptimizer'\ns = tf.Session(config=c)",
        "def f():\n    c = tf.ConfigProto()\n    r = c.graph_options.rewrite_options\n"
        "    r.custom_optimizers.add().name = 'NpuOptimizer'\n    s = tf.Session(config=c)",
        "class A:\n    def __init__(self):\n        self.c = tf.ConfigProto()\n"
        "        o = self.c.graph_options.rewrite_options.custom_optimizers.add()\n"
        "        o.name = 'NpuOptimizer'\n"
        "    def open(self):\n        return tf.Session(config=self.c)",
    ],
)
def test_what_is_on_the_npu_already_stays(text: str) -> None:
    assert left(text) == []


def test_an_optimizer_in_another_configuration_does_not_count() -> None:
    text = (
        "a = tf.ConfigProto()\no = a.graph_options.rewrite_options.custom_optimizers.add()\n"
        "o.name = 'NpuOptimizer'\nb = tf.ConfigProto()\n"
    )
    check(
        f"{text}s = tf.Session(config=b)",
        f"{text}s = tf.Session(config=npu_config_proto(config_proto=b))",
    )


@pytest.mark.parametrize(
    "text",
    [
        "s = tf.Session(*arguments)",
        "s = tf.Session(graph=g, **options)",
        "import functools\nopen = functools.partial(tf.Session, graph=g)",
        "class Mine(tf.Session):\n    pass",
        "run(session_factory=tf.Session)",
        "def run(factory=tf.Session):\n    pass",
        "class A:\n    def __init__(self):\n        self.factory = tf.Session",
        "def train(sv):\n    with sv.managed_session() as s:\n        pass",
        "sv = tf.Supervisor()\nwith sv.managed_session() as s:\n    pass",
        "sv = tf.Supervisor()\ns = sv.prepare_or_wait_for_session(m)",
        "s = tf.Session(config=tf.ConfigProto(device_count={'GPU': 0}))",
        "c = tf.ConfigProto(device_count={'GPU': 0})\ns = tf.Session(config=c)",
    ],
)
def test_what_is_not_certain_is_told(text: str) -> None:
    assert left(text) == [Outcome.BY_HAND]


@pytest.mark.parametrize(
    "text",
    [
        "import requests, boto3\na = requests.Session()\nb = boto3.Session()",
        "def run(session: tf.Session):\n    assert isinstance(session, tf.Session)",
        "import functools\nfrom npu_bridge.npu_init import npu_config_proto\n"
        "open = functools.partial(tf.Session, config=npu_config_proto())",
        "tf.ConfigProto(allow_soft_placement=True)",
        "class Session:\n    pass\ns = Session()",
    ],
)
def test_what_is_no_session_of_tensorflow_is_not_ours(text: str) -> None:
    assert left(text) == []


def test_sessions_of_unit_tests_stay_on_the_host_with_one_note() -> None:
    text = """\
        import tensorflow as tf
        class NetworkTest(tf.test.TestCase):
            def test_shape(self):
                with tf.Session() as a, self.test_session() as b:
                    a.run(tf.Session().run(1))
        """
    result = migrate({"network_test.py": text, "other_test.py": text}, RULE)
    assert result.after == {}
    (told,) = findings(result)
    assert told.outcome is Outcome.BY_HAND
    assert told.finding.concern is Concern.TIDY
    assert "2 files" in told.message


def test_a_script_that_evaluates_is_no_unit_test() -> None:
    text = "import tensorflow as tf\ndef test_crnn(path):\n    s = tf.Session()\n"
    assert migrate({"test_crnn.py": text}, RULE).after != {}


def test_scripts_that_only_make_samples_stay_on_the_host() -> None:
    text = """\
        import tensorflow as tf
        class Coder(object):
            def __init__(self):
                self._sess = tf.Session()
                self._data = tf.placeholder(dtype=tf.string)
                self._decode = tf.image.decode_jpeg(self._data, channels=3)
        """
    result = migrate({"build_imagenet_data.py": text}, RULE)
    assert result.after == {}
    (told,) = findings(result)
    assert told.finding.concern is Concern.SPEED


def test_scripts_that_only_write_records_stay_on_the_host() -> None:
    text = """\
        import tensorflow as tf
        def convert(files, writer):
            read = tf.contrib.data.parallel_interleave(tf.data.TFRecordDataset, cycle_length=4)
            image = tf.data.Dataset.list_files(files).apply(read).map(tf.image.decode_png)
            image = tf.cast(tf.clip_by_value(tf.floor(image), 0, 255), "uint8")
            with tf.Session() as sess:
                writer.write(tf.train.Example(features=sess.run(image)))
        """
    assert migrate({"make_records.py": text}, RULE).after == {}


def test_a_reader_of_records_in_python_stays_on_the_host() -> None:
    text = """\
        import tensorflow as tf
        def parse(record):
            found = tf.io.parse_single_example(record, {"i": tf.io.FixedLenFeature([], tf.string)})
            return found["i"]
        def samples(files):
            rows = tf.data.TFRecordDataset(files).map(parse).make_one_shot_iterator().get_next()
            with tf.compat.v1.Session() as sess:
                while True:
                    yield sess.run(rows)
        """
    assert migrate({"data_gen.py": text}, RULE).after == {}
    assert migrate({"data_gen.py": text + "        tf.layers.dense(x, 1)\n"}, RULE).after != {}


def test_a_script_that_decodes_for_a_network_is_moved() -> None:
    text = (
        "import tensorflow as tf\nx = tf.image.decode_jpeg(b)\ny = net.run(x)\ns = tf.Session()\n"
    )
    network = "import tensorflow as tf\ndef run(x):\n    return tf.layers.dense(x, 1)\n"
    files = {"predict.py": f"import net\n{text}", "net.py": network}
    assert {str(path) for path in migrate(files, RULE).after} == {"predict.py"}


def test_adapters_that_patch_sessions_need_no_configuration() -> None:
    text = "import tensorflow as tf\ns = tf.Session(config=c)\n"
    assert check_unchanged(text, RULE, Options(adapter="patched")) == []


def test_the_training_loop_of_tfgan_gets_a_configuration() -> None:
    check_migrated(
        """\
        import tensorflow as tf
        tfgan = tf.contrib.gan
        tfgan.gan_train(ops, logdir, hooks=hooks)
        """,
        """\
        import tensorflow as tf
        from npu_bridge.npu_init import npu_config_proto
        tfgan = tf.contrib.gan
        tfgan.gan_train(ops, logdir, hooks=hooks, config=npu_config_proto())
        """,
        RULE,
    )
