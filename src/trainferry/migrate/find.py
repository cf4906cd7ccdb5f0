"""The calls of a file with their full names, and the edits that a rule can make to one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from trainferry.migrate.edit import Edit
from trainferry.migrate.lines import indentation, line_end, line_start
from trainferry.migrate.names import Names
from trainferry.migrate.read import Source

_COMMENT_LINE = re.compile(r"[ \t]*#[^\r\n]*(?:\r\n|\r|\n)[ \t]*")
_COMMENT = re.compile(rb"#[^\r\n]*")
_SPACE_AND_COMMENTS = re.compile(rb"(?:[ \t\f\r\n\\]+|#[^\r\n]*)*")


def find_calls(source: Source, names: Names) -> Iterator[Call]:
    """Find all calls whose function is known, in the order of the text."""
    for node in names.calls(source):
        name = names.full_name(source, node.func)
        if name is not None:
            yield Call(source, node, name)


@dataclass(frozen=True)
class Call:
    """One call of a known function; `name` is the function's full name."""

    source: Source
    node: ast.Call
    name: str

    @property
    def line(self) -> int:
        return self.source.line_of(self.node)

    @property
    def has_star_arguments(self) -> bool:
        """Whether `*args` or `**options` hide arguments."""
        return any(isinstance(one, ast.Starred) for one in self.node.args) or any(
            one.arg is None for one in self.node.keywords
        )

    def keyword(self, name: str) -> ast.keyword | None:
        return next((one for one in self.node.keywords if one.arg == name), None)

    def argument(self, position: int, name: str) -> ast.expr | None:
        """Give the argument's value, by place or by name; None when absent or hidden by a star."""
        up_to_here = self.node.args[: position + 1]
        is_placed = len(up_to_here) > position
        if is_placed and not any(isinstance(one, ast.Starred) for one in up_to_here):
            return up_to_here[position]
        keyword = self.keyword(name)
        return None if keyword is None else keyword.value

    def gives_twice(self, position: int, *names: str) -> bool:
        """Whether an argument is given more than once, by place or by one of its names.

        That never ran, and a second name would no longer compile.
        """
        given = sum(self.keyword(name) is not None for name in names)
        return given + (len(self.node.args) > position) > 1

    def replace_function(self, text: str) -> Edit:
        """Call `text` instead, with the same arguments."""
        start, end = self.source.span(self.node.func)
        old = self.source.text_of(self.node.func)
        if not isinstance(self.node.func, ast.Call):  # no text in quotes that looks like a comment
            comments = "".join(_COMMENT_LINE.findall(old))
            # The brackets of `(tf  # note` may be gone, and with them the line would end there.
            text = f"({text}{comments})" if comments and ")" in old else f"{text}{comments}"
        return Edit(start, end, text)

    def keep_only(self, inner: ast.Call) -> tuple[Edit, Edit]:
        """Leave of the call only one that it is given; in brackets where its function has lines."""
        start, end = self.source.span(self.node)
        first, last = self.source.span(inner)
        function = self.source.data[first : _opening(self.source, inner)]
        has_lines = b"\n" in function or b"\r" in function
        before, after = ("(", ")") if has_lines else ("", "")
        return Edit(start, first, before), Edit(last, end, after)

    def replace_argument(self, argument: ast.expr, text: str) -> Edit:
        """Put `text` in the place of an argument's value; brackets around the value stay."""
        return Edit(*self.source.span(argument), text)

    def replace_keyword(self, keyword: ast.keyword, text: str) -> Edit:
        """Put `text`, like `rate=0.5`, in the place of a keyword and its value."""
        return Edit(*self.source.span(keyword), text)

    def rename_keyword(self, keyword: ast.keyword, name: str) -> Edit:
        """Give a keyword another name; its value stays, and may be edited by other rules."""
        start, _ = self.source.span(keyword)
        assert keyword.arg is not None, "`**options` has no name"
        return Edit(start, start + len(keyword.arg.encode(self.source.encoding)), name)

    def name_argument(self, argument: ast.expr, name: str) -> Edit:
        """Give an argument by place, that is not the first, its name; brackets around it stay."""
        before = self.node.args[self.node.args.index(argument) - 1]
        comma = _skip_space(self.source.data, self._end_in_brackets(before))
        place = _skip_space(self.source.data, comma + 1)
        return Edit(place, place, f"{name}=")

    def remove_argument(self, argument: ast.expr | ast.keyword) -> Edit:
        """Take an argument away with its comma; a comment behind it goes too, none before it."""
        arguments: list[ast.expr | ast.keyword] = [*self.node.args, *self.node.keywords]
        arguments.sort(key=self.source.span)
        index = arguments.index(argument)
        data = self.source.data
        if index > 0:
            start = self._end_in_brackets(arguments[index - 1])
            if self._has_comment_before(arguments[index - 1], argument):
                return self._remove_on_its_own(argument)
            return Edit(start, self._end_in_brackets(argument), "")
        start = _skip_space(data, self._opening() + 1)
        end = self._end_in_brackets(argument)
        after = _skip_space(data, end)
        if data[after : after + 1] == b",":
            end = after + 1
            if len(arguments) > 1:
                end = _skip_space(data, end)
        return Edit(start, end, "")

    def _has_comment_before(
        self, before: ast.expr | ast.keyword, argument: ast.expr | ast.keyword
    ) -> bool:
        """Whether a comment stands between the two; a star bears no comma behind it in Python 2."""
        is_star = isinstance(before, ast.Starred) or getattr(before, "arg", "") is None
        between = self.source.data[self._end_in_brackets(before) : self.source.span(argument)[0]]
        return not is_star and b"#" in between and _COMMENT.sub(b"", between).strip() == b","

    def _remove_on_its_own(self, argument: ast.expr | ast.keyword) -> Edit:
        """Take an argument away with the comma behind it, and the line if it has one for itself."""
        data = self.source.data
        start, end = self.source.span(argument)[0], self._end_in_brackets(argument)
        after = _skip_space(data, end)
        if data[after : after + 1] != b",":
            return Edit(start, end, "")
        line, behind = line_start(data, start), line_end(data, after)
        if data[line:start].strip() or _COMMENT.sub(b"", data[after + 1 : behind]).strip():
            return Edit(start, _skip_space(data, after + 1), "")
        return Edit(line, behind, "")

    def _end_in_brackets(self, argument: ast.expr | ast.keyword) -> int:
        """Where an argument ends, with the brackets around it."""
        data = self.source.data
        closing = self.source.span(self.node)[1] - 1
        end = self.source.span(argument)[1]
        place = _skip_space(data, end)
        while place < closing and data[place : place + 1] == b")":
            end = place + 1
            place = _skip_space(data, end)
        return end

    def add_keyword(self, text: str) -> Edit:
        """Add `text`, like `rate=0.5`, to the arguments.

        Several keywords for one call go into one text: two edits would meet at one place.
        """
        arguments: list[ast.expr | ast.keyword] = [*self.node.args, *self.node.keywords]
        if not arguments:
            place = self._opening() + 1
            return Edit(place, place, text)
        last = max(arguments, key=lambda one: self.source.span(one)[1])
        start, end = self.source.span(last)
        if end == self.source.span(self.node)[1]:
            # A generator alone shares the brackets of the call; beside a keyword it needs its own.
            return Edit(start, end, f"({self.source.text_of(last)}, {text})")
        if isinstance(last, ast.keyword) and last.arg is None:
            return Edit(start, start, f"{text}, ")  # before `**options`, as Python 2 wants it
        return self._add_after(last, text)

    def _add_after(self, last: ast.expr | ast.keyword, text: str) -> Edit:
        data = self.source.data
        closing = self.source.span(self.node)[1] - 1
        start, end = self.source.span(last)
        place, comma = end, -1
        while (place := _skip_space(data, place)) < closing:
            if data[place : place + 1] == b",":
                comma = place
            else:
                end = place + 1  # a bracket around the argument
            place += 1
        own_line = line_start(data, closing)
        if -1 < comma < own_line and line_start(data, start) > self._opening():
            # One argument per line, with a comma after the last.
            return Edit(own_line, own_line, f"{indentation(data, start)}{text},\n")
        return Edit(end, end, f", {text}")

    def _opening(self) -> int:
        return _opening(self.source, self.node)


def wrap(source: Source, node: ast.expr, before: str, after: str) -> tuple[Edit, Edit]:
    """Put text on both sides of an expression: `x` becomes `f(x)`; `x` itself stays editable."""
    start, end = source.span(node)
    return Edit(start, start, before), Edit(end, end, after)


def _opening(source: Source, call: ast.Call) -> int:
    """Where the bracket before the arguments is."""
    place = source.span(call.func)[1]
    while True:
        place = _skip_space(source.data, place)
        if source.data[place : place + 1] == b"(":
            return place
        place += 1  # a bracket around the function


def _skip_space(data: bytes, place: int) -> int:
    found = _SPACE_AND_COMMENTS.match(data, place)
    return place if found is None else found.end()
