"""One file: encodings, line ends, f-strings, and what cannot be read."""

from __future__ import annotations

import ast
import codecs
import sys
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.migrate.reading import check_places, problem_of, source_of, texts_of
from trainferry.migrate.edit import Edit
from trainferry.migrate.read import read_project


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("encoding", "word"),
    [
        ("utf-8", "中文é"),
        ("gbk", "中文"),
        ("latin-1", "éß"),
        ("shift_jis", "ソ表"),
        ("big5", "中文"),
    ],
)
def test_spans_count_the_bytes_of_the_file(encoding: str, word: str, line_end: str) -> None:
    lines = [
        f"# -*- coding: {encoding} -*- {word}",
        "import tensorflow as tf",
        f"{word} = '{word}'; net = tf.nn.dropout({word}, '{word}',  rate=0.2)  # {word}",
        "\fif net:",
        f"\treturned = \\\n\t\ttf.add('{word}\x0b\x0c', net)",
        "",
    ]
    data = line_end.join(lines).replace("\n", line_end).encode(encoding)
    source = source_of(data)
    assert check_places(source) > 10
    assert texts_of(source, ast.Call) == [
        f"tf.nn.dropout({word}, '{word}',  rate=0.2)",
        f"tf.add('{word}\x0b\x0c', net)",
    ]
    call = next(node for node in ast.walk(source.tree) if isinstance(node, ast.Call))
    edited = source.edited([Edit(*source.span(call.func), "npu_ops.dropout")])
    assert edited == data.replace(b"tf.nn.dropout", b"npu_ops.dropout")


def test_mixed_line_ends_count_as_lines() -> None:
    source = source_of(b"a = 1\rb = 2\r\nc = 3\n\rd = tf.e\n")
    assert texts_of(source, ast.Name) == ["a", "b", "c", "d", "tf"]
    assert [source.line_of(node) for node in source.tree.body] == [1, 2, 3, 5]


def test_the_byte_order_mark_is_counted_and_kept() -> None:
    data = codecs.BOM_UTF8 + b"tf.a(1)\ntf.b(2)\n"
    source = source_of(data)
    assert source.span(source.tree.body[0]) == (3, 10)
    assert texts_of(source, ast.Call) == ["tf.a(1)", "tf.b(2)"]
    assert source.edited([Edit(3, 5, "x")]) == codecs.BOM_UTF8 + b"x.a(1)\ntf.b(2)\n"


def test_decorators_are_not_part_of_a_function() -> None:
    source = source_of(b"@tf.function\ndef f(a, *b: int, c=1):\n    pass\n")
    assert source.text_of(source.tree.body[0]).startswith("def f")
    assert texts_of(source, ast.arg) == ["a", "b: int", "c"]


def test_an_empty_file_is_a_source() -> None:
    source = source_of(b"")
    assert source.tree.body == []
    assert source.span(source.tree) == (0, 0)
    assert source.line_of(source.tree) == 1


FSTRINGS = {
    "f'{tf.a} {tf.b!r:>{tf.c}} {{x}} {tf.d=}'": ["tf.a", "tf.b", "tf.c", "tf.d"],
    "'x' f'é{tf.a}' rf'\\d{tf.b}' 'y' \\\n  f'{tf.c(x)}'": ["tf.a", "tf.b", "tf.c"],
    "f'''\n  {tf.a}\n  é {\n tf.b['x']:{tf.c}.{tf.d}f}\n'''": ["tf.a", "tf.b", "tf.c", "tf.d"],
    "f\"{f'{tf.a}' + tf.b} {(lambda x: tf.c)(1)} {tf.d != 1}\"": ["tf.a", "tf.b", "tf.c", "tf.d"],
    "f'\\N{BULLET}{tf.a}\\x41{tf.b}'": ["tf.a", "tf.b"],
    "f'{tf.a, tf.b}{ {1: tf.c}[1] }{\"}\"}{tf.d}'": ["tf.a", "tf.b", "tf.c", "tf.d"],
    "(f'{tf.a}'  # f'{tf.x}'\n '{tf.y}' F'{tf.b}')": ["tf.a", "tf.b"],
    "'%f' % tf.a, f'tf.a {tf.a} {tf.a}'": ["tf.a", "tf.a", "tf.a"],
}


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("text", FSTRINGS)
def test_places_inside_fstrings_are_right(text: str, line_end: str) -> None:
    source = source_of(f"# é\nif 1:\n    y = ({text})\n".replace("\n", line_end).encode())
    check_places(source)
    assert texts_of(source, ast.Attribute) == FSTRINGS[text]
    spans = [source.span(node) for node in ast.walk(source.tree) if isinstance(node, ast.Attribute)]
    assert len(set(spans)) == len(spans)


