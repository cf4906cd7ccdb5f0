"""What stands around the sections of a report: the verdict, numbers, links, and the keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from trainferry import __version__
from trainferry.report.pieces import both, shown


def frame(
    head: str,
    links: Iterable[tuple[str, str, str]],
    sections: Mapping[str, str],
    keys: tuple[str, str],
) -> str:
    """The body of the page. `links` lead to the sections that are not empty."""
    ways = (f'<a href="#{name}">{both(*texts)}</a>' for name, *texts in links if sections[name])
    parts = [
        f"<header>{head}<nav>{''.join(ways)}</nav></header>",
        "<main>",
        *filter(None, sections.values()),
        "</main>",
        f'<footer class="quiet"><p>{both(*keys)}</p><p>trainferry {__version__}</p></footer>',
    ]
    return "\n".join(parts)


def top(
    name: str, kind: str, verdict: tuple[str, str], numbers: Iterable[tuple[str, str, int, str]]
) -> str:
    """Name, verdict and its `kind`, and cards: a number's words, the number, and its kind."""
    cards = "".join(
        f'<div class="card {of_card}"><b>{number:,}</b>{both(english, in_chinese)}</div>'
        for english, in_chinese, number, of_card in numbers
    )
    return (
        f'<div class="top"><h1>{shown(name)}</h1>'
        '<button id="language" type="button">中文</button></div>'
        f'<p class="verdict {kind}">{both(*verdict)}</p>'
        f'<div class="cards">{cards}</div>'
    )
