"""Notebooks: code cells read, magics left alone, edits inside the JSON."""

from __future__ import annotations

import ast
import codecs
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.migrate.reading import check_places, problem_of, source_of, texts_of
from trainferry.migrate.edit import Edit
from trainferry.migrate.read import Source


def lines_of(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def notebook(*cells: str | list[str], indent: int | None = 1, ascii_only: bool = False) -> bytes:
    content = {
        "cells": [{"cell_type": "markdown", "source": ["# tf.no(1)\n"]}]
        + [{"cell_type": "code", "outputs": [{"text": "tf.no"}], "source": cell} for cell in cells],
        "metadata": {"kernelspec": {"language": "python"}},
        "nbformat": 4,
    }
    return json.dumps(content, indent=indent, ensure_ascii=ascii_only).encode()


def cells_of(data: bytes) -> list[str]:
    cells = json.loads(data)["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def read(data: bytes) -> Source:
    return source_of(data, "net.ipynb")


def rename(source: Source, old: str, new: str) -> bytes:
    names = [node for node in ast.walk(source.tree) if isinstance(node, ast.Name)]
    return source.edited([Edit(*source.span(node), new) for node in names if node.id == old])


def test_code_cells_are_one_program() -> None:
    source = read(notebook(lines_of("import tf\nx = 'é'"), 'y = tf.a("x",\n  x)\n', []))
    assert source.data.decode() == "import tf\nx = 'é'\ny = tf.a(\"x\",\n  x)\n\n"
    assert texts_of(source, ast.Call) == ['tf.a("x",\n  x)']
    call = next(node for node in ast.walk(source.tree) if isinstance(node, ast.Call))
    assert source.cell_of(call) == 3
    assert source_of(b"f()").cell_of(source.tree) is None


def test_lines_are_those_of_the_file() -> None:
    data = notebook(lines_of("a = 1\nb = 2\n"))
    source = read(data)
    second = source.tree.body[1]
    assert b"b = 2" in data.splitlines()[source.line_of(second) - 1]


@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("as_list", [True, False])
def test_edits_are_escaped_and_the_rest_stays(
    as_list: bool, indent: int | None, ascii_only: bool
) -> None:
    texts = ['s = "é\\n😀"; tf.a("\\"", s)\ntf.b(1)', "x = tf\n"]
    cells = [lines_of(text) if as_list else text for text in texts]
    data = notebook(*cells, indent=indent, ascii_only=ascii_only)
    source = read(data)
    check_places(source)
    edited = rename(source, "tf", 'n["é"]')
    assert cells_of(edited) == [text.replace("tf", 'n["é"]') for text in texts]
    expected = json.dumps('n["é"]', ensure_ascii=ascii_only)[1:-1].encode()
    assert edited.count(expected) == 3
    assert edited.isascii() == ascii_only
    pieces = edited.split(expected)
    assert data == b"tf".join(pieces)


def test_new_lines_become_strings_of_their_own() -> None:
    data = notebook(lines_of("import tf\nx = 1\n"), ["import tf"])
    source = read(data)
    first, second, third = source.tree.body
    edited = source.edited(
        [
            Edit(source.span(second)[0], source.span(second)[0], "import npu\n"),
            Edit(source.span(third)[1], source.span(third)[1], "\nimport b\n"),
        ]
    )
    sources = [cell["source"] for cell in json.loads(edited)["cells"]]
    assert sources[1] == ["import tf\n", "import npu\n", "x = 1\n"]
    assert sources[2] == ["import tf\n", "import b\n"]
    assert b'    "import npu\\n",\n' in edited
    removed = source.edited([Edit(source.span(first)[0], source.span(second)[0], "")])
    assert cells_of(removed)[0] == "x = 1\n"


def test_an_edit_over_several_lines_joins_their_strings() -> None:
    source = read(notebook(lines_of("x = tf.a(1,\n         2)  # note\ny = 1\n")))
    call = next(node for node in ast.walk(source.tree) if isinstance(node, ast.Call))
    edited = source.edited([Edit(*source.span(call), "npu.a(1, 2)")])
    assert json.loads(edited)["cells"][1]["source"] == ["x = npu.a(1, 2)  # note\n", "y = 1\n"]


def test_an_edit_across_cells_is_our_bug() -> None:
    source = read(notebook("a = 1\n", "b = 2\n"))
    with pytest.raises(AssertionError):
        source.edited([Edit(0, len(source.data) - 1, "")])


MAGICS = [
    "%matplotlib inline",
    "!pip install 'tf",
    "!pip install a \\\n  b (",
    "?tf.a",
    "tf.a?",
    "tf.a??",
    "%time tf.a()",
    "if x:\n    %cd ..\n    !ls {y",
    "files = !ls tf.a",
    "a, b = %sql select 1",
]


@pytest.mark.parametrize("magic", MAGICS)
def test_magics_are_left_alone(magic: str) -> None:
    text = f"x = tf.b\n{magic}\ny = (tf.c\n   % 2) + '''\n%a\n'''\n"
    data = notebook(lines_of(text))
    source = read(data)
    assert texts_of(source, ast.Attribute) == ["tf.b", "tf.c"]
    assert source.edited([]) == data
    assert cells_of(rename(source, "tf", "npu"))[0] == text.replace("tf.b", "npu.b").replace(
        "tf.c", "npu.c"
    )


def test_cells_of_another_language_are_skipped_and_told() -> None:
    source = read(notebook("%%bash\nls (\n", "%%time\nx = tf.a\n"))
    assert texts_of(source, ast.Attribute) == ["tf.a"]
    assert [reason for _, reason in source.skipped] == ["cell 2 is not Python but %%bash"]


def test_a_cell_that_does_not_parse_is_told_and_the_rest_is_read() -> None:
    data = notebook("x = tf.a\n", lines_of("y = 1\nnot this Python\n"), "z = tf.b\n")
    source = read(data)
    assert texts_of(source, ast.Attribute) == ["tf.a", "tf.b"]
    (problem,) = source.unreadable
    assert "cell 3" in problem.reason
    assert b"not this" in data.splitlines()[problem.line - 1]


def test_old_formats_and_old_python_are_read() -> None:
    sheet = {"cells": [{"cell_type": "code", "input": ["print tf.a\n", "x = `1`"]}]}
    data = codecs.BOM_UTF8 + json.dumps({"worksheets": [sheet], "nbformat": 3}).encode()
    source = read(data)
    assert source.python == 2
    assert texts_of(source, ast.Attribute) == ["tf.a"]
    assert rename(source, "tf", "npu") == data.replace(b"tf.a", b"npu.a")


def test_lines_of_a_notebook_may_end_as_on_windows() -> None:
    data = notebook("import a\r\nimport b\r\n").replace(b"\n", b"\r\n")
    source = read(data)
    place = source.span(source.tree.body[1])[0]
    edited = source.edited([Edit(place, place, "import c\n")])
    assert cells_of(edited) == ["import a\r\nimport c\r\nimport b\r\n"]


@pytest.mark.parametrize(
    ("data", "line", "reason"),
    [
        (b"", 1, "no notebook"),
        (b'{\n"cells": [,]}', 2, "no notebook"),
        (b"[]", 1, "not a JSON object"),
        (b"[" * 100_000, 1, "nested too deeply"),
        (b'{"metadata": {"language_info": {"name": "R"}}}', 1, "in R, not in Python"),
        (b'{"cells": [\n{"cell_type": "code", "source": "\\ud800"}]}', 2, "half a character"),
    ],
)
def test_what_is_no_notebook_is_told(data: bytes, line: int, reason: str) -> None:
    problem = problem_of(data, "net.ipynb")
    assert (problem.line, reason in problem.reason) == (line, True)


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"cells": None, "worksheets": 3, "metadata": []},
        {"cells": [1, {}, {"cell_type": "code"}, {"cell_type": "code", "source": [1]}]},
        {"cells": [{"cell_type": "code", "source": {"a": "b"}}], "worksheets": [1, {}]},
    ],
)
def test_odd_notebooks_have_no_code(content: object) -> None:
    data = json.dumps(content).encode()
    source = read(data)
    assert source.tree.body == []
    assert source.edited([]) == data


TEXTS = st.lists(
    st.sampled_from(["x = tf.a\n", "'\\n\"'\n", "# é😀\t\\\n", "%m \\u\n", "tf\n", "\n", "  \n"]),
    max_size=5,
).map("".join)


@given(st.lists(st.tuples(TEXTS, st.booleans()), max_size=4), st.booleans(), st.booleans())
def test_only_the_edited_names_change(
    cells: list[tuple[str, bool]], ascii_only: bool, is_flat: bool
) -> None:
    sources = [lines_of(text) if as_list else text for text, as_list in cells]
    data = notebook(*sources, indent=None if is_flat else 2, ascii_only=ascii_only)
    source = read(data)
    check_places(source)
    assert source.edited([]) == data
    edited = rename(source, "tf", 'new"\n\\')
    texts = [text.replace("tf", 'new"\n\\') for text, _ in cells]
    assert cells_of(edited) == texts
    assert json.loads(data)["metadata"] == json.loads(edited)["metadata"]
