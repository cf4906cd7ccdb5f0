"""Operators and dtypes that the device has not, has slowly, or may have."""

from __future__ import annotations

import pytest

from tests.rehearse.checks.made_up_facts import found, only, op, trained
from trainferry.rehearse.check import check_run
from trainferry.rehearse.facts import DATA, Grown
from trainferry.rehearse.finding import Severity

ON_HOST = {"mix_compile_mode": True}


def test_float64_is_refused_where_no_prototype_has_it() -> None:
    finding = only(trained(op("product", "MatMul", dtype="float64")))
    assert (finding.check, finding.severity) == ("unsupported-dtype", Severity.REFUSED)


def test_float64_is_a_risk_where_a_prototype_has_it() -> None:
    finding = only(trained(op("sum", "AddV2", dtype="float64")))
    assert (finding.check, finding.severity) == ("unsupported-dtype", Severity.RISK)


def test_constants_alone_do_not_compute() -> None:
    assert check_run([trained(op("c", "Const", dtype="float64"))]) == []


def test_lines_of_the_forward_pass_are_told_before_those_of_gradients() -> None:
    finding = only(
        trained(
            op("gradients/product_grad/MatMul", "MatMul", dtype="float64"),
            op("product", "MatMul", dtype="float64"),
        )
    )
    assert finding.places == ("train.py:product",)
    assert len(finding.operators) == 2


def test_a_dtype_that_the_prototype_does_not_name_is_a_risk() -> None:
    facts = trained(
        op("a", "Cast", dtype="int64"), op("product", "MatMul", ["a", "a"], dtype="int64")
    )
    finding = only(facts)
    assert (finding.check, finding.severity) == ("dtype-not-listed", Severity.RISK)
    assert "int64" in finding.message


@pytest.mark.parametrize(
    ("kind", "check"),
    [
        ("PyFunc", "host-only-operator"),
        ("ReadFile", "host-only-operator"),
        ("LookupTableFindV2", "lookup-table"),
        ("Lgamma", "operator-not-listed"),
        ("Print", "print-operator"),
        ("IsNan", "finite-check"),
    ],
)
def test_kinds_have_their_checks(kind: str, check: str) -> None:
    assert [one.check for one in check_run([trained(op("it", kind))])] == [check]


def test_clipping_asks_whether_a_norm_is_finite_and_that_is_a_note() -> None:
    clipping = op("train/clip_by_global_norm/IsFinite", "IsFinite")
    assert only(trained(clipping)).severity is Severity.NOTE
    grades = [one.severity for one in check_run([trained(clipping, op("loss", "IsFinite"))])]
    assert grades == [Severity.RISK, Severity.NOTE]


def test_what_a_sum_of_exponents_asks_loses_nothing() -> None:
    assert check_run([trained(op("loss/ReduceLogSumExp/IsFinite", "IsFinite"))]) == []


def test_the_sparse_gradient_of_an_embedding_is_to_be_made_dense() -> None:
    finding = only(trained(op("Adam/update_table/Unique", "Unique", dtype="int32")))
    assert (finding.check, finding.severity) == ("data-dependent-shape", Severity.RISK)
    assert "tf.convert_to_tensor" in finding.hint


def test_what_may_stay_on_the_host_is_a_risk() -> None:
    assert only(trained(op("it", "PyFunc"), options=ON_HOST)).severity is Severity.RISK


def test_what_is_left_to_the_host_by_its_scope_is_no_fault() -> None:
    left = op("it", "PyFunc", attributes={"_without_npu_compile": True})
    assert check_run([trained(left, options=ON_HOST)]) == []


def test_what_stands_in_for_the_device_is_no_fault() -> None:
    assert check_run([trained(op("it", "PyFunc", stand_in="HcomAllReduce"))]) == []


def test_gradients_of_a_stand_in_are_no_fault() -> None:
    gradient = op("it_grad", "BlockLSTMGrad", attributes={"gradient_of": "it"})
    assert check_run([trained(op("it", "BlockLSTM", stand_in="DynamicRNN"), gradient)]) == []
    assert only(trained(op("it", "MatMul"), gradient)).check == "operator-not-listed"


def test_the_input_pipeline_may_do_what_it_likes() -> None:
    facts = trained(
        op("map", "MapDataset", attributes={"f": "parse"}, dtype="variant", function=DATA),
        op("text", "StringSplit", dtype="string", function="parse"),
        op("python", "PyFunc", function="parse"),
    )
    assert check_run([facts]) == []


def test_a_function_that_the_step_calls_too_is_checked() -> None:
    facts = trained(
        op("call", "StatefulPartitionedCall", attributes={"f": "parse"}),
        op("python", "PyFunc", function="parse"),
    )
    assert only(facts).check == "host-only-operator"


def test_strings_are_refused_where_only_the_cores_name_them() -> None:
    facts = trained(
        op("phase", "Const", dtype="string"),
        op("is_training", "Equal", ["phase", "phase"], dtype="bool"),
    )
    finding = only(facts)
    assert (finding.check, finding.severity) == ("string-operator", Severity.REFUSED)
    assert finding.places == ("train.py:is_training",)


def test_strings_that_only_come_along_with_a_batch_are_a_risk() -> None:
    finding = only(trained(op("batch", "IteratorGetNext", dtype="string")))
    assert (finding.check, finding.severity) == ("string-operator", Severity.RISK)
    assert finding.places == ("train.py:batch",)


def test_strings_on_the_small_processors_are_a_risk() -> None:
    facts = trained(op("text", "StringJoin", dtype="string"))
    assert only(facts).severity is Severity.RISK


def test_text_of_asserts_and_summaries_does_no_harm() -> None:
    facts = trained(
        op("text", "Const", dtype="string"),
        op("assert", "Assert", ["text"]),
        op("loss", "ScalarSummary", ["text"], dtype="string"),
    )
    assert check_run([facts]) == []


def test_gpus_are_refused_without_soft_placement() -> None:
    pinned = op("it", "MatMul", device="/device:GPU:0")
    assert only(trained(pinned)).severity is Severity.RISK
    refused = only(trained(pinned, config={"allow_soft_placement": False}))
    assert refused.severity is Severity.REFUSED


def test_a_choice_whose_result_is_open_is_more_than_a_note() -> None:
    assert only(trained(op("merge", "Merge"))).severity is Severity.NOTE
    uneven = trained(op("merge", "Merge"), pinned={"graphs/1.json": {"merge": (None,)}})
    assert found(uneven, "conditional")[0].severity is Severity.RISK


def test_the_same_of_two_train_steps_is_told_once() -> None:
    facts = trained(op("it", "MatMul", dtype="float64"))
    twice = type(facts)(**{**vars(facts), "runs": facts.runs * 2})
    assert len(found(twice, "unsupported-dtype")) == 1


def test_operators_marked_for_xla_are_refused() -> None:
    facts = trained(op("it", "MatMul", attributes={"_XlaCompile": True}))
    assert (only(facts).check, only(facts).places) == ("xla-on", ("train.py:it",))


def test_a_graph_that_grows_once_is_no_fault() -> None:
    assert check_run([trained(op("it", "MatMul"), grown=(Grown(2, 1, 9),))]) == []
    growing = (Grown(2, 1, 9), Grown(3, 1, 9))
    assert only(trained(op("it", "MatMul"), grown=growing)).places == ("train.py:run",)


def test_what_could_not_be_followed_is_told() -> None:
    finding = only(trained(op("it", "MatMul"), problems=("no shape of `x`",)))
    assert (finding.check, finding.severity) == ("not-inferred", Severity.NOTE)
