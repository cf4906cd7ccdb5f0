"""Calls are found by their full names, and edited without touching anything else."""

from __future__ import annotations

import ast
import textwrap
from pathlib import PurePosixPath

import pytest

from tests.migrate.names_project import called_names, calls_of, source_of
from trainferry.migrate.edit import apply_edits
from trainferry.migrate.find import Call, find_calls
from trainferry.migrate.names import resolve_project
from trainferry.migrate.read import Source, read_source

IMPORT = "import tensorflow as tf\n"


def the_call(text: str | bytes, name: str = "tf.f") -> Call:
    (call,) = (call for call in calls_of(text) if call.name == name)
    return call


def with_keyword(text: str, keyword: str = "k=1") -> str:
    """The text after `import`, with a keyword added to the call of `tf.f`."""
    call = the_call(IMPORT + text)
    edit = call.add_keyword(keyword)
    result = apply_edits(call.source.data, [edit], call.source.encoding)
    again = the_call(result)
    assert again.keyword("k") is not None
    assert ast.dump(ast.parse(result)) != ast.dump(call.source.tree)
    return result.decode().removeprefix(IMPORT)


def with_function(text: str, function: str = "g.h") -> str:
    call = the_call(IMPORT + text)
    edit = call.replace_function(function)
    result = apply_edits(call.source.data, [edit], call.source.encoding)
    ast.parse(result)
    return result.decode().removeprefix(IMPORT)


class TestFinding:
    def test_calls_are_found_by_full_name_in_the_order_of_the_text(self) -> None:
        text = """
        import tensorflow as tf
        from tensorflow import Session as S
        slim = tf.contrib.slim
        net = slim.conv2d(tf.nn.relu(x), scope=name(1))
        with S() as sess, getattr(tf, "device")("/cpu:0"):
            sess.run(net)
        """
        assert called_names(text) == [
            "tf.contrib.slim.conv2d",
            "tf.nn.relu",
            "tf.Session",
            "tf.device",
        ]

    def test_calls_that_only_end_like_ours_have_other_names(self) -> None:
        text = """
        import requests, regex
        from sklearn.linear_model import LogisticRegression
        requests.Session()
        regex.compile("x")
        LogisticRegression().fit(X, y)
        cluster.shard(key)
        class Net:
            def gelu(self, x): ...
            def build(self): return self.gelu(1)
        """
        assert called_names(text) == [
            "requests.Session",
            "regex.compile",
            "sklearn.linear_model.LogisticRegression",
        ]

    def test_a_call_of_what_a_call_returned_is_unknown(self) -> None:
        assert called_names(f"{IMPORT}tf.f(1)(2).g(3)\n") == ["tf.f"]

    def test_calls_stand_in_their_lines(self) -> None:
        assert [call.line for call in calls_of(f"{IMPORT}\ntf.a(\n  tf.b())\n")] == [3, 4]

    def test_calls_in_python_2_and_notebooks_are_found(self) -> None:
        assert called_names(f"{IMPORT}print tf.f(1), `tf.g(2)`\n") == ["tf.f", "tf.g"]
        cell = (
            '{"cells": [{"cell_type": "code", "source": ["import tensorflow as tf\\n", "tf.f()"]}]}'
        )
        source = read_source(PurePosixPath("a.ipynb"), cell.encode(), "a")
        assert isinstance(source, Source)
        (call,) = find_calls(source, resolve_project([source]))
        assert b'"tf.f(k=1)"' in source.edited([call.add_keyword("k=1")])


