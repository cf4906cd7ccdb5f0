"""The page of a rehearsal as a browser shows it: filters clicked, keys pressed, both languages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.migrate.report.chromium import NAMES, Chromium, find_chromium
from tests.rehearse.rehearsals import LOOP, OPEN_BATCH, SAME, STRINGS, rank_run, rehearsal, side
from trainferry.rehearse.report.html import html_report

pytestmark = pytest.mark.skipif(
    find_chromium() is None, reason=f"no Chromium: none of {', '.join(NAMES)} is installed"
)
VISIBLE = "[...document.querySelectorAll('tr.finding')].filter((row) => row.offsetParent)"
MADE = rehearsal(
    OPEN_BATCH,
    STRINGS,
    LOOP,
    sides=(side(rank_run(), rank_run(1)), side(name="original")),
    compared=(SAME,),
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    program = find_chromium()
    assert program is not None
    browser = Chromium(program, tmp_path_factory.mktemp("chromium"))
    yield browser
    browser.close()


@pytest.fixture
def page(browser: Chromium, tmp_path: Path) -> Iterator[Chromium]:
    (tmp_path / "report.html").write_text(html_report(MADE), encoding="utf-8")
    browser.open(tmp_path / "report.html")
    yield browser
    assert browser.complaints == []


def visible(page: Chromium) -> list[str]:
    found: list[str] = page.value(f"{VISIBLE}.map((row) => row.dataset.rule)")
    return found


def test_a_click_on_a_degree_hides_its_findings(page: Chromium) -> None:
    assert visible(page) == ["open-batch", "string-operator", "while-loop"]
    page.click("input[value=refused]")
    assert visible(page) == ["string-operator", "while-loop"]


def test_a_finding_with_places_in_two_files_is_found_by_either(page: Chromium) -> None:
    for name in ("train.py", "data/input.py"):
        page.choose("#filters [name=file]", name)
        assert visible(page) == ["open-batch"]
    page.choose("#filters [name=file]", "net.py")
    assert visible(page) == ["string-operator", "while-loop"]


def test_searching_looks_at_every_word(page: Chromium) -> None:
    page.press("/")
    page.write("iteratorgetnext")
    assert visible(page) == ["open-batch"]


def test_a_key_opens_the_page_of_a_check(page: Chromium) -> None:
    page.press("j")
    page.press("o")
    page.wait_for("document.getElementById('rule-open-batch').open")


def test_all_of_it_is_there_in_chinese(page: Chromium) -> None:
    assert "would be refused" in page.value("document.body.innerText")
    page.press("l")
    shown = page.value("document.body.innerText")
    assert "会被设备拒绝" in shown
    assert "原始与迁移后：1 步数值一致。" in shown
    assert "would be refused" not in shown
