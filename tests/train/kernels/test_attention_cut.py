"""How the attention decoder's work is shared out."""

from __future__ import annotations

import pytest

from trainferry.train.kernels.attention_cut import Cut, Sizes, choose_cut

PROCESSORS = 132


@pytest.mark.parametrize("samples", [32, 64, 128])
def test_all_who_look_run_at_the_same_time(samples: int) -> None:
    cut = halves(samples)
    assert PROCESSORS < samples * cut.parts <= 2 * PROCESSORS
    assert cut.parts * cut.tiles * cut.rows == cut.size.places  # as long as each other


@pytest.mark.parametrize("samples", [1, 3, 500])
@pytest.mark.parametrize("places", [1, 17, 1024])
def test_every_place_is_looked_at(samples: int, places: int) -> None:
    cut = halves(samples, places=places)
    each = cut.tiles * cut.rows
    assert (cut.parts - 1) * each < places <= cut.parts * each


def test_wide_rows_leave_room_for_fewer_on_their_way() -> None:
    exact = choose_cut(Sizes(37, 32, 1024, 320, 256), chained=False, value_bytes=4)
    assert (halves(32).look_stages, exact.look_stages) == (4, 2)
    assert halves(32, channels=2048).look_stages == 1


def test_only_whole_units_are_fetched() -> None:
    assert halves(32).ahead > 0
    assert halves(32, channels=290).ahead == 0
    assert not halves(32, channels=290).fetches


def test_the_first_of_a_chain_waits_for_nobody() -> None:
    cut = halves(32)
    assert cut.look()["launch_pdl"]
    assert "launch_pdl" not in cut.look(follows=False)
    assert "launch_pdl" not in cut.product(follows=False)


def halves(samples: int, places: int = 1024, channels: int = 320) -> Cut:
    return choose_cut(Sizes(37, samples, places, channels, 256), chained=True, value_bytes=2)
