"""The migrated project computes other numbers than the original.

Both ran with the same seeds, batches and initial weights, and loss, gradients and weights were
compared step by step: differences are told in parts of the largest number of a tensor, and beyond
1e-5 they count. The first step and tensor where the runs part says where to look: the batch, the
forward pass (loss), what lies between loss and update (gradient), or the optimizer (weight).
"""

from __future__ import annotations

from trainferry.rehearse.finding import Severity
from trainferry.rehearse.told import Told

TOLD = Told(Severity.RISK, "look at what the migration changed before the tensor that parts first")
