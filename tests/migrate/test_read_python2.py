"""Python 2 sources: read, with everything in its place."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.migrate.reading import check_places, problem_of, source_of, texts_of
from trainferry.migrate.edit import Edit

OLD = [
    "print tf.a, tf.b",
    "print",
    "print tf.a,",
    "print >>tf.a, tf.b % tf.c,",
    "print ('%d' % tf.a), tf.b  # note",
    "print 'a'; print tf.b(`tf.c`)",
    "if tf.a: print tf.b; x = tf.c",
    "print tf.a(tf.b,\n    tf.c), \\\n  tf.d",
    "print [tf.a][0], -tf.b",
    "exec tf.a in tf.b, tf.c",
    "exec 'x' + tf.a",
    "try: tf.a\nexcept tf.b, e: tf.c(e)",
    "try: tf.a\nexcept (tf.b, tf.c), e:\n    print e",
    "try: tf.a\nexcept tf.b, (n, m): print n",
    "raise tf.a, 'x' % tf.b",
    "raise tf.a, tf.b(1), tf.c",
    "x = `tf.a` + `tf.b, tf.c`.strip()",
    "x = `tf.a(`tf.b`)`",
    "if tf.a <> tf.b: x = tf.c",
    "tf.a(0777, 0777L, 10L, 0xFFl, 00, 0.5, 1e5, 7L.real, 08.5, tf.b)",
    "tf.a(ur'\\d', b'\\xff', b'x' 'y', br'\\d', 'C:\\new\\users', u'x', tf.b)",
    "def f(a, (b, (c, d)), e=tf.a, (g, h)=tf.b): return tf.c(b, d)",
    "f = lambda (k, v,): tf.a(k, v)",
    "f = lambda(k): tf.a(k)",
    "x = [tf.a for tf.b in tf.c, tf.d if tf.e]",
    "if tf.a:\n        x = tf.b\n\ty = tf.c\n",
    "x = tf.True + tf.a, 1 <> 2",
    "class A:\n\tdef f(self):\n\t\tprint self.a\n        def g(self): return tf.b",
]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("text", OLD)
def test_everything_old_is_read_in_its_place(text: str, line_end: str) -> None:
    program = f"# -*- coding: latin-1 -*- é\nprint 'é', tf.z\n{text}\nprint tf.y\n"
    data = program.replace("\n", line_end).encode("latin-1")
    source = source_of(data)
    assert source.python == 2
    check_places(source)
    found = [text for text in texts_of(source, ast.Attribute) if text.startswith("tf.")]
    assert found == [f"tf.{letter}" for letter in attributes_in(program)]
    assert source.edited([]) == data


def attributes_in(program: str) -> list[str]:
    return ["True" if part.startswith("True") else part[0] for part in program.split("tf.")[1:]]


def test_values_and_handlers_are_those_of_python_2() -> None:
    source = source_of(b"x = 0777, 10L\ntry: y\nexcept E, e: print e\n")
    values = [node.value for node in ast.walk(source.tree) if isinstance(node, ast.Constant)]
    assert values == [511, 10]
    assert texts_of(source, ast.Constant) == ["0777", "10L"]
    assert [n.name for n in ast.walk(source.tree) if isinstance(n, ast.ExceptHandler)] == ["e"]
    assert texts_of(source, ast.Call) == ["print e"]


def test_a_repr_is_not_what_it_shows() -> None:
    source = source_of(b"x = `tf`\n")
    assignment = source.tree.body[0]
    assert isinstance(assignment, ast.Assign)
    assert not isinstance(assignment.value, ast.Name)
    assert source.text_of(assignment.value) == "`tf`"


def test_the_print_function_stays_a_function() -> None:
    text = b"from __future__ import (division,\n  print_function)\nprint('a', file=f)\nx = 1 <> 2\n"
    assert texts_of(source_of(text), ast.Call) == ["print('a', file=f)"]


def test_a_docstring_about_the_print_function_changes_nothing() -> None:
    source = source_of(b"'''\nfrom __future__ import print_function\n'''\nprint tf.a\n")
    assert texts_of(source, ast.Attribute) == ["tf.a"]


def test_print_with_brackets_beside_print_without() -> None:
    source = source_of(b"print('a', end='')\nprint 'b'\n")
    assert texts_of(source, ast.Call) == ["print('a', end='')", "print 'b'"]


def test_async_was_a_name_before_python_3_7() -> None:
    source = source_of(
        b"import a.async\nx.cuda(async=True)\nasync = x.async(await=1)\n"
        b"async def f():\n\tasync with x: await y\n"
    )
    assert source.python == 3
    check_places(source)
    names = [node for node in ast.walk(source.tree) if isinstance(node, ast.keyword | ast.Name)]
    assert "async" in {n.arg if isinstance(n, ast.keyword) else n.id for n in names}
    assert texts_of(source, ast.alias) == ["a.async"]
    imported = source.tree.body[0]
    assert isinstance(imported, ast.Import)
    assert imported.names[0].name == "a.async"


def test_edits_land_in_the_old_text() -> None:
    data = b"print 'loss', tf.a(x, 0777L),\n"
    source = source_of(data)
    call = next(
        n
        for n in ast.walk(source.tree)
        if isinstance(n, ast.Call) and n.keywords == [] and isinstance(n.func, ast.Attribute)
    )
    edited = source.edited(
        [Edit(*source.span(call.func), "npu.a"), Edit(*source.span(call.args[1]), "1")]
    )
    assert edited == b"print 'loss', npu.a(x, 1),\n"


def test_an_error_in_python_2_is_told_where_it_is() -> None:
    problem = problem_of(b"print 'a'\nprint 'b'\nif x\n")
    assert problem.line == 3
    assert "expected ':'" in problem.reason


@given(st.lists(st.sampled_from(OLD), min_size=1, max_size=6))
def test_old_parts_stand_together(parts: list[str]) -> None:
    program = "".join(f"{part}\n" for part in parts) + "print tf.y\n"
    source = source_of(program.encode())
    check_places(source)
    found = [text for text in texts_of(source, ast.Attribute) if text.startswith("tf.")]
    assert found == [f"tf.{letter}" for letter in attributes_in(program)]