@pytest.mark.parametrize(
    ("data", "line", "reason"),
    [
        (b"x = 1\ny = = 2\n", 2, "invalid syntax"),
        (b"x = 1\n# \xe9\n", 2, "byte 0xe9 is not UTF-8"),
        (b"# coding: ascii\nx = '\xe9'\n", 2, "does not fit the declared encoding ascii"),
        (b"#!/usr/bin/python\n# coding: klingon\n", 2, "unknown encoding klingon"),
        (b"# coding: hex\n", 1, "unknown encoding hex"),
        (b"# coding: utf-16\n", 1, "save the file as UTF-8"),
        (b"# coding: iso-2022-jp\n", 1, "save the file as UTF-8"),
        (b"# coding: unicode_escape\n", 1, "save the file as UTF-8"),
        (b"# coding: cp500\n", 1, "save the file as UTF-8"),
        (codecs.BOM_UTF8 + b"# coding: gbk\n", 1, "declares the encoding gbk"),
        (b"x = 1\ny = \0\n", 2, "null bytes"),
        (b"if x:\n    y\n  z\n", 3, "unindent"),
        (b"x = " + b"(" * 500 + b")" * 500, 1, "too many nested parentheses"),
        (b"x = " + b"-" * 100_000 + b"1", 1, "too much for the parser"),
        (b"print 'a'\nx = = 1\n", 2, "invalid syntax"),
    ],
)
def test_a_file_that_cannot_be_read_is_told_with_line_and_reason(
    data: bytes, line: int, reason: str
) -> None:
    problem = problem_of(data)
    assert problem.line == line
    assert reason in problem.reason


def test_a_declaration_on_the_third_line_or_after_code_is_none() -> None:
    assert source_of(b"\n\n# coding: klingon\n").encoding == "utf-8"
    assert source_of(b"x = 1\n# coding: klingon\n").encoding == "utf-8"
    assert source_of(b"x = 1  # coding: klingon\n").encoding == "utf-8"


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python reads it")
def test_a_file_newer_than_the_interpreter_is_told() -> None:
    assert "Python 3.11" in problem_of(b"type X = int\n").reason


ENCODINGS = ["utf-8", "utf-8-sig", "gbk", "latin-1", "koi8-r", "shift_jis", "euc-kr", "cp1252"]
STATEMENTS = [
    "{0} = tf.nn.relu({1}, name='{2}')  # {2}",
    "if {0}:\n\t{1} = [tf.{0} for {0} in ({1},\n{0})]",
    "def {0}(a, *{1}, b='{2}', **c):\n    '''{2}\n{2}'''\n    return a  .  b  # {2}",
    "@tf.{0}\nclass {1}(tf.{0}): {0} = '{2}' + \\\n  {1}",
    "\f\nwith tf.{0}('{2}') as {1}: pass",
    "f({0})('{2}')(x={1}, *{0}); {1} = {0}['{2}', {1}:]",
    "try: {0}\nexcept ({0}, tf.{1}) as e: raise tf.{0}('{2}') from e",
    "async def {0}(): return await tf.{1}('{2}')",
]


@st.composite
def programs(draw: st.DrawFn) -> tuple[str, str, str]:
    """An encoding, its program with plain line ends, and the line end to use."""
    encoding = draw(st.sampled_from(ENCODINGS))
    codec = encoding.removesuffix("-sig")
    letters = "".join(
        letter
        for letter in "xéßЖ中文表ソ한"
        if letter.encode(codec, "ignore") and letter.encode(codec).decode(codec) == letter
    )
    names = st.text(st.sampled_from(letters), min_size=1, max_size=3)
    words = st.text(st.sampled_from(letters + " #\t\x0b\x0c{}%"), max_size=8)
    lines = [] if codec == "utf-8" else [f"# vim: set fileencoding={codec} :"]
    chosen = draw(st.lists(st.sampled_from(STATEMENTS), max_size=5))
    lines += [one.format(draw(names), draw(names), draw(words)) for one in chosen]
    return encoding, "\n".join([*lines, ""]), draw(st.sampled_from(["\n", "\r\n", "\r"]))


@given(programs())
def test_every_node_is_the_text_that_python_says(program: tuple[str, str, str]) -> None:
    encoding, text, line_end = program
    data = text.replace("\n", line_end).encode(encoding)
    source = source_of(data)
    expected = ast.parse(text)
    assert source.edited([]) == data
    pairs = zip(ast.walk(source.tree), ast.walk(expected), strict=True)
    for node, same in pairs:
        if hasattr(node, "lineno"):
            start, end = source.span(node)
            found = data[start:end].decode(source.encoding).replace(line_end, "\n")
            assert found == ast.get_source_segment(text, same)
            assert source.line_of(node) == node.lineno


@given(programs())
def test_edits_of_names_reach_only_names(program: tuple[str, str, str]) -> None:
    encoding, text, line_end = program
    source = source_of(text.replace("\n", line_end).encode(encoding))
    names = [node for node in ast.walk(source.tree) if isinstance(node, ast.Name)]
    edits = [Edit(*source.span(node), "new") for node in names if node.id == "tf"]
    edited = source.edited(edits)
    assert len(edited) == len(source.data) + len(edits)
    again = source_of(edited)
    assert [node.id for node in ast.walk(again.tree) if isinstance(node, ast.Name)] == [
        "new" if node.id == "tf" else node.id for node in names
    ]


@pytest.mark.slow
def test_the_standard_library_stands_where_it_says() -> None:
    folder = Path(sysconfig.get_path("stdlib"))
    for part in ("asyncio", "email", "unittest", "json", "concurrent"):
        project = read_project(folder / part)
        assert not project.unreadable
        assert sum(check_places(source) for source in project.sources) > 100
