"""Street signs in up to four views: records, charset, checks and variation."""

from __future__ import annotations
