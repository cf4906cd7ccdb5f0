"""Arguments that are wrong are told as all errors are: what is wrong, and what to do."""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn


class Parser(argparse.ArgumentParser):
    """Parses the command line; its commands' parsers are of this class too."""

    after_dashes: str | None = None
    """Where the words after `--` go, as they are; None leaves them to argparse."""

    def parse_known_args(  # type: ignore[override]  # argparse has it overloaded
        self,
        args: Sequence[str] | None = None,
        namespace: Any = None,  # noqa: ANN401
    ) -> tuple[Any, list[str]]:
        if self.after_dashes is None:
            return super().parse_known_args(args, namespace)
        words = list(sys.argv[1:] if args is None else args)
        place = words.index("--") if "--" in words else len(words)
        parsed, unknown = super().parse_known_args(words[:place], namespace)
        setattr(parsed, self.after_dashes, words[place + 1 :])
        return parsed, unknown

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"error: {_plainly(message)}\n\nhint: {self._hint(message)}\n")

    def _hint(self, message: str) -> str:
        if near := _nearest(message):
            return f"did you mean `{near}`? `{self.prog} --help` lists what there is"
        return f"`{self.prog} --help` shows how it is used"


def positive(text: str) -> int:
    """Read a number of things, of which there must be one."""
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"`{text}` is not a whole number of 1 or more")
    return number


def _plainly(message: str) -> str:
    choice = re.match(r"argument (?:COMMAND|WHAT): invalid choice: '(.*?)'", message)
    return f"there is no command `{choice[1]}`" if choice else message


def _nearest(message: str) -> str | None:
    choice = re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message)
    if choice is None:
        return None
    names = [name.strip("' ") for name in choice[2].split(",")]
    return next(iter(difflib.get_close_matches(choice[1], names, n=1)), None)
