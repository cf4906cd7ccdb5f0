"""The command line: parse, call, print; one file per command."""

from __future__ import annotations
