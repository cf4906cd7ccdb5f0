"""The HTML page: one file, everything tied together, nothing of the project can break out."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from tests.migrate.report.page_reader import Element, read_page
from tests.migrate.written import BEFORE, make_project, migrated
from trainferry.migrate.dispatch import Failure
from trainferry.migrate.migration import MigratedFile, Migration
from trainferry.migrate.options import Options
from trainferry.migrate.pipeline import migrate_project
from trainferry.migrate.report.html import html_report
from trainferry.migrate.report.side_by_side import Mark, side_by_side
from trainferry.migrate.rule import Outcome
from trainferry.report.pieces import shown

TRAINING = b"""\
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_string("data_dir", "/data", "where")


def main(_):
    data = tf.data.Dataset.range(10).repeat().batch(4)
    net = tf.nn.dropout(data, **options)
    net = tf.nn.dropout(net, 0.8)
    config = tf.ConfigProto()
    with tf.Session(config=config) as sess:
        sess.run(net)


if __name__ == "__main__":
    tf.app.run()
"""
EVIL = (
    "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>]]>--></style>"
    "\x00\x1b[31m\u202e\ufeff"
)


@pytest.fixture(scope="module")
def migration(tmp_path_factory: pytest.TempPathFactory) -> Migration:
    files = {"train.py": TRAINING, "deep/net.py": BEFORE, "bad.py": b"def (:\n"}
    root = make_project(tmp_path_factory.mktemp("made") / "project", files)
    return migrate_project(root, Options())


@pytest.fixture(scope="module")
def page(migration: Migration) -> Element:
    return read_page(html_report(migration))


def by_id(page: Element) -> dict[str, Element]:
    elements = [one for one in page.everything() if "id" in one.attributes]
    found = {one.attributes["id"]: one for one in elements}
    assert len(found) == len(elements), "ids are unique"
    return found


def test_every_link_leads_into_the_page(page: Element) -> None:
    places = by_id(page)
    links = [one.attributes["href"] for one in page.all("a")]
    assert links
    assert [link for link in links if link[0] != "#" or link[1:] not in places] == []


def test_the_page_loads_nothing_and_allows_no_other_script(page: Element) -> None:
    loading = {"src", "srcset", "action", "data", "poster", "background", "style"}
    for element in page.everything():
        assert not loading & set(element.attributes)
        assert not [name for name in element.attributes if name.startswith("on")]
        assert element.tag not in ("link", "iframe", "object", "base", "img")
    (policy,) = [one for one in page.all("meta") if "http-equiv" in one.attributes]
    assert policy.attributes["content"].startswith("default-src 'none'; ")
    assert "unsafe" not in policy.attributes["content"]
    assert not re.search(r"url\(|@import|https?:", page.all("style")[0].text)
    assert len(page.all("script")) == 1


def test_every_finding_has_its_rule_and_what_it_says(page: Element, migration: Migration) -> None:
    rows = page.all("tr", "finding")
    assert len(rows) == len(migration.told) > 4
    places = by_id(page)
    for row, told in zip(rows, migration.told, strict=True):
        assert row.attributes["data-rule"] == told.rule.name
        assert row.attributes["data-outcome"] == told.outcome.name.lower()
        assert row.attributes["data-file"] == str(told.path)
        assert f"{told.path}:{told.line}" in row.text
        assert told.message.replace("`", "") in row.text
        assert told.rule.title in places[f"rule-{told.rule.name}"].text


def test_every_change_is_tied_to_the_difference_it_is_about(
    page: Element, migration: Migration
) -> None:
    places = by_id(page)
    notes = 0
    for number, told in enumerate(migration.told, start=1):
        note = places.get(f"change-{number}")
        if told.outcome is Outcome.BY_HAND:
            assert note is None
            continue
        assert note is not None
        notes += 1
        assert told.rule.name in note.text
        (file,) = [one for one in page.all("details", "file") if note in one.all("tr", "why")]
        assert file.attributes["data-file"] == str(told.path)
        assert next_change(file, note).all("td", "new")
    assert notes >= 3


def next_change(file: Element, note: Element) -> Element:
    rows = file.all("tr")
    behind = rows[rows.index(note) + 1 :]
    row = next(one for one in behind if one.attributes["class"] != "why")
    assert row.attributes["class"] == "changed"
    return row


def test_a_note_stands_above_its_own_line(page: Element) -> None:
    (file,) = [
        one for one in page.all("details", "file") if one.attributes["data-file"] == "train.py"
    ]
    about = {}
    for note in file.all("tr", "why"):
        about[note.all("a")[1].text] = next_change(file, note).all("td", "new")[0].text.strip()
    assert about["session_on_npu"].startswith("with tf.Session(config=npu_config_proto(")
    assert about["static_batch"].endswith("batch(4, drop_remainder=True)")
    assert about["npu_import"].startswith("from npu_bridge")


def test_the_page_is_there_in_two_languages(page: Element) -> None:
    (button,) = page.all("button")[:1]
    assert button.attributes["id"] == "language"
    for element in page.all("h2"):
        assert len(element.all("span", "en")) == len(element.all("span", "zh")) == 1
    rows = [row for row in page.all("tr", "finding") if not row.all("p", "zh")]
    assert rows == []


def test_programs_names_and_unread_files_are_there(page: Element) -> None:
    places = by_id(page)
    assert "train.py" in places["programs"].text
    assert "--data_dir" in places["programs"].text
    assert "tf.nn.dropout" in places["api-table"].text
    assert "bad.py:1" in places["not-read"].text
    assert "unreadable" in places["missing"].text


def test_a_project_without_findings_has_a_page(tmp_path: Path) -> None:
    page = read_page(html_report(migrated(make_project(tmp_path, {"net.py": b"print(1)\n"}))))
    assert "no TensorFlow code was found" in page.all("p", "verdict")[0].text
    assert "Nothing was found to change." in by_id(page)["findings"].text


def test_nothing_of_the_project_breaks_out(migration: Migration) -> None:
    path = PurePosixPath(f"{EVIL.replace('/', '_')}.py")
    told = [
        replace(one, path=path, text=EVIL, message=f"`{EVIL}` {EVIL}") for one in migration.told
    ]
    files = [MigratedFile(path, b"1", b"2", f"{EVIL}\nx = 1\n", f"{EVIL} {EVIL}\nx = 2\n")]
    apis = [replace(one, name=EVIL, places=((path, 1),)) for one in migration.apis]
    entries = [replace(one, path=path) for one in migration.entries]
    evil = replace(
        migration,
        root=migration.root / EVIL.replace("/", "_").replace("\x00", ""),
        told=tuple(told),
        files=tuple(files),
        apis=tuple(apis),
        entries=tuple(entries),
        skipped=((path, EVIL),),
        unreadable=tuple(replace(one, path=path, reason=EVIL) for one in migration.unreadable),
        failures=(Failure(path, EVIL, EVIL),),
    )
    text = html_report(evil)
    page = read_page(text)
    assert {one.tag for one in page.everything()} <= {
        one.tag for one in read_page(html_report(migration)).everything()
    }
    assert len(page.all("script")) == 1
    assert not [one for one in page.everything() if "onerror" in one.attributes]
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e\ufeff]", text)
    row = page.all("tr", "finding")[0]
    assert row.all("code", "line")[0].text == EVIL.translate(
        {0: "\\x00", 0x1B: "\\x1b", 0x202E: "\\u202e", 0xFEFF: "\\ufeff"}
    )


def test_what_cannot_be_seen_or_written_is_shown_by_its_number() -> None:
    assert shown("a\udcff\x7f\u2028é 汉\t") == "a\\udcff\\x7f\\u2028é 汉\t"
    assert shown("<a href=\"x\" id='y'>&") == "&lt;a href=&quot;x&quot; id=&#x27;y&#x27;&gt;&amp;"


def test_line_ends_do_not_show_and_form_feeds_end_no_line(tmp_path: Path) -> None:
    code = b"import tensorflow as tf\r\n\x0c\r\ny = '\xe2\x80\xa8'\r\n"
    code += b"net = tf.nn.dropout(net, 0.8)\r\n"
    migration = migrated(make_project(tmp_path, {"net.py": code}))
    page = read_page(html_report(migration))
    assert [told.line for told in migration.told if told.rule.name == "fused_dropout"] == [4]
    rows = page.all("table", "diff")[0].all("tr", "changed")
    assert rows[-1].all("td", "no")[0].text == "4"
    assert rows[-1].all("td", "new")[0].text == "net = npu_ops.dropout(net, 0.8)"
    assert "\r" not in html_report(migration)


@pytest.mark.parametrize("one_string", [True, False])
def test_a_note_finds_its_line_in_a_notebook(tmp_path: Path, one_string: bool) -> None:
    cells = [
        ["import tensorflow as tf\n", "x = 1"],
        ["# same\n", "y = 2\n", "net = tf.nn.dropout(net, 0.8)"],
        ["z = 3"],
    ]
    notebook = {
        "nbformat": 4,
        "nbformat_minor": 2,
        "metadata": {},
        "cells": [
            {
                "cell_type": "code",
                "execution_count": None,
                "metadata": {},
                "outputs": [],
                "source": "".join(lines) if one_string else lines,
            }
            for lines in cells
        ],
    }
    data = json.dumps(notebook, indent=1).encode()
    migration = migrated(make_project(tmp_path, {"demo.ipynb": data}))
    page = read_page(html_report(migration))
    (file,) = page.all("details", "file")
    notes = file.all("tr", "why")
    (note,) = [one for one in notes if one.all("a")[1].text == "fused_dropout"]
    assert "cell 2" in note.text
    assert next_change(file, note).all("td", "old")[0].text == "net = tf.nn.dropout(net, 0.8)"


def test_files_behind_the_fiftieth_are_closed(migration: Migration) -> None:
    files = tuple(
        MigratedFile(PurePosixPath(f"{number}.py"), b"1", b"2", "a = 1\n", "a = 2\n")
        for number in range(60)
    )
    page = read_page(html_report(replace(migration, files=files)))
    details = page.all("details", "file")
    assert ["open" in one.attributes for one in details] == [True] * 50 + [False] * 10


def test_a_name_with_many_places_shows_some_and_counts_the_rest(migration: Migration) -> None:
    path = PurePosixPath("net.py")
    places = tuple((path, line) for line in range(1, 1001))
    apis = (replace(migration.apis[0], places=places),)
    text = by_id(read_page(html_report(replace(migration, apis=apis))))["api-table"].text
    assert "1,000" in text
    assert text.count("net.py:") == 60
    assert "and 940 more" in text


def test_lines_that_became_others_stand_beside_them() -> None:
    before = "start()\nconfig.list = rank(\n    0)\nsess = tf.Session(config=config)\nend()\n"
    after = "start()\nsess = tf.Session(config=npu(config))\nend()\n"
    table = read_page(f"<table>{side_by_side(before, after, [])}</table>")
    pairs = [
        (row.all("td", "old")[0].text, row.all("td", "new")[0].text)
        for row in table.all("tr", "changed")
    ]
    assert pairs == [
        ("config.list = rank(", ""),
        ("    0)", ""),
        ("sess = tf.Session(config=config)", "sess = tf.Session(config=npu(config))"),
    ]


def test_a_mark_without_a_difference_of_its_own_stands_at_the_nearest() -> None:
    lines = [f"line{number} = {number}" for number in range(40)]
    changed = [*lines]
    changed[3], changed[30] = "first = 1", "second = 2"
    marks = [Mark(1, "one", 20, 20), Mark(2, "two", 1, 40), Mark(3, "three", 31, 31)]
    shown_rows = side_by_side("\n".join(lines), "\n".join(changed), marks)
    table = read_page(f"<table>{shown_rows}</table>")
    rows = [one for one in table.all("tr") if one.attributes["class"] in ("why", "changed")]
    assert [one.attributes.get("id", "") for one in rows] == [
        "change-2",
        "",
        "change-1",
        "change-3",
        "",
    ]


def test_a_line_of_a_megabyte_is_cut() -> None:
    old, new = "x = '" + "ab " * 400_000, "y = '" + "ab " * 400_000
    assert len(side_by_side(old, new, [])) < 10_000
