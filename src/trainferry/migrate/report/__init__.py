"""One migration in several forms: text, JSON, SARIF, Markdown and HTML; one file each."""

from __future__ import annotations
