"""Two ranks with half the batch compute what one rank does with the whole.

Needs an interpreter with TensorFlow, named by TRAINFERRY_TF115 or TRAINFERRY_TF215.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.half_batch import STYLES, compare_style

from tests.rehearse.stand_in.tensorflows import python_for

pytestmark = [pytest.mark.slow, pytest.mark.cluster]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("version", ["1.15", "2.15"])
def test_half_batches_make_the_gradient_of_the_whole(
    style: str, version: str, tmp_path: Path
) -> None:
    found = compare_style(style, Path(python_for(version)), tmp_path)
    assert (found.gradients.steps, found.gradients.variables) == (5, 4)
    assert found.gradients.absolute <= 1e-5
    assert found.gradients.relative <= 1e-5
    assert found.weights.absolute <= 1e-5
    assert found.between_ranks == 0
    assert found.findings == ()
