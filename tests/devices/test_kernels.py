"""Which devices run which kernels of our own."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from trainferry.devices import kernels


@pytest.mark.parametrize(("architecture", "programs"), [(8, 0), (9, 132), (10, 0), (12, 0)])
def test_programs_wait_for_each_other_on_hoppers_alone(
    architecture: int, programs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = SimpleNamespace(
        major=architecture,
        multi_processor_count=132,
        shared_memory_per_multiprocessor=228 * 1024,
    )
    monkeypatch.setattr("torch.cuda.get_device_properties", lambda _device: facts)
    monkeypatch.setattr(kernels, "_interprets", lambda: False)
    found = kernels.large_programs_at_once.__wrapped__(torch.device("cuda", 0))
    assert found == programs
