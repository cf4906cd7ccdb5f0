"""The gradient of a variable is in one run only, or in another form.

It is trained in one run and not in the other; or one run has the whole gradient where the other
has that of some rows; or the device's loop hides it.
"""

from __future__ import annotations

from trainferry.rehearse.finding import Severity
from trainferry.rehearse.told import Told

TOLD = Told(
    Severity.NOTE, "see whether the variable is trained in both, and as a whole or by rows in both"
)
