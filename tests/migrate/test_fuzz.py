"""Whatever the program: no rule breaks, and all that a migration promises holds."""

from __future__ import annotations

import random
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.migrate.fuzzing.cases import Case, generated_case
from tests.migrate.fuzzing.checks import check_case


def problems_of(case: Case) -> str:
    checked = check_case(case, full=False)
    return "\n".join(f"{one.mark}\n{one.text}" for one in checked.problems)


@settings(
    max_examples=100,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
# Numbers that hypothesis draws one by one cannot be asked to choose among nothing, as mutations do.
@given(st.randoms(use_true_random=True))
def test_all_promises_hold_for_programs_that_hypothesis_makes(drawn: random.Random) -> None:
    case = generated_case(drawn)
    assert not problems_of(case), case


def test_all_promises_hold_for_a_fixed_set_of_programs() -> None:
    for seed in range(100):
        case = generated_case(Random(seed))
        assert not problems_of(case), case