class TestArguments:
    def test_an_argument_is_found_by_place_or_by_name(self) -> None:
        by_place, by_name = (
            the_call(f"{IMPORT}tf.f(x, 0.5)"),
            the_call(f"{IMPORT}tf.f(x, rate=0.5)"),
        )
        for call in (by_place, by_name):
            value = call.argument(1, "rate")
            assert value is not None
            assert call.source.text_of(value) == "0.5"
            assert call.argument(2, "seed") is None
        assert by_place.keyword("rate") is None
        assert by_name.keyword("rate") is not None

    def test_stars_hide_arguments(self) -> None:
        call = the_call(f"{IMPORT}tf.f(x, *more, rate=1)")
        assert call.has_star_arguments
        assert call.argument(0, "x") is not None
        assert call.argument(1, "y") is None
        assert call.argument(2, "rate") is call.node.keywords[0].value
        assert the_call(f"{IMPORT}tf.f(**options)").has_star_arguments
        assert not the_call(f"{IMPORT}tf.f(x, rate=1)").has_star_arguments

    def test_arguments_and_keywords_are_replaced_in_place(self) -> None:
        call = the_call(f"{IMPORT}tf.f((x) ,rate = (1 - p)  # as before\n   )")
        (keyword,) = call.node.keywords
        value = f"keep_prob=1 - ({call.source.text_of(keyword.value)})"
        edits = [
            call.replace_keyword(keyword, value),
            call.replace_argument(call.node.args[0], "y"),
        ]
        result = apply_edits(call.source.data, edits, "utf-8").decode()
        assert result == f"{IMPORT}tf.f((y) ,keep_prob=1 - (1 - p)  # as before\n   )"


class TestReplacingTheFunction:
    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("tf.f(x)  # why\n", "g.h(x)  # why\n"),
            ("( tf . f )(x)\n", "( g.h )(x)\n"),
            ("(tf).f (x)\n", "g.h (x)\n"),
            ("getattr(tf, 'f')(x)\n", "g.h(x)\n"),
            ("tf. \\\n  f(x)\n", "g.h(x)\n"),
            ("y = (tf  # why\n  .f)(x)\n", "y = (g.h  # why\n  )(x)\n"),
            ("@tf.f(1)\ndef x(): ...\n", "@g.h(1)\ndef x(): ...\n"),
        ],
    )
    def test_only_the_function_changes(self, before: str, after: str) -> None:
        assert with_function(before) == after

    def test_a_nested_call_can_be_edited_with_its_outer_one(self) -> None:
        outer, inner = calls_of(f"{IMPORT}tf.f(tf.g(x))\n")
        edits = [outer.replace_function("a"), inner.replace_function("b")]
        edits += [outer.add_keyword("k=1"), inner.add_keyword("k=2")]
        result = apply_edits(outer.source.data, edits, "utf-8").decode()
        assert result == f"{IMPORT}a(b(x, k=2), k=1)\n"


