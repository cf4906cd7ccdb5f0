"""Unknown dimensions: followed to their roots, and graded."""

from __future__ import annotations

from tests.rehearse.checks.made_up_facts import found, only, op, seen, trained
from trainferry.rehearse.facts import DATA, FED, Operator, Output
from trainferry.rehearse.finding import Severity

OPEN = (None, 8)


def fed(name: str = "x", shape: tuple[int | None, ...] = OPEN) -> Operator:
    return op(name, "Placeholder", shape=shape, function=FED)


def test_an_open_batch_of_constant_size_is_a_risk() -> None:
    finding = only(
        trained(
            fed(),
            op("y", "MatMul", ["x"], shape=OPEN),
            feeds=("x:0",),
            inputs=seen({"x:0": (4, 8)}),
        )
    )
    assert (finding.check, finding.severity) == ("open-batch", Severity.RISK)
    assert finding.places == ("train.py:x",)
    assert "[?, 8]" in finding.message
    assert "[4, 8]" in finding.message


def test_a_placeholder_is_told_the_shape_that_it_had() -> None:
    rate = op("rate", "Placeholder", shape=None, function=FED)
    finding = only(trained(rate, feeds=("rate:0",), inputs=seen({"rate:0": ()})))
    assert "leaves its shape open; here it was []" in finding.message
    assert finding.hint == "give the placeholder its full shape, `[]`"


def test_batches_that_change_are_told_once_and_not_as_open() -> None:
    finding = only(trained(fed(), inputs=seen({"x:0": (4, 8)}, {"x:0": (3, 8)})))
    assert finding.check == "changing-shapes"
    assert "[4, 8], [3, 8]" in finding.message


def test_changing_shapes_end_a_loop_on_the_device() -> None:
    facts = trained(
        fed(),
        op("IterationOp", "NoOp"),
        options={"iterations_per_loop": 2, "enable_data_pre_proc": True},
        inputs=seen({"x:0": (4, 8)}, {"x:0": (3, 8)}),
    )
    assert found(facts, "changing-shapes")[0].severity is Severity.REFUSED


def test_shapes_may_be_open_where_the_session_says_so() -> None:
    facts = trained(fed(), options={"compile_dynamic_mode": True}, inputs=seen({"x:0": (4, 8)}))
    assert found(facts, "open-batch") == []


def test_a_dataset_that_keeps_its_rest_is_told_instead_of_the_iterator() -> None:
    pipeline = [
        op("batch", "BatchDatasetV2", ["range", "size", "drop"], function=DATA, dtype="variant"),
        op("drop", "Const", attributes={"value": False}, function=DATA, dtype="bool"),
        op("make", "MakeIterator", ["batch", "iterator"], function=DATA),
    ]
    finding = only(
        trained(
            op("iterator", "IteratorV2", dtype="resource"),
            op("next", "IteratorGetNext", ["iterator"], shape=OPEN),
            *pipeline,
        )
    )
    assert (finding.check, finding.places) == ("drop-remainder", ("train.py:batch",))


def test_a_dataset_that_drops_its_rest_but_is_open_is_told_by_its_iterator() -> None:
    finding = only(
        trained(
            op("iterator", "IteratorV2", dtype="resource"),
            op("next", "IteratorGetNext", ["iterator"], shape=OPEN),
            op("batch", "BatchDatasetV2", ["range", "size", "drop"], function=DATA),
            op("drop", "Const", attributes={"value": True}, function=DATA),
            op("make", "MakeIterator", ["batch", "iterator"], function=DATA),
        )
    )
    assert (finding.check, finding.places) == ("open-batch", ("train.py:next",))


def test_sparse_tensors_of_a_dataset_are_no_open_batch() -> None:
    facts = trained(
        op("iterator", "IteratorV2", dtype="resource"),
        op("next", "IteratorGetNext", ["iterator"], shape=None, dtype="variant"),
    )
    assert only(facts).check == "unsupported-dtype"


def test_targets_of_keras_have_the_batch_of_the_inputs() -> None:
    fixed = fed("dense_input", (4, 8))
    target = fed("dense_1_target", (None, None))
    assert found(trained(fixed, target), "open-batch") == []
    both = found(trained(fed("dense_input"), target), "open-batch")
    assert [one.operators for one in both] == [("dense_input",), ("dense_1_target",)]


def test_data_dependent_operators_are_refused_with_their_lines() -> None:
    finding = only(trained(op("where", "Where", dtype="int64", shape=(None, 1))))
    assert (finding.check, finding.severity) == ("data-dependent-shape", Severity.REFUSED)
    assert finding.places == ("train.py:where",)


def test_what_an_optimizer_adds_for_embeddings_is_a_risk_only() -> None:
    facts = trained(op("Adam/update_table/Unique", "Unique", dtype="int64", shape=(None,)))
    assert only(facts).severity is Severity.RISK


def test_the_root_of_a_lost_dimension_is_told_not_what_follows() -> None:
    finding = only(
        trained(
            op("longest", "Max", shape=()),
            op("range", "Range", ["zero", "longest", "one"], shape=(None,), dtype="int32"),
            op("more", "Cast", ["range"], shape=(None,)),
            pinned={"graphs/1.json": {"range": ((None,),), "more": ((None,),)}},
        )
    )
    assert (finding.check, finding.operators) == ("open-dimension", ("range",))
    assert finding.severity is Severity.REFUSED


def test_nothing_is_told_of_dimensions_that_the_inputs_decide() -> None:
    open_here = op("more", "Cast", ["next"], shape=(None,))
    facts = trained(open_here, pinned={"graphs/1.json": {}})
    assert found(facts, "open-dimension") == []


def test_what_loops_and_queues_hide_is_not_counted_as_lost() -> None:
    hidden = dict.fromkeys(("enter", "body", "exit", "after", "dequeue", "read"), ((None,),))
    facts = trained(
        op("enter", "Enter", ["x"], shape=(None,)),
        op("cond", "LoopCond", ["enter"], dtype="bool", shape=()),
        op("body", "Mul", ["enter"], shape=(None,)),
        op("exit", "Exit", ["body"], shape=(None,)),
        op("after", "Mul", ["exit"], shape=(None,)),
        op("dequeue", "QueueDequeueManyV2", shape=(None,)),
        op("read", "Mul", ["dequeue"], shape=(None,)),
        pinned={"graphs/1.json": hidden},
    )
    assert found(facts, "open-dimension") == []
    (loop,) = found(facts, "while-loop")
    assert loop.places == ("train.py:cond",)
    assert "3 operators inside" in loop.message
    (queue,) = found(facts, "queue-input")
    assert queue.severity is Severity.REFUSED


def test_what_follows_a_data_dependent_operator_is_its_fault() -> None:
    facts = trained(
        op("where", "Where", dtype="int64", shape=(None, 1)),
        op("size", "Shape", ["where"], dtype="int32", shape=(2,)),
        op("tile", "Tile", ["one", "size"], shape=(None,)),
        pinned={"graphs/1.json": {"where": ((None, 1),), "tile": ((None,),)}},
    )
    assert only(facts).check == "data-dependent-shape"


def test_outputs_that_never_have_a_shape_do_no_harm() -> None:
    norm = Operator(
        "norm", "FusedBatchNormV3", outputs=(Output("float32", (4,)), Output("float32", None))
    )
    facts = trained(norm, pinned={"graphs/1.json": {"norm": ((4,), None)}})
    assert found(facts, "open-dimension") == []
