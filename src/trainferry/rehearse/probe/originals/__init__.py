"""What originals need and few machines have: packages where they are not installed, and GPUs."""

import os
import sys

from ..after_import import call_after_import

VARIABLE = "TRAINFERRY_ORIGINAL"


def stand_in_for_missing():
    """If this process runs an original, let the packages here be found after all others."""
    if os.environ.get(VARIABLE):
        sys.path.append(os.path.dirname(os.path.abspath(__file__)))
        call_after_import("tensorflow", _place_softly)


def _place_softly(_):
    from .placement import place_softly

    place_softly()
