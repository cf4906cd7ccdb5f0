"""The charset of FSNS: several characters for one code, one code for the end."""

from __future__ import annotations

import pickle
from pathlib import Path
from unicodedata import normalize

import pytest

from trainferry.errors import DataError
from trainferry.train.data.signs.charset import (
    NULL_CHARACTER,
    Charset,
    find_charset,
    fsns_charset,
    read_charset,
    write_charset,
)

SMALL = "0\t \n4\t<nul>\n1\ta\n2\t\u2019\n3\té\n2\t'\n2\t\u2018\n"


def write(folder: Path, text: str) -> Path:
    path = folder / "charset_size=5.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_fsns_has_134_codes_of_which_the_last_is_the_null() -> None:
    charset = fsns_charset()
    assert charset.classes == 134
    assert charset.null == 133
    assert charset.encode("Rue Perreyon") == [49, 11, 5, 0, 47, 5, 21, 21, 5, 33, 12, 7]


def test_the_file_of_fsns_is_the_charset_we_bring_along(shared: Path) -> None:
    theirs = read_charset(shared / "data" / "fsns_testdata")
    ours = fsns_charset()
    assert sorted(theirs.pairs) == sorted(ours.pairs)
    for code in range(134):
        assert theirs.draw([code]) == ours.draw([code])


def test_all_characters_of_a_code_are_written_and_the_last_is_read(tmp_path: Path) -> None:
    charset = read_charset(write(tmp_path, SMALL))
    assert charset.classes == 5
    assert charset.encode("a'\u2019\u2018") == [1, 2, 2, 2]
    assert charset.decode([1, 2]) == "a\u2018"
    assert charset.canonical("a'a") == "a\u2018a"


def test_a_text_ends_at_the_first_null(tmp_path: Path) -> None:
    charset = read_charset(write(tmp_path, SMALL))
    assert charset.decode([1, 4, 3, 4]) == "a"
    assert charset.draw([1, 4, 3]) == f"a{NULL_CHARACTER}é"
    assert charset.padded("a a", 5) == [1, 0, 1, 4, 4]


def test_letters_and_accents_in_two_parts_are_one_character(tmp_path: Path) -> None:
    charset = read_charset(write(tmp_path, SMALL))
    assert charset.encode(normalize("NFD", "é")) == [3]


def test_unknown_characters_are_named() -> None:
    with pytest.raises(DataError, match="not in the charset: 'ßž'") as caught:
        fsns_charset().encode("Straße ž")
    assert caught.value.hint


def test_a_text_that_is_too_long_is_refused() -> None:
    with pytest.raises(DataError, match="6 characters, more than 5"):
        fsns_charset().padded("Avenue", 5)


def test_a_code_of_another_charset_is_refused() -> None:
    with pytest.raises(DataError, match="code 134 of a charset with 134 codes"):
        fsns_charset().decode([134])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("0\t \n1\ta\n", "0 codes for <nul>"),
        ("0\t \n1\t<nul>\n2\t<nul>\n", "2 codes for <nul>"),
        ("0\t \n1\ta\n3\t<nul>\n", "no character has code 2"),
        ("0\ta\n1\ta\n2\t<nul>\n", "'a' has the codes 0 and 1"),
        ("0\ta\n0\ta\n1\t<nul>\n", "'a' is listed twice"),
        ("0\ta\n1\t<nul>\n1\tb\n", "both <nul> and 'b'"),
        ("0 a\n1\t<nul>\n", "line 1 is not"),
        ("0\tab\n1\t<nul>\n", "line 1 has 'ab'"),
        ("", "0 codes for <nul>"),
    ],
)
def test_a_bad_file_is_told_with_its_reason(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(DataError, match=why) as caught:
        read_charset(write(tmp_path, text))
    assert "charset_size=5.txt" in str(caught.value)
    assert caught.value.hint


def test_files_with_windows_line_ends_and_a_mark_are_read(tmp_path: Path) -> None:
    path = tmp_path / "charset.txt"
    path.write_bytes(b"\xef\xbb\xbf" + SMALL.replace("\n", "\r\n").encode())
    assert read_charset(path) == read_charset(write(tmp_path, SMALL))


def test_what_is_no_text_or_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no charset\*\.txt"):
        read_charset(tmp_path)
    with pytest.raises(DataError, match="cannot read"):
        read_charset(tmp_path / "none.txt")
    path = tmp_path / "charset.txt"
    path.write_bytes(b"0\t\xff\n")
    with pytest.raises(DataError, match="not UTF-8"):
        read_charset(path)


def test_a_written_charset_is_read_back(tmp_path: Path) -> None:
    path = write_charset(fsns_charset(), tmp_path)
    assert path.name == "charset_size=134.txt"
    assert find_charset(tmp_path) == path
    assert read_charset(tmp_path) == fsns_charset()
    (tmp_path / "charset_other.txt").write_text("", encoding="utf-8")
    with pytest.raises(DataError, match="2 charset files"):
        read_charset(tmp_path)


def test_a_charset_goes_to_other_processes() -> None:
    charset = fsns_charset()
    charset.encode("Rue")
    assert pickle.loads(pickle.dumps(charset)) == charset
    assert isinstance(hash(charset), int)


def test_a_charset_made_by_hand_is_checked_too() -> None:
    with pytest.raises(DataError, match="the charset is no charset"):
        Charset(((0, "a"), (2, "<nul>")))
