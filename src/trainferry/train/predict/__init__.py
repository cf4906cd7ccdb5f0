"""What a trained network says about pictures, as text and as pictures."""

from __future__ import annotations
