"""Rules meet in one file: all edits are made, in rounds, and told where the user has them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

import pytest

from tests.migrate.made_rules import (
    NPU_OPS,
    apply_to,
    apply_to_all,
    bytes_after,
    made_rule,
    renamed,
    source_at,
)
from trainferry.migrate.edit import Edit
from trainferry.migrate.file import File, ProjectFiles
from trainferry.migrate.find import Call, wrap
from trainferry.migrate.lines import line_number
from trainferry.migrate.options import Options
from trainferry.migrate.rounds import Result, apply_rules
from trainferry.migrate.rule import (
    IMPORT_RULE,
    Finding,
    Outcome,
    Rule,
    Spot,
    on_call,
    on_file,
    on_name,
    on_project,
)
from trainferry.migrate.statements import insert_after, insert_before, remove_statement

HEAD = b"import tensorflow as tf\n"
A_TO_B = renamed("a_to_b", "tf.a", "tf.b")
B_TO_C = renamed("b_to_c", "tf.b", "tf.c")
TO_NPU = renamed("to_npu", "tf.old", "npu_ops.new", NPU_OPS)


def wrapped(name: str, before: str, function: str, statement: str = "") -> Rule:
    """A rule that puts `function(…)` around calls of `before`."""

    @on_call(before)
    def put_around(call: Call, file: File) -> Iterator[Finding]:
        if f"{function}(" in file.text(file.statement(call.node)):
            return
        edits = wrap(file.source, call.node, f"{function}(", ")")
        imports = (statement,) if statement else ()
        yield Finding(call, Outcome.CHANGED, f"in `{function}`", edits, imports)

    return made_rule(name, put_around)


def told_name(name: str, what: str) -> Rule:
    """A rule that tells every use of a name and changes nothing."""

    @on_name(what)
    def tell(spot: Spot, _name: str, _file: File) -> Iterator[Finding]:
        yield Finding(spot, Outcome.BY_HAND, f"`{what}` by hand")

    return made_rule(name, tell)


def added_before(name: str, called: str, line: str) -> Rule:
    """A rule that puts a line before the statements that call something."""

    @on_call(called)
    def add(call: Call, file: File) -> Iterator[Finding]:
        if line not in file.source.data.decode(file.source.encoding):
            edit = insert_before(file, file.statement(call.node), line)
            assert edit is not None
            yield Finding(call, Outcome.CHANGED, f"`{line}` before", (edit,))

    return made_rule(name, add)


def lines_of(result: Result, rule: str) -> list[int]:
    """The lines, as the user has them, of what a rule told."""
    data = {source.path: source.data for source in result.before}
    return sorted(
        line_number(data[one.path], one.start) for one in result.told if one.rule.name == rule
    )


# Edits of several rules.


@pytest.mark.parametrize("rules", [(A_TO_B, B_TO_C), (B_TO_C, A_TO_B)])
def test_what_one_rule_writes_another_may_change_further(rules: tuple[Rule, Rule]) -> None:
    result = apply_to(HEAD + b"tf.a(tf.b())\n", *rules)
    assert bytes_after(result) == HEAD + b"tf.c(tf.c())\n"
    assert result.failures == []


def test_two_rules_that_put_something_around_the_same_call_are_both_made() -> None:
    one, two = wrapped("one", "tf.a", "one"), wrapped("two", "tf.a", "two")
    result = apply_to(HEAD + b"x = tf.a(1)\n", one, two)
    assert bytes_after(result) == HEAD + b"x = one(two(tf.a(1)))\n"
    assert [told.rule.name for told in result.told] == ["one", "two"]
    assert {(told.start, told.end) for told in result.told} == {(28, 35)}


def test_an_edit_inside_a_wrapped_call_needs_no_second_wrap() -> None:
    result = apply_to(
        HEAD + b"x = tf.outer(tf.a(y), tf.a(z))\n", wrapped("outer", "tf.outer", "npu"), A_TO_B
    )
    assert bytes_after(result) == HEAD + b"x = npu(tf.outer(tf.b(y), tf.b(z)))\n"
    assert len(result.told) == 3


def test_the_edits_of_a_finding_are_made_together_or_not_at_all() -> None:
    @on_call("tf.both")
    def change_both(call: Call, file: File) -> Iterator[Finding]:
        arguments = [Edit(*file.source.span(one), "2") for one in call.node.args]
        edits = (call.replace_function("tf.done"), *arguments)
        yield Finding(call, Outcome.CHANGED, "both", edits)

    @on_call("tf.both")
    def first_argument(call: Call, file: File) -> Iterator[Finding]:
        if file.text(call.node.args[0]) == "1":
            edit = Edit(*file.source.span(call.node.args[0]), "3")
            yield Finding(call, Outcome.CHANGED, "one", (edit,))

    result = apply_to(
        HEAD + b"tf.both(1, 1)\n",
        made_rule("first", first_argument),
        made_rule("both", change_both),
    )
    assert bytes_after(result) == HEAD + b"tf.done(2, 2)\n"
    assert [one.rule.name for one in result.told] == ["first", "both"]


def test_new_lines_of_two_rules_at_one_place_are_both_made() -> None:
    result = apply_to(
        HEAD + b"tf.a()\n",
        added_before("one", "tf.a", "x = 1"),
        added_before("two", "tf.a", "y = 2"),
    )
    assert sorted(bytes_after(result).splitlines()[1:3]) == [b"x = 1", b"y = 2"]
    assert result.failures == []


def test_an_import_comes_before_new_lines_at_the_same_place() -> None:
    @on_call("tf.a")
    def configure(call: Call, file: File) -> Iterator[Finding]:
        edit = insert_before(file, file.statement(call.node), "config = npu_ops.config()")
        if edit is not None and b"config =" not in file.source.data:
            yield Finding(call, Outcome.CHANGED, "configured", (edit,), (NPU_OPS,))

    result = apply_to(HEAD + b"tf.a()\n", made_rule("configure", configure))
    assert bytes_after(result).decode().splitlines()[1:] == [
        NPU_OPS,
        "config = npu_ops.config()",
        "tf.a()",
    ]


def test_tensorflows_import_itself_may_be_removed() -> None:
    @on_file
    def remove(file: File) -> Iterator[Finding]:
        for node in file.imports:
            if "contrib" in file.text(node):
                edit = remove_statement(file, node)
                assert edit is not None
                yield Finding(Spot(file.source, node), Outcome.CHANGED, "gone", (edit,))

    result = apply_to(
        b"from tensorflow.contrib import x\nimport tensorflow as tf\ntf.old()\n",
        made_rule("remove", remove),
        TO_NPU,
    )
    assert result.failures == []
    assert sorted(bytes_after(result).splitlines()) == sorted(
        [b"import tensorflow as tf", NPU_OPS.encode(), b"npu_ops.new()"]
    )


def test_files_change_side_by_side_and_know_each_other() -> None:
    result = apply_to_all(
        {"net.py": HEAD + b"tf.a()\n", "program.py": b"from net import tf\ntf.a()\n"},
        A_TO_B,
        B_TO_C,
    )
    assert bytes_after(result, "net.py") == HEAD + b"tf.c()\n"
    assert bytes_after(result) == b"from net import tf\ntf.c()\n"


def test_a_rule_for_the_project_edits_any_file() -> None:
    @on_project
    def mark(project: ProjectFiles) -> Iterator[Finding]:
        for file in project.files:
            statement = file.source.tree.body[-1]
            edit = insert_after(file, statement, "done = 1")
            if edit is not None and b"done" not in file.source.data:
                yield Finding(Spot(file.source, statement), Outcome.CHANGED, "marked", (edit,))

    result = apply_to_all({"a.py": b"x = 1", "b.py": b"y = 1\n"}, made_rule("mark", mark))
    assert bytes_after(result, "a.py") == b"x = 1\ndone = 1"
    assert bytes_after(result, "b.py") == b"y = 1\ndone = 1\n"


# Told where the user has it.


@pytest.mark.parametrize("encoding", ["utf-8", "gbk", "utf-8-sig"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_places_are_told_as_the_user_has_them_after_many_rounds(encoding: str, end: str) -> None:
    cookie = "# coding: gbk\n" if encoding == "gbk" else "# 训练\n"
    text = (
        f"{cookie}import tensorflow as tf  # 导入\n"
        "tf.hand\n"
        "x = '模型'; tf.a(tf.hand)\n"
        "tf.old('模型', tf.a(1,\n"
        "    2), tf.hand)\n"
        "tf.hand\n"
    )
    data = text.replace("\n", end).encode(encoding)
    rules = (
        A_TO_B,
        B_TO_C,
        added_before("more", "tf.old", "y = '很多'\nz = 1"),
        TO_NPU,
        told_name("hand", "tf.hand"),
    )
    result = apply_to(data, *rules)
    assert result.failures == []
    assert lines_of(result, "hand") == [3, 4, 6, 7]
    assert lines_of(result, "a_to_b") == [4, 5]
    assert lines_of(result, "b_to_c") == [4, 5]
    assert lines_of(result, "to_npu") == [5]
    told = [one for one in result.told if one.rule.name in ("hand", "b_to_c")]
    source = result.before[0].data
    assert {source[one.start : one.end].decode(encoding) for one in told} == {
        "tf.hand",
        "tf.a(tf.hand)",
        f"tf.a(1,{end}    2)",
    }
    after = bytes_after(result)
    assert after.count(b"\r\n") == (after.count(b"\n") if end == "\r\n" else 0)
    assert "y = '很多'" in after.decode(encoding)


def test_the_same_thing_found_in_each_round_is_told_once() -> None:
    result = apply_to(HEAD + b"tf.a(tf.hand)\n", told_name("hand", "tf.hand"), A_TO_B, B_TO_C)
    assert len([one for one in result.told if one.rule.name == "hand"]) == 1


def test_each_call_of_a_chain_is_told() -> None:
    @on_file
    def tell(file: File) -> Iterator[Finding]:
        for call in file.names.attribute_calls(file.source, "map"):
            yield Finding(Spot(file.source, call), Outcome.BY_HAND, "slow")

    result = apply_to(HEAD + b"d = tf.a().map(f).map(g)\n", made_rule("map", tell), A_TO_B, B_TO_C)
    told = [one for one in result.told if one.rule.name == "map"]
    text = result.before[0].data
    assert [text[one.start : one.end] for one in told] == [
        b"tf.a().map(f)",
        b"tf.a().map(f).map(g)",
    ]


def test_what_is_found_in_new_text_is_told_where_the_old_stood() -> None:
    @on_call("tf.a")
    def grow(call: Call, file: File) -> Iterator[Finding]:
        edit = Edit(*file.source.span(call.node), "(1 + tf.hand + 1)")
        yield Finding(call, Outcome.CHANGED, "grown", (edit,))

    data = HEAD + b"x = tf.a(1)  # here\n"
    result = apply_to(data, made_rule("grow", grow), told_name("hand", "tf.hand"))
    (told,) = [one for one in result.told if one.rule.name == "hand"]
    assert data[told.start : told.end] == b"tf.a(1)"


def test_an_import_is_told_where_it_is_put() -> None:
    result = apply_to(b"\n\n" + HEAD + b"tf.a(tf.old())\n", A_TO_B, B_TO_C, TO_NPU)
    assert lines_of(result, IMPORT_RULE.name) == [4]


def test_a_taken_name_is_told_with_what_to_write() -> None:
    result = apply_to(HEAD + b"npu_ops = 1\ntf.old()\n", TO_NPU)
    assert result.after == {}
    (told,) = result.told
    assert told.outcome is Outcome.BY_HAND
    assert "`npu_ops` is already another thing" in told.message
    assert NPU_OPS in told.message
    assert "`npu_ops.new`" in told.message


def test_unwanted_findings_are_neither_made_nor_told() -> None:
    source = source_at("program.py", HEAD + b"tf.a()\ntf.b()\n")
    result = apply_rules(
        [source],
        [A_TO_B, B_TO_C],
        Options(),
        is_unwanted=lambda found, _: found.rule.name == "a_to_b",
    )
    assert bytes_after(result) == HEAD + b"tf.a()\ntf.c()\n"
    assert {one.rule.name for one in result.told} == {"b_to_c"}


# What was told is forgotten where the code is gone.


def removed(name: str, called: str, *, waits_for: str = "") -> Rule:
    """A rule that removes the statements that call something, once `waits_for` stands there."""

    @on_call(called)
    def remove(call: Call, file: File) -> Iterator[Finding]:
        edit = remove_statement(file, file.statement(call.node))
        assert edit is not None
        if waits_for.encode() in file.source.data:
            yield Finding(call, Outcome.CHANGED, "not needed", (edit,))

    return made_rule(name, remove)


@pytest.mark.parametrize("waits_for", ["", "tf.b", "tf.c"])
def test_work_on_code_that_another_rule_removes_is_not_told(waits_for: str) -> None:
    data = HEAD + b"tf.a(1)\nf(tf.gone(tf.hand))\ng(tf.hand)\n"
    rules = (A_TO_B, B_TO_C, told_name("hand", "tf.hand"))
    result = apply_to(data, *rules, removed("remove", "tf.gone", waits_for=waits_for))
    assert bytes_after(result) == HEAD + b"tf.c(1)\ng(tf.hand)\n"
    assert lines_of(result, "hand") == [4]


def test_work_is_told_where_its_rule_no_longer_knows_the_code() -> None:
    result = apply_to(HEAD + b"f(tf.a(x))\n", told_name("hand", "tf.a"), A_TO_B)
    assert bytes_after(result) == HEAD + b"f(tf.b(x))\n"
    assert lines_of(result, "hand") == [2]


def test_work_on_the_project_stays_told_where_the_rule_tells_it_elsewhere_now() -> None:
    @on_project
    def tell(project: ProjectFiles) -> Iterator[Finding]:
        calls = [call for file in project.files for call in file.calls_of("tf.gone", "tf.kept")]
        yield Finding(calls[0], Outcome.BY_HAND, "think of it")

    data = HEAD + b"tf.gone()\ntf.kept()\n"
    result = apply_to(data, made_rule("project", tell), removed("remove", "tf.gone"))
    assert bytes_after(result) == HEAD + b"tf.kept()\n"
    assert lines_of(result, "project") == [2]


def test_work_in_a_file_that_is_left_alone_stays_told() -> None:
    @on_call("tf.b")
    def breaks(call: Call, _file: File) -> Iterator[Finding]:
        yield Finding(call, Outcome.BY_HAND, dict[str, str]()["oops"])

    data = HEAD + b"tf.a(1)\nf(tf.gone(tf.hand))\n"
    rules = (told_name("hand", "tf.hand"), removed("remove", "tf.gone"), A_TO_B)
    result = apply_to(data, *rules, made_rule("breaks", breaks))
    assert result.after == {}
    assert lines_of(result, "hand") == [3]


# Our own bugs cost the user nothing.


def test_a_rule_that_breaks_leaves_the_file_and_is_told_once() -> None:
    @on_call("tf.a")
    def breaks(call: Call, _file: File) -> Iterator[Finding]:
        yield Finding(call, Outcome.CHANGED, "x", (call.replace_function("y"),))
        raise KeyError("oops")

    files = {"program.py": HEAD + b"tf.a()\ntf.b()\n", "other.py": HEAD + b"tf.b()\n"}
    result = apply_to_all(files, made_rule("breaks", breaks), B_TO_C, told_name("hand", "tf.b"))
    assert list(result.after) == [PurePosixPath("other.py")]
    (failure,) = result.failures
    assert (failure.path, failure.rule) == (PurePosixPath("program.py"), "breaks")
    assert "KeyError: 'oops'" in failure.trace
    told = [one for one in result.told if one.path == failure.path]
    assert {one.rule.name for one in told} == {"hand"}, "only what is still true is told"


def test_a_rule_that_breaks_in_a_later_round_gives_the_whole_file_back() -> None:
    @on_call("tf.c")
    def breaks(call: Call, _file: File) -> Iterator[Finding]:
        if call.name:
            raise KeyError(call.name)
        yield from ()

    result = apply_to(HEAD + b"tf.a()\n", A_TO_B, B_TO_C, made_rule("breaks", breaks))
    assert result.after == {}
    assert result.told == []
    assert [one.rule for one in result.failures] == ["breaks"]


def test_a_rule_that_breaks_on_the_project_costs_no_file() -> None:
    @on_project
    def breaks(project: ProjectFiles) -> Iterator[Finding]:
        if project.files:
            raise KeyError("oops")
        yield from ()

    result = apply_to(HEAD + b"tf.a()\n", A_TO_B, made_rule("breaks", breaks))
    assert bytes_after(result) == HEAD + b"tf.b()\n"
    assert len(result.failures) == 1


def test_rules_that_never_end_are_given_up() -> None:
    back = renamed("back", "tf.b", "tf.a")
    files = {"program.py": HEAD + b"tf.a()\n", "other.py": HEAD + b"tf.old()\n"}
    result = apply_to_all(files, A_TO_B, back, TO_NPU)
    assert list(result.after) == [PurePosixPath("other.py")]
    (failure,) = result.failures
    assert failure.path == PurePosixPath("program.py")
    assert failure.rule in ("a_to_b", "back")
    assert failure.trace == "the rules do not come to an end"
    assert {one.path for one in result.told} == {PurePosixPath("other.py")}


def test_an_edit_that_breaks_the_file_leaves_it_untouched() -> None:
    broken = renamed("broken", "tf.a", "tf.(")
    result = apply_to(HEAD + b"tf.b()\ntf.a()\n", B_TO_C, broken)
    assert result.after == {}
    assert result.told == []
    (failure,) = result.failures
    assert failure.rule == "broken"
    assert failure.trace.startswith("line 3: ")


def test_edits_of_one_rule_that_overlap_leave_the_file_untouched() -> None:
    @on_call("tf.a")
    def overlaps(call: Call, file: File) -> Iterator[Finding]:
        whole, part = file.source.span(call.node), file.source.span(call.node.func)
        yield Finding(call, Outcome.CHANGED, "x", (Edit(*whole, "x"), Edit(*part, "y")))

    result = apply_to(HEAD + b"tf.a()\n", made_rule("overlaps", overlaps))
    assert result.after == {}
    assert [one.rule for one in result.failures] == ["overlaps"]
    assert "overlaps another edit" in result.failures[0].trace


def test_a_removal_comes_before_edits_inside_it_and_their_imports() -> None:
    @on_call("tf.gone")
    def remove(call: Call, file: File) -> Iterator[Finding]:
        edit = remove_statement(file, file.statement(call.node))
        assert edit is not None
        yield Finding(call, Outcome.CHANGED, "removed", (edit,))

    rules = (TO_NPU, made_rule("removes", remove))
    assert bytes_after(apply_to(HEAD + b"tf.gone(tf.old(x))\ny = 1\n", *rules)) == HEAD + b"y = 1\n"


def test_what_is_told_of_the_project_is_told_at_one_place() -> None:
    @on_project
    def first(project: ProjectFiles) -> Iterator[Finding]:
        calls = [call for file in project.files for call in file.calls if call.name != "tf.a"]
        if calls:
            yield Finding(calls[0], Outcome.BY_HAND, "the first of all")

    result = apply_to(HEAD + b"tf.a(x)\ntf.d(x)\n", A_TO_B, made_rule("tells_once", first))
    assert [one.rule.name for one in result.told].count("tells_once") == 1
