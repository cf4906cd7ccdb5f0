"""CPU, CUDA and NPU: choice, precision and loss scaling; the only folder that names a device."""

from __future__ import annotations
