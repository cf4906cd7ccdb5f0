"""Every row of the table of codes can be found, understood and traced to where it is from."""

from __future__ import annotations

import re

import pytest

from trainferry.launch.codes.explain import describe_code, explain_code
from trainferry.launch.codes.find import find_codes
from trainferry.launch.codes.table import (
    Code,
    all_codes,
    family_of,
    find_code,
    looks_like_a_code,
    nearest_names,
)


def as_written(code: Code) -> str:
    """A code of the row as it stands in logs."""
    return "EG9999" if code.name == "E?9???" else code.name.replace("?", "0")


each_code = pytest.mark.parametrize("code", all_codes(), ids=lambda code: code.name)


@each_code
def test_a_row_says_what_it_means_what_to_do_and_where_it_is_from(code: Code) -> None:
    assert code.says
    assert code.what_to_do
    assert code.sources or code.seen
    assert all(re.search(r": .*\(20\d\d-\d\d-\d\d\)$", source) for source in code.sources)
    assert all(re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", one.thread) for one in code.seen)


@each_code
def test_a_row_is_found_in_a_log_by_what_gives_it_away(code: Code) -> None:
    if code.texts:
        shown = [f"RuntimeError: {text} of this" for text in code.texts]
    else:
        word = as_written(code)
        assert looks_like_a_code(word)
        assert family_of(word)
        shown = [f"error code is {word}[Error]:" if word.isdecimal() else f"{word}: [PID: 7]"]
    for line in shown:
        found = [one.code for one in find_codes([line], "a.log")]
        assert found == [code]


def test_no_code_is_explained_twice() -> None:
    names = [code.name for code in all_codes()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("word", "row"),
    [
        ("ERR02200", "ERR??200"),
        ("ERR00100", "ERR??100"),
        ("EZ9999", "EZ9999"),
        ("EG9999", "E?9???"),
    ],
)
def test_a_row_of_its_own_comes_before_one_for_many(word: str, row: str) -> None:
    found = find_code(word)
    assert found is not None
    assert found.name == row


def test_a_code_that_nobody_knows_has_no_row_but_perhaps_a_family() -> None:
    assert find_code("EI0999") is None
    assert family_of("EI0999") == "HCCL, communication between devices"
    assert family_of("ERR02998") == "torch_npu's distributed part (DIST)"
    assert family_of("EX0001") == ""
    assert family_of("EIGHT") == ""
    assert "EI0006" in nearest_names("EI006")


def test_a_page_tells_the_vendor_and_threads_apart() -> None:
    code = find_code("500001")
    assert code is not None
    page = explain_code(code, "500001")
    assert page.startswith("500001  ACL: something inside of CANN or the device")
    told_by_users = page.partition("Seen by users:\n")[2]
    assert "numpy<2" in told_by_users.partition("\n\n")[0]
    assert "(vllm-project/vllm-ascend#2210)" in told_by_users
    assert "numpy<2" not in page.partition("Seen by users:")[0]
    assert describe_code(code, "500001")["seen"][0]["thread"] == "vllm-project/vllm-ascend#2210"
