"""Variables have other names than in the original, or no partner there.

Layers that were replaced name their weights themselves: the kernel of an LSTM is `dynamicrnn/w` in
`DynamicRNN`. Those of one shape are compared in the order in which both runs made them; the others
are not compared.
"""

from __future__ import annotations

from trainferry.rehearse.finding import Severity
from trainferry.rehearse.told import Told

TOLD = Told(
    Severity.NOTE,
    "checkpoints of the original do not load by name: map the names when you restore them",
)
