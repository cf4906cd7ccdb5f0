"""Edits of byte ranges."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainferry.migrate.edit import Edit, apply_edits


def test_edits_are_made_together_in_any_order() -> None:
    edits = [Edit(7, 8, "net"), Edit(0, 2, "npu"), Edit(4, 6, "")]
    for order in (edits, edits[::-1]):
        assert apply_edits(b"tf. nn(x)", order, "utf-8") == b"npu. (net)"


def test_equal_edits_are_made_once() -> None:
    edit = Edit(0, 0, "import npu\n")
    assert apply_edits(b"x\n", [edit, Edit(0, 0, "import npu\n")], "utf-8") == b"import npu\nx\n"


def test_texts_put_in_at_one_place_do_not_depend_on_the_order() -> None:
    edits = [Edit(1, 1, "b"), Edit(1, 1, "a"), Edit(1, 2, "c")]
    assert apply_edits(b"(x)", edits, "utf-8") == b"(abc)"
    assert apply_edits(b"(x)", reversed(edits), "utf-8") == b"(abc)"


@pytest.mark.parametrize(
    "edits",
    [
        [Edit(0, 3, "a"), Edit(2, 4, "b")],
        [Edit(0, 3, "a"), Edit(0, 3, "b")],
        [Edit(0, 3, "a"), Edit(1, 1, "b")],
        [Edit(2, 1, "a")],
        [Edit(0, 9, "a")],
        [Edit(-1, 0, "a")],
    ],
)
def test_overlapping_edits_are_our_bug(edits: list[Edit]) -> None:
    with pytest.raises(AssertionError):
        apply_edits(b"abcd", edits, "utf-8")


def test_text_is_written_in_the_encoding_of_the_file() -> None:
    data = "# 中\nx = 1\n".encode("gbk")
    assert apply_edits(data, [Edit(2, 4, "文")], "gbk") == "# 文\nx = 1\n".encode("gbk")


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_new_lines_end_like_their_neighbours(line_end: str) -> None:
    data = f"a{line_end}b{line_end}c".encode()
    for place in (0, len(data)):
        edited = apply_edits(data, [Edit(place, place, "x\ny\r\n")], "utf-8")
        assert f"x{line_end}y\r\n".encode() in edited


def test_a_file_of_one_line_gets_plain_line_ends() -> None:
    assert apply_edits(b"a", [Edit(0, 0, "x\n")], "utf-8") == b"x\na"


@given(st.binary(max_size=60))
def test_no_edits_change_nothing(data: bytes) -> None:
    assert apply_edits(data, [], "utf-8") == data


@given(st.binary(max_size=60), st.lists(st.integers(0, 60), max_size=8), st.text(max_size=5))
def test_bytes_outside_edits_stay(data: bytes, cuts: list[int], text: str) -> None:
    text = text.replace("\n", "").encode("utf-8", "ignore").decode()
    places = sorted({min(cut, len(data)) for cut in cuts})
    pairs = list(zip(places[::2], places[1::2], strict=False))
    edited = apply_edits(data, [Edit(start, end, text) for start, end in pairs], "utf-8")
    outside = [data[a:b] for a, b in zip([0, *ends(pairs)], [*starts(pairs), None], strict=True)]
    assert edited == text.encode().join(outside)


def starts(pairs: list[tuple[int, int]]) -> list[int]:
    return [start for start, _ in pairs]


def ends(pairs: list[tuple[int, int]]) -> list[int]:
    return [end for _, end in pairs]