class TestAddingAKeyword:
    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("tf.f()", "tf.f(k=1)"),
            ("tf.f( )", "tf.f(k=1 )"),
            ("tf.f(  # nothing\n)", "tf.f(k=1  # nothing\n)"),
            ("tf.f(x)", "tf.f(x, k=1)"),
            ("tf.f( x )", "tf.f( x, k=1 )"),
            ("tf.f(x,)", "tf.f(x, k=1,)"),
            ("tf.f(x , )", "tf.f(x, k=1 , )"),
            ("tf.f((x))", "tf.f((x), k=1)"),
            ("tf.f(((x) ))", "tf.f(((x) ), k=1)"),
            ("tf.f((x, y))", "tf.f((x, y), k=1)"),
            ("tf.f(a=(x))", "tf.f(a=(x), k=1)"),
            ("tf.f(g(x)(y)[0])", "tf.f(g(x)(y)[0], k=1)"),
            ("tf.f(')', '#')", "tf.f(')', '#', k=1)"),
            ("tf.f(*a)", "tf.f(*a, k=1)"),
            ("tf.f(*(a))", "tf.f(*(a), k=1)"),
            ("tf.f(**o)", "tf.f(k=1, **o)"),
            ("tf.f(x, ** o,)", "tf.f(x, k=1, ** o,)"),
            ("tf.f(**o, a=1)", "tf.f(**o, a=1, k=1)"),
            ("tf.f(a=1, *b)", "tf.f(a=1, *b, k=1)"),
            ("tf.f(x for x in y)", "tf.f((x for x in y), k=1)"),
            ("tf.f((x for x in y))", "tf.f((x for x in y), k=1)"),
            ("tf.f(x  # the (input,\n)", "tf.f(x, k=1  # the (input,\n)"),
            ("tf.f(x,  # the input\n     y)  # and", "tf.f(x,  # the input\n     y, k=1)  # and"),
            ("tf.f(\n    x,\n    y,  # why\n)", "tf.f(\n    x,\n    y,  # why\n    k=1,\n)"),
            ("tf.f(\n\tx,\n\ty,\n\t)", "tf.f(\n\tx,\n\ty,\n\tk=1,\n\t)"),
            ("tf.f(x,\n     )", "tf.f(x, k=1,\n     )"),
            ("tf.f(\n    x\n    # why\n    ,\n)", "tf.f(\n    x\n    # why\n    ,\n    k=1,\n)"),
            ("tf.f(\\\n  x\\\n  )", "tf.f(\\\n  x, k=1\\\n  )"),
            ("(tf.f) (x)", "(tf.f) (x, k=1)"),
            ("(tf  # (\n .f  # (\n )(  # (\n)", "(tf  # (\n .f  # (\n )(k=1  # (\n)"),
            ("tf.f(lambda: (yield))", "tf.f(lambda: (yield), k=1)"),
            ("tf.f(x := 1)", "tf.f(x := 1, k=1)"),
            ("tf.f(f'{x}')", "tf.f(f'{x}', k=1)"),
            ("x = f'{tf.f(x)}'", "x = f'{tf.f(x, k=1)}'"),
        ],
    )
    def test_it_follows_the_arguments(self, before: str, after: str) -> None:
        assert with_keyword(before + "\n") == after + "\n"

    def test_two_keywords_for_one_call_can_be_two_edits_after_arguments(self) -> None:
        for arguments in ("x", "x,", "\n    x,\n", "**o"):
            call = the_call(f"{IMPORT}tf.f({arguments})\n")
            edits = [call.add_keyword("k=1"), call.add_keyword("j=2")]
            (again,) = calls_of(apply_edits(call.source.data, edits, "utf-8"))
            assert again.keyword("k") is not None
            assert again.keyword("j") is not None

    def test_line_ends_of_the_file_are_kept(self) -> None:
        text = f"{IMPORT}tf.f(\n  x,\n)\n".replace("\n", "\r\n").encode()
        call = the_call(text)
        result = apply_edits(text, [call.add_keyword("k=1")], "utf-8")
        assert result.endswith(b"tf.f(\r\n  x,\r\n  k=1,\r\n)\r\n")

    @pytest.mark.parametrize(
        ("head", "encoding"),
        [("# coding: gbk\n", "gbk"), ("# coding: latin-1\n", "latin-1"), ("", "utf-8-sig")],
    )
    def test_bytes_around_are_kept_in_any_encoding(self, head: str, encoding: str) -> None:
        letters = "é" if encoding == "latin-1" else "训练"
        text = f"{head}{IMPORT}x = '{letters}'; tf.f('{letters}'  # {letters}\n)\n".encode(encoding)
        call = the_call(text)
        result = apply_edits(text, [call.add_keyword(f"k='{letters}'")], call.source.encoding)
        expected = f"tf.f('{letters}', k='{letters}'  # {letters}\n)\n".encode(encoding)
        assert result.endswith(expected.removeprefix(b"\xef\xbb\xbf"))
        assert the_call(result).keyword("k") is not None

    def test_python_2_gets_what_it_accepts(self) -> None:
        text = f"{IMPORT}print 'a'\ntf.f(x, *a, **o)\n"
        call = the_call(text)
        result = apply_edits(call.source.data, [call.add_keyword("k=1")], "utf-8")
        assert result.endswith(b"tf.f(x, *a, k=1, **o)\n")


def test_all_calls_of_a_long_program_keep_their_arguments() -> None:
    program = textwrap.dedent(
        """
        import tensorflow as tf
        def net(x):
            with tf.name_scope('a'), tf.device(tf.b(
                    x, y,
                    z)):
                return tf.c(tf.d(), [tf.e(i) for i in tf.g(
                    1,
                    2,
                )], k=tf.h(*x, **y))
        """
    )
    source = source_of(program)
    calls = list(find_calls(source, resolve_project([source])))
    edits = [call.add_keyword("new=1") for call in calls]
    again = calls_of(apply_edits(source.data, edits, "utf-8"))
    assert [call.name for call in again] == [call.name for call in calls]
    assert all(call.keyword("new") for call in again)
    for old, new in zip(calls, again, strict=True):
        assert len(old.node.args) == len(new.node.args)
        assert len(old.node.keywords) + 1 == len(new.node.keywords)
