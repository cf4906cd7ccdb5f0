"""Which TensorFlow 1.15 name the NPU runs."""

from __future__ import annotations

import csv
import importlib.util
import sys
import time
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from trainferry.migrate import support
from trainferry.migrate.support import Verdict, verdict

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "src" / "trainferry" / "migrate" / "support.csv"

# The rows of the vendor's list that say both yes and no, and what we make of them.
CONTRADICTIONS = {
    Verdict.UNSUPPORTED: """
        tf.estimator.tpu.InputPipelineConfig tf.estimator.tpu.TPUConfig
        tf.estimator.tpu.TPUEstimatorSpec tf.lite.experimental.convert_op_hints_to_stubs
        tf.lite.experimental.get_potentially_supported_ops tf.lite.experimental.load_delegate
        tf.lite.experimental.nn tf.lite.experimental.nn.dynamic_rnn
        tf.lite.experimental.nn.TFLiteLSTMCell tf.lite.experimental.nn.TfLiteRNNCell
        """,
    Verdict.DEPRECATED: "tf.layers.conv2d_transpose tf.layers.separable_conv1d",
    Verdict.PARTLY: "tf.layers.AveragePooling3D",
    Verdict.DISPUTED: """
        tf.accumulate_n tf.feature_column.sequence_categorical_column_with_hash_bucket
        tf.feature_column.sequence_categorical_column_with_identity
        tf.feature_column.sequence_categorical_column_with_vocabulary_file
        tf.feature_column.sequence_categorical_column_with_vocabulary_list
        tf.feature_column.shared_embedding_columns tf.lookup.experimental.DenseHashTable
        tf.lookup.StaticVocabularyTable tf.lookup.TextFileIndex tf.lookup.TextFileInitializer
        tf.math.accumulate_n tf.math.reduce_euclidean_norm tf.nn.compute_accidental_hits
        tf.nn.ctc_beam_search_decoder tf.nn.ctc_greedy_decoder tf.nn.ctc_loss
        tf.nn.ctc_unique_labels tf.nn.embedding_lookup_sparse tf.nn.safe_embedding_lookup_sparse
        tf.nn.separable_conv2d tf.ragged.range tf.signal.hamming_window tf.signal.hann_window
        tf.signal.overlap_and_add tf.sparse.add tf.sparse.mask tf.sparse.reduce_max
        tf.sparse.reduce_sum tf.sparse.segment_mean tf.sparse.segment_sum tf.sparse.split
        """,
}
RESOLVED = {name: found for found, names in CONTRADICTIONS.items() for name in names.split()}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tf.nn.relu", Verdict.SUPPORTED),
        ("tf.Session", Verdict.SUPPORTED_AFTER_MIGRATION),
        ("tf.nn.dropout", Verdict.SUPPORTED_AFTER_MIGRATION),
        ("tf.train.NanTensorHook", Verdict.HARMLESS),
        ("tf.py_func", Verdict.PARTLY),
        ("tf.contrib.slim.conv2d", Verdict.DEPRECATED),
        ("tf.profiler.profile", Verdict.DISPUTED),
        ("tf.enable_eager_execution", Verdict.UNSUPPORTED),
        ("tf.tpu.rewrite", Verdict.UNSUPPORTED),
        ("tf.keras.layers.CuDNNLSTM", Verdict.UNSUPPORTED),
        ("tf.contrib.cudnn_rnn.CudnnLSTM", Verdict.UNSUPPORTED),
        ("tf.random.experimental.Generator", Verdict.UNKNOWN),
    ],
)
def test_a_name_has_its_verdict(name: str, expected: Verdict) -> None:
    assert verdict(name).verdict is expected


@pytest.mark.parametrize(
    "spelling",
    [
        "tf.compat.v1.nn.dropout",
        "tensorflow.nn.dropout",
        "tensorflow.compat.v1.nn.dropout",
        "tf.compat.v1.compat.v1.nn.dropout",
    ],
)
def test_other_spellings_share_the_verdict(spelling: str) -> None:
    assert verdict(spelling) == verdict("tf.nn.dropout")


def test_horovod_is_found_under_each_of_its_modules() -> None:
    answers = {
        verdict(f"{module}.rank")
        for module in ("hvd", "horovod.tensorflow", "horovod.keras", "horovod.tensorflow.keras")
    }
    assert [answer.note for answer in answers] == ["get_npu_rank_id takes its place"]


def test_horovod_without_counterpart_is_unsupported_though_the_list_lacks_it() -> None:
    answer = verdict("horovod.keras.callbacks.MetricAverageCallback")
    assert answer.verdict is Verdict.UNSUPPORTED


def test_a_tensorflow_2_spelling_says_by_what_it_was_judged() -> None:
    answer = verdict("tf.compat.v2.losses.Huber")
    assert answer.verdict is Verdict.SUPPORTED
    assert answer.note == "judged by `tf.keras.losses.Huber`"


def test_summaries_of_tensorflow_2_are_not_those_of_1() -> None:
    assert verdict("tf.compat.v2.summary.scalar").verdict is Verdict.UNKNOWN


def test_standalone_keras_is_judged_as_the_keras_of_tensorflow() -> None:
    assert verdict("keras.layers.Dense").note == "judged by `tf.keras.layers.Dense`"
    assert verdict("keras.layers.CuDNNGRU").verdict is Verdict.UNSUPPORTED


