"""Reads a page as a browser's parser would: elements with their attributes, and their text."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

_EMPTY = frozenset(("meta", "input", "br", "wbr", "col"))


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    children: list[Element] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text inside, in order of the elements."""
        return "".join(self.texts)

    def all(self, tag: str, name: str = "") -> list[Element]:
        """Elements inside with this tag and, if given, this class."""
        found = [
            child
            for child in self.children
            if child.tag == tag and (not name or name in child.attributes.get("class", "").split())
        ]
        return found + [one for child in self.children for one in child.all(tag, name)]

    def everything(self) -> list[Element]:
        return [self, *(one for child in self.children for one in child.everything())]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open = [Element("page", {})]

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attributes})
        self.open[-1].children.append(element)
        if tag not in _EMPTY:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.texts.append(data)


def read_page(page: str) -> Element:
    """The page's elements; an element that is not closed where it should be fails."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert [element.tag for element in reader.open] == ["page"]
    return reader.open[0]
