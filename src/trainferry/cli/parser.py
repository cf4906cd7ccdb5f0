"""Arguments that are wrong are told as all errors are: what is wrong, and what to do."""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

_UNKNOWN_OPTION = r"unrecognized arguments: (--?[\w-]+)"


class Parser(argparse.ArgumentParser):
    """Parses the command line; its commands' parsers are of this class too."""

    after_dashes: str | None = None
    """Where the words after `--` go, as they are; None leaves them to argparse."""

    def parse_known_args(  # type: ignore[override]  # argparse has it overloaded
        self,
        args: Sequence[str] | None = None,
        namespace: Any = None,  # noqa: ANN401
    ) -> tuple[Any, list[str]]:
        words = list(sys.argv[1:] if args is None else args)
        place = len(words)
        if self.after_dashes is not None and "--" in words:
            place = words.index("--")
        parsed, unknown = super().parse_known_args(words[:place], namespace)
        if self.after_dashes is not None:
            setattr(parsed, self.after_dashes, words[place + 1 :])
        if unknown:  # told here, by the command's own parser, which knows its options
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return parsed, unknown

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"error: {_plainly(message)}\n\nhint: {self._hint(message)}\n")

    def _hint(self, message: str) -> str:
        if near := _nearest(message, self._option_string_actions):
            return f"did you mean `{near}`? `{self.prog} --help` lists what there is"
        return f"`{self.prog} --help` shows how it is used"


def positive(text: str) -> int:
    """Read a number of things, of which there must be one."""
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"`{text}` is not a whole number of 1 or more")
    return number


def seconds(text: str) -> float:
    """Read a time to wait, which may be none."""
    if not re.fullmatch(r"\d{1,9}(\.\d+)?", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"`{text}` is not a number of seconds")
    return float(text)


def _plainly(message: str) -> str:
    if choice := re.match(r"argument (?:COMMAND|WHAT): invalid choice: '(.*?)'", message):
        return f"there is no command `{choice[1]}`"
    if option := re.match(_UNKNOWN_OPTION, message):
        return f"there is no option `{option[1]}`"
    return message


def _nearest(message: str, options: Iterable[str]) -> str | None:
    if option := re.match(_UNKNOWN_OPTION, message):
        return next(iter(difflib.get_close_matches(option[1], options, n=1)), None)
    choice = re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message)
    if choice is None:
        return None
    names = [name.strip("' ") for name in choice[2].split(",")]
    return next(iter(difflib.get_close_matches(choice[1], names, n=1)), None)