def test_dataset_methods_have_their_own_verdicts() -> None:
    assert verdict("tf.data.Dataset.batch").verdict is Verdict.SUPPORTED_AFTER_MIGRATION
    assert verdict("tf.compat.v1.data.Dataset.padded_batch").verdict is Verdict.PARTLY
    assert verdict("tf.data.Dataset.map").verdict is Verdict.SUPPORTED


def test_a_method_shares_the_verdict_of_its_class() -> None:
    answer = verdict("tf.train.AdamOptimizer.minimize")
    assert answer.verdict is Verdict.SUPPORTED
    assert "tf.train.AdamOptimizer" in answer.note
    assert verdict("tf.Session.run").verdict is Verdict.SUPPORTED_AFTER_MIGRATION


def test_an_unknown_function_does_not_share_the_verdict_of_its_module() -> None:
    answer = verdict("tf.keras.layers.invented")
    assert answer.verdict is Verdict.UNKNOWN
    assert answer.note == "not in the list; the nearest known name is `tf.keras.layers`"
    assert answer.source == "none"


@pytest.mark.parametrize("name", ["numpy.array", "tensorflow.python.ops.nn_ops.conv2d", "", "tf"])
def test_foreign_and_private_names_are_unknown(name: str) -> None:
    assert verdict(name).verdict is Verdict.UNKNOWN


def test_a_module_is_not_judged_as_a_whole() -> None:
    assert verdict("tf.nn").note == "a module: its members are judged one by one"


@pytest.mark.parametrize(("name", "expected"), RESOLVED.items())
def test_a_contradiction_of_the_list_is_never_taken_for_a_yes(name: str, expected: Verdict) -> None:
    answer = verdict(name)
    assert answer.verdict is expected
    assert answer.verdict.needs_a_look
    assert answer.note != ""


def test_only_what_needs_nothing_of_the_user_is_passed_over() -> None:
    quiet = {found.name for found in Verdict if not found.needs_a_look}
    assert quiet == {"SUPPORTED", "SUPPORTED_AFTER_MIGRATION", "HARMLESS"}


def test_the_table_says_where_it_comes_from_and_how_old_it_is() -> None:
    header = [line for line in TABLE.read_text("utf-8").splitlines() if line.startswith("#")]
    assert "tools/make_support_table.py" in header[0]
    assert any("tf1.15_api_support_list" in line and "2026-07" in line for line in header)


def test_the_table_is_sorted_without_doubles_and_in_english() -> None:
    text = TABLE.read_text("utf-8")
    assert text.isascii()
    rows = list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
    names = [row["name"] for row in rows]
    assert names == sorted(set(names))
    assert {row["source"] for row in rows} == {"list", "judged"}
    unexplained = [
        row["name"]
        for row in rows
        if row["verdict"] not in ("SUPPORTED", "HARMLESS", "DEPRECATED") and not row["note"]
    ]
    assert unexplained == []


def test_the_table_is_what_its_script_makes(shared: Path) -> None:
    script = load_script()
    rows = script.build_rows(
        script.read_list(shared / "tf115_api_support.csv"), script.read_judgements()
    )
    assert script.format_table(rows, "2026-07") == TABLE.read_text("utf-8")


def test_every_name_of_the_list_gets_an_answer(shared: Path) -> None:
    with (shared / "tf115_api_support.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    started = time.perf_counter()
    answers = {row["api"]: verdict(row["api"]) for row in rows}
    assert time.perf_counter() - started < 2
    assert {row["api"] for row in rows if row["contradictory"]} == RESOLVED.keys()

    silent = [row["api"] for row in rows if row["status"] == "compat-alias"]
    counts = Counter(answers[name].verdict for name in silent)
    assert len(silent) == 4582
    assert counts[Verdict.UNKNOWN] < 220  # modules, TF 2 summaries and a few more
    raised = [
        row["api"]
        for row in rows
        if row["status"].startswith("unsupported-no-plan")
        and answers[row["api"]].verdict is not Verdict.UNSUPPORTED
    ]
    assert raised == []


def test_the_script_keeps_what_the_list_says_of_a_deprecated_family() -> None:
    script = load_script()
    rows = script.build_rows(
        [
            {"api": "tf.contrib.old", "status": "deprecated", "contradictory": ""},
            {"api": "tf.contrib.good", "status": "supported-no-migration", "contradictory": ""},
            {"api": "tf.tpu.rewrite", "status": "supported-no-migration", "contradictory": ""},
            {"api": "tf.torn", "status": "supported-no-migration", "contradictory": "yes"},
            {"api": "tf.compat.v1.abs", "status": "compat-alias", "contradictory": ""},
            {"api": "hvd.elastic.run(func)", "status": "under-analysis", "contradictory": ""},
        ],
        {"tf.contrib.*": ("DEPRECATED", "old"), "tf.tpu.*": ("UNSUPPORTED", "for TPUs")},
    )
    assert [(name, found) for name, found, _, _ in rows] == [
        ("horovod.tensorflow.elastic.run", "UNKNOWN"),
        ("tf.contrib.*", "DEPRECATED"),
        ("tf.contrib.good", "SUPPORTED"),
        ("tf.torn", "DISPUTED"),
        ("tf.tpu.*", "UNSUPPORTED"),
    ]


def test_nothing_is_read_before_the_first_question() -> None:
    support._table.cache_clear()
    assert support._table.cache_info().currsize == 0
    support.verdict.cache_clear()
    verdict("tf.abs")
    verdict("tf.add")
    assert support._table.cache_info().misses == 1


def load_script() -> ModuleType:
    path = ROOT / "tools" / "make_support_table.py"
    specification = importlib.util.spec_from_file_location("make_support_table", path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module
    specification.loader.exec_module(module)
    return module
