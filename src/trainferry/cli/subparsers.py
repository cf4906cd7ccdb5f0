"""The type of argparse's collection of commands, which has no public name."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainferry.cli.parser import Parser

    Subparsers = argparse._SubParsersAction[Parser]
