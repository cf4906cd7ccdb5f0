"""Packages that originals import and few machines have; used only where they are not installed."""

import os
import sys

VARIABLE = "TRAINFERRY_ORIGINAL"


def stand_in_for_missing():
    """Let the packages here be found after all others, if this process runs an original."""
    if os.environ.get(VARIABLE):
        sys.path.append(os.path.dirname(os.path.abspath(__file__)))
