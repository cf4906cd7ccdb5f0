"""The documentation is there, links to what exists, and says what the code says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from trainferry.launch.codes.table import all_codes
from trainferry.migrate.rule import all_rules
from trainferry.rehearse.catalogue import all_checks

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
GUIDES = sorted(path for path in (DOCS / "guides").glob("*.md") if ".zh-CN" not in path.name)

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#{1,6} +(.+)$", re.MULTILINE)


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_the_reference_is_what_the_code_says() -> None:
    checked = subprocess.run(
        [sys.executable, str(DOCS / "generate.py"), "--check"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stderr + "run `python docs/generate.py`"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    broken = [link for link in LINK.findall(text) if not leads_somewhere(page, link)]
    assert broken == []


@pytest.mark.parametrize(
    ("page", "folder"), [("path-of-a-batch.md", "train"), ("path-of-a-file.md", "migrate")]
)
def test_a_path_names_files_that_exist(page: str, folder: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    places = [ROOT / "src" / "trainferry" / folder, ROOT / "src" / "trainferry", ROOT]
    for name in re.findall(r"`([\w/]+\.py)`", text):
        assert any((place / name).is_file() for place in places), name


@pytest.mark.parametrize("guide", [ROOT / "README.md", *GUIDES], ids=name_of)
def test_every_guide_is_there_in_chinese(guide: Path) -> None:
    twin = guide.with_name(f"{guide.stem}.zh-CN.md")
    assert twin.is_file()
    assert commands(twin) == commands(guide), "both languages show the same commands"


def test_the_readme_counts_what_there_is() -> None:
    drawn_with = ROOT / "src" / "trainferry" / "train" / "data" / "render" / "words" / "assets"
    rules, checks, codes = 1 + len(all_rules()), len(all_checks()), len(all_codes())
    fonts = len(list((drawn_with / "fonts").glob("*.woff")))
    for page, counts in {
        "README.md": f"{rules} rules, {checks} checks, {codes} error codes, {fonts} bundled fonts",
        "README.zh-CN.md": f"{rules} 条规则, {checks} 项检查, {codes} 个错误码, {fonts} 个字体",
    }.items():
        text = (ROOT / page).read_text(encoding="utf-8")
        assert [count for count in counts.split(", ") if count not in text] == [], page


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_page_starts_with_its_title(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    shown = [line for line in lines if line and not line.startswith("<!--")]
    assert shown
    assert shown[0].startswith("# ")


def leads_somewhere(page: Path, link: str) -> bool:
    if link.startswith(("https://", "http://", "mailto:")):
        return True
    target, _, heading = link.partition("#")
    path = (page.parent / target).resolve() if target else page
    if not path.exists() or not path.is_relative_to(ROOT):
        return False
    return not heading or heading in map(anchor, HEADING.findall(path.read_text(encoding="utf-8")))


def anchor(heading: str) -> str:
    """The name a heading is linked by, as GitHub and GitLab make it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def commands(page: Path) -> list[str]:
    """The lines of the page's code that call a program, in their order."""
    blocks = [match[0] for match in FENCE.finditer(page.read_text(encoding="utf-8"))]
    lines = [line.strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if re.match(r"(\w+=\S+ )?(trainferry|make|python) ", line)]
