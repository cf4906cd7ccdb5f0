"""The programs that run on a device, in Triton; who starts them says what they compute."""

from __future__ import annotations

import os

# Products are added up without a rounding in between, as all programs were measured and compared.
# Triton 3.9 wants that said, and 3.10 will not do it unasked.
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
