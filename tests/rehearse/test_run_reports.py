"""The reports of a rehearsal: every form tells the same, and nothing of a project can break out."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.migrate.report.page_reader import Element, read_page
from tests.rehearse.rehearsals import (
    LOOP,
    OPEN_BATCH,
    OTHER,
    SAME,
    STRINGS,
    failed_rank,
    rank_run,
    rehearsal,
    side,
)
from trainferry.rehearse.catalogue import all_checks
from trainferry.rehearse.rehearsal import Rehearsal, Verdict
from trainferry.rehearse.report import chinese
from trainferry.rehearse.report.chart import loss_chart
from trainferry.rehearse.report.html import html_report
from trainferry.rehearse.report.markdown import markdown_report
from trainferry.rehearse.report.sarif import sarif_report
from trainferry.rehearse.report.text import text_report
from trainferry.rehearse.report.write import write_reports

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>]]>--></style>\x00\x1b[31m\u202e"
MADE = rehearsal(
    OPEN_BATCH,
    STRINGS,
    LOOP,
    sides=(side(rank_run(), rank_run(1)), side(name="original")),
    compared=(SAME,),
    lines=(("train.py:12", "data = data.batch(4)"),),
    prepared=("data is linked",),
)


def text(made: Rehearsal) -> str:
    return text_report(made, colour=False)


def test_the_terminal_tells_verdict_runs_and_findings_in_this_order() -> None:
    shown = text(MADE)
    assert shown.startswith("would be refused\n  migrated: 2 ranks, 3 train steps in 3 s")
    places = [shown.index(word) for word in ("1 step agrees", "open-batch", "string-operator")]
    assert places == sorted(places)
    assert "train.py:12, data/input.py:3" in shown
    assert "-> write `drop_remainder=True`" in shown
    assert "while-loop  net.py:9  rank 1" in shown


def test_a_failure_comes_before_the_findings() -> None:
    shown = text(rehearsal(STRINGS, sides=(side(failed_rank()),)))
    assert shown.startswith("did not run\n")
    assert shown.index("  | ValueError: boom") < shown.index("string-operator")
    assert "hint: all that it printed is in output.txt" in shown


def test_numbers_that_differ_are_told_in_a_sentence() -> None:
    shown = text(rehearsal(compared=(OTHER,)))
    assert shown.startswith("numbers differ\n")
    assert "the runs part at step 1" in shown


def test_colours_are_for_terminals_alone() -> None:
    assert "\033[" not in text(MADE)
    coloured = text_report(MADE, colour=True)
    assert re.sub(r"\033\[[\d;]*m", "", coloured) == text(MADE)


def test_many_findings_do_not_flood_the_terminal() -> None:
    many = [replace(STRINGS, message=f"string {number}") for number in range(200)]
    shown = text(rehearsal(*many))
    assert "and 185 more: see the report" in shown
    assert len(shown.splitlines()) < 70


def test_markdown_has_every_finding() -> None:
    shown = markdown_report(MADE)
    assert shown.startswith("## Rehearsal: would be refused\n")
    assert "| open-batch | `images` has no fixed batch | write `drop_remainder=True` |" in shown
    assert "trainferry rehearse /home/me/project" in shown


def test_markdown_survives_bars_and_line_ends() -> None:
    row = markdown_report(rehearsal(replace(STRINGS, message="a | b\nc")))
    assert "| a \\| b c |" in row


def test_sarif_points_to_every_place() -> None:
    (run,) = sarif_report(MADE)["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert set(all_checks()) <= set(rules)
    first = run["results"][0]
    assert rules[first["ruleIndex"]] == first["ruleId"] == "open-batch"
    assert first["level"] == "error"
    places = [place["physicalLocation"] for place in first["locations"]]
    assert [place["artifactLocation"]["uri"] for place in places] == ["train.py", "data/input.py"]
    assert [place["region"]["startLine"] for place in places] == [12, 3]
    assert run["invocations"][0]["executionSuccessful"] is True


def test_sarif_tells_a_script_that_failed() -> None:
    (run,) = sarif_report(rehearsal(sides=(side(failed_rank()),)))["runs"]
    (told,) = run["invocations"][0]["toolExecutionNotifications"]
    assert "ValueError: boom" in told["message"]["text"]


def test_a_fingerprint_does_not_change_when_lines_move() -> None:
    def mark(*places: str) -> str:
        (run,) = sarif_report(rehearsal(replace(STRINGS, places=places)))["runs"]
        return str(run["results"][0]["partialFingerprints"])

    assert mark("net.py:7") == mark("net.py:9") != mark("other.py:7")


@pytest.fixture(scope="module")
def page() -> Element:
    return read_page(html_report(MADE))


def test_every_link_leads_into_the_page(page: Element) -> None:
    places = [one.attributes["id"] for one in page.everything() if "id" in one.attributes]
    assert len(set(places)) == len(places)
    links = [one.attributes["href"] for one in page.all("a")]
    assert links
    assert [link for link in links if link[0] != "#" or link[1:] not in places] == []


def test_every_finding_is_on_the_page(page: Element) -> None:
    rows = page.all("tr", "finding")
    assert [row.attributes["data-rule"] for row in rows] == [one.check for one in MADE.findings]
    assert rows[0].attributes["data-file"] == "train.py\ndata/input.py"
    assert "data = data.batch(4)" in rows[0].text


def test_the_page_loads_nothing_and_allows_no_other_script(page: Element) -> None:
    loading = {"src", "srcset", "action", "data", "poster", "background", "style"}
    for element in page.everything():
        assert not loading & set(element.attributes)
        assert not [name for name in element.attributes if name.startswith("on")]
    assert len(page.all("script")) == 1


def test_nothing_of_a_project_becomes_part_of_the_page() -> None:
    evil = replace(OPEN_BATCH, message=EVIL, hint=EVIL, places=(f"{EVIL}:3",), operators=(EVIL,))
    rank = replace(failed_rank(), last_lines=(EVIL,), hint=EVIL, ending=EVIL, output=EVIL)
    made = rehearsal(
        evil,
        sides=(side(rank),),
        prepared=(EVIL,),
        lines=((f"{EVIL}:3", EVIL),),
        compared=(replace(SAME, summary=EVIL, parts_in=EVIL),),
        plan={**MADE.plan, "command": EVIL, "project": EVIL, "entry": EVIL},
    )
    page = read_page(html_report(made))
    assert len(page.all("script")) == 1
    assert page.all("img") == []
    assert "\x00" not in page.text
    json.dumps(sarif_report(made))


@pytest.mark.parametrize(
    "made",
    [
        rehearsal(),
        rehearsal(sides=(side(failed_rank()),)),
        rehearsal(sides=(side(rank_run(losses=())),)),
        rehearsal(compared=(OTHER,)),
        rehearsal(sides=(side(rank_run(losses=(float("nan"), float("inf"), None))),)),
    ],
)
def test_every_kind_of_rehearsal_has_all_reports(made: Rehearsal, tmp_path: Path) -> None:
    path = write_reports(made, tmp_path / "new" / "folder")
    names = {one.name for one in path.parent.iterdir()}
    assert names == {"report.html", "report.md", "report.json", "report.sarif"}
    page = read_page(path.read_text(encoding="utf-8"))
    assert made.verdict.value in page.text
    assert chinese.VERDICTS[made.verdict] in page.text


def test_every_check_and_verdict_has_its_chinese() -> None:
    assert set(chinese.check_texts()) == set(all_checks())
    assert set(chinese.VERDICTS) == set(Verdict)
    for one in chinese.check_texts().values():
        assert one.title
        assert one.text
        assert one.text.count("`") % 2 == one.title.count("`") % 2 == 0


def test_losses_are_drawn_when_there_are_two() -> None:
    assert loss_chart([(("one", "一"), [1.0])]) == ""
    assert loss_chart([(("one", "一"), [None, float("nan")])]) == ""
    drawn = loss_chart([(("one", "一"), [1.0, 1.0]), (("two", "二"), [3.0, None, 2.0])])
    assert drawn.count("<polyline") == 2
    assert "nan" not in drawn


def test_a_script_without_a_step_is_not_said_to_be_without_findings() -> None:
    page = html_report(rehearsal(sides=(side(replace(failed_rank(), losses=())),)))
    assert "There was no train step to look at." in page
    assert "Nothing was found." not in page
    assert "Nothing was found." in html_report(rehearsal())
