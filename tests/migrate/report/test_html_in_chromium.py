"""The HTML page as a browser shows it: filters clicked, keys pressed, the language switched."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from tests.migrate.report.chromium import NAMES, Chromium, find_chromium
from tests.migrate.report.test_html import EVIL, TRAINING
from tests.migrate.written import BEFORE, make_project
from trainferry.migrate.migration import MigratedFile, Migration
from trainferry.migrate.options import Options
from trainferry.migrate.pipeline import migrate_project
from trainferry.migrate.report.html import html_report
from trainferry.migrate.rule import Concern, Outcome

pytestmark = pytest.mark.skipif(
    find_chromium() is None, reason=f"no Chromium: none of {', '.join(NAMES)} is installed"
)
VISIBLE = "[...document.querySelectorAll('tr.finding')].filter((row) => row.offsetParent)"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    program = find_chromium()
    assert program is not None
    browser = Chromium(program, tmp_path_factory.mktemp("chromium"))
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def migration(tmp_path_factory: pytest.TempPathFactory) -> Migration:
    files = {"train.py": TRAINING, "deep/net.py": BEFORE}
    root = make_project(tmp_path_factory.mktemp("made") / "project", files)
    return migrate_project(root, Options())


@pytest.fixture
def page(browser: Chromium, migration: Migration, tmp_path: Path) -> Iterator[Chromium]:
    show(browser, migration, tmp_path)
    yield browser
    assert browser.complaints == []


def show(browser: Chromium, migration: Migration, folder: Path) -> None:
    (folder / "report.html").write_text(html_report(migration), encoding="utf-8")
    browser.open(folder / "report.html")


def visible(page: Chromium, key: str) -> set[str]:
    return set(page.value(f"{VISIBLE}.map((row) => row.dataset.{key})"))


def count(page: Chromium) -> int:
    number = page.value(f"{VISIBLE}.length")
    assert page.value("document.getElementById('shown').textContent").startswith(f"{number} of")
    return int(number)


def test_a_click_on_an_outcome_hides_its_findings(page: Chromium, migration: Migration) -> None:
    assert count(page) == len(migration.told)
    page.click("input[value=by_hand]")
    assert visible(page, "outcome") == {"changed", "check"}
    assert count(page) == len(migration.told) - migration.counts[Outcome.BY_HAND]
    page.click("input[value=by_hand]")
    assert count(page) == len(migration.told)


def test_findings_are_chosen_by_rule_and_by_file(page: Chromium, migration: Migration) -> None:
    page.choose("#filters [name=rule]", "fused_dropout")
    assert visible(page, "rule") == {"fused_dropout"}
    assert visible(page, "file") == {"train.py", "deep/net.py"}
    page.choose("#filters [name=file]", "deep/net.py")
    assert count(page) == 1
    files = (
        "[...document.querySelectorAll('details.file:not([hidden])')].map((f) => f.dataset.file)"
    )
    assert page.value(files) == ["deep/net.py"]
    page.click("#filters button[type=reset]")
    page.wait_for(f"{VISIBLE}.length === {len(migration.told)}")


def test_findings_are_searched_as_one_types(page: Chromium) -> None:
    page.press("/")
    assert page.value("document.activeElement.id") == "search"
    assert page.value("document.activeElement.value") == ""
    page.write("deep/NET")
    assert visible(page, "file") == {"deep/net.py"}
    page.press("Escape")
    assert page.value("document.activeElement.id") != "search"


def test_the_language_is_switched(page: Chromium) -> None:
    assert page.value("document.querySelector('#findings h2').innerText") == "Findings"
    page.click("#language")
    assert page.value("document.documentElement.lang") == "zh-CN"
    assert page.value("document.querySelector('#findings h2').innerText") == "发现"
    assert page.value("document.querySelector('#filters option').textContent") == "全部原因"
    hint = "document.querySelector('tr.finding .hint').offsetParent !== null"
    assert page.value(hint)
    page.press("l")
    assert page.value("document.documentElement.lang") == "en"
    assert not page.value(hint)


def test_keys_go_through_the_findings_and_open_their_changes(page: Chromium) -> None:
    page.press("j")
    assert page.value("document.activeElement.id") == "finding-1"
    page.press("j")
    page.press("j")
    page.press("k")
    assert page.value("document.activeElement.id") == "finding-2"
    number = page.value("document.querySelector('a.where').closest('tr').id").split("-")[1]
    page.value("document.querySelector('details.file').open = false")
    page.value(f"document.getElementById('finding-{number}').focus()")
    page.press("o")
    page.wait_for(f"location.hash === '#change-{number}'")
    page.wait_for(f"document.getElementById('change-{number}').offsetParent !== null")
    left = "document.querySelector('tr.finding[data-outcome=by_hand]')"
    rule = page.value(f"{left}.dataset.rule")
    page.value(f"{left}.focus()")
    page.press("o")
    page.wait_for(f"location.hash === '#rule-{rule}'")
    page.wait_for(f"document.getElementById('rule-{rule}').open")


def test_a_line_of_what_is_missing_shows_its_findings(
    browser: Chromium, migration: Migration, tmp_path: Path
) -> None:
    told = tuple(
        replace(one, concern=Concern.RUN) if one.outcome is Outcome.BY_HAND else one
        for one in migration.told
    )
    show(browser, replace(migration, told=told), tmp_path)
    rule = browser.value("document.querySelector('[data-show-rule]').dataset.showRule")
    browser.click("[data-show-rule]")
    assert visible(browser, "rule") == {rule}
    assert visible(browser, "outcome") == {"by_hand"}
    assert browser.complaints == []


def test_a_link_to_something_filtered_away_shows_it(page: Chromium) -> None:
    page.choose("#filters [name=file]", "deep/net.py")
    page.value("location.hash = '#finding-1'")
    page.wait_for("document.getElementById('finding-1').offsetParent !== null")


def test_names_are_chosen_by_verdict_and_searched(page: Chromium) -> None:
    rows = "[...document.querySelectorAll('#api-table tbody tr')].filter((row) => row.offsetParent)"
    names = f"{rows}.map((row) => row.firstElementChild.textContent)"
    page.click("#api-search")
    page.write("dropout")
    assert page.value(names) == ["tf.nn.dropout"]
    verdict = page.value(f"{rows}[0].dataset.verdict")
    page.click("#api-search")
    page.value("document.getElementById('api-search').value = ''")
    page.choose("#api-filters [name=verdict]", verdict)
    assert set(page.value(f"{rows}.map((row) => row.dataset.verdict)")) == {verdict}


def test_nothing_of_the_project_runs(
    browser: Chromium, migration: Migration, tmp_path: Path
) -> None:
    path = PurePosixPath(f"{EVIL.replace('/', '_')}.py")
    told = tuple(
        replace(one, path=path, text=EVIL, message=f"`{EVIL}` {EVIL}") for one in migration.told
    )
    files = (MigratedFile(path, b"1", b"2", f"{EVIL}\nx = 1\n", f"{EVIL}\nx = 2\n"),)
    show(browser, replace(migration, told=told, files=files), tmp_path)
    assert browser.value("document.querySelectorAll('script, img').length") == 1
    assert browser.value(f"{VISIBLE}.length") == len(told)
    browser.choose("#filters [name=file]", browser.value("form.file.options[1].value"))
    assert browser.value(f"{VISIBLE}.length") == len(told)
    assert browser.complaints == []


def test_a_script_that_is_not_ours_is_refused(
    browser: Chromium, migration: Migration, tmp_path: Path
) -> None:
    page = html_report(migration).replace("<main>", "<main><script>window.evil = 1</script>")
    (tmp_path / "report.html").write_text(page, encoding="utf-8")
    browser.open(tmp_path / "report.html")
    assert browser.value("window.evil") is None
    assert browser.value("form.id") == "filters"
    assert any("Content Security Policy" in one for one in browser.complaints)
