"""The scaling model: what it must say whatever the machine."""

from __future__ import annotations

import pytest
from benchmarks.scaling_model import (
    BUCKET_BYTES,
    Cluster,
    Link,
    Network,
    predict,
)

from trainferry.train import gradients

FAST, SLOW = Link(100e9, 1e-6), Link(10e9, 1e-5)
LARGE = Network(weights=25_000_000, norm_channels=(64, 256))


def test_one_rank_waits_for_nobody() -> None:
    step = predict(LARGE, 0.2, Cluster(1, 1, FAST, SLOW), synchronised=True)
    assert (step.seconds, step.efficiency) == (0.2, 1.0)


def test_a_ring_sends_nearly_everything_twice() -> None:
    link = Link(1e9, 0.0)
    assert Cluster(1, 2, link, SLOW).all_reduce(1e9) == pytest.approx(1.0)
    assert Cluster(1, 8, link, SLOW).all_reduce(1e9) == pytest.approx(2 * 7 / 8)


def test_small_sums_are_paid_by_the_message() -> None:
    link = Link(1e12, 1e-5)
    assert Cluster(1, 8, link, SLOW).all_reduce(8) == pytest.approx(14e-5, rel=1e-3)


def test_servers_share_the_work_of_the_network_between_them() -> None:
    """Each of eight ranks sends an eighth of the sum by its own link."""
    nothing = Link(1e30, 0.0)
    between = Link(1e9, 0.0)
    assert Cluster(2, 8, nothing, between).all_reduce(8e9) == pytest.approx(1.0)


def test_servers_that_are_a_power_of_two_need_fewer_messages() -> None:
    nothing, between = Link(1e30, 0.0), Link(1e30, 1e-5)
    assert Cluster(128, 8, nothing, between).all_reduce(8) == pytest.approx(14e-5)
    assert Cluster(127, 8, nothing, between).all_reduce(8) == pytest.approx(252e-5)


def test_a_backward_pass_that_is_long_enough_hides_all_but_the_last_bucket() -> None:
    cluster = Cluster(1, 8, FAST, SLOW)
    buckets = -(-LARGE.gradient_bytes // BUCKET_BYTES)
    last = cluster.all_reduce(LARGE.gradient_bytes / buckets)
    assert buckets > 1
    assert predict(LARGE, 1.0, cluster).gradients == pytest.approx(last)
    bare = predict(LARGE, 1.0, cluster, overlapping=False)
    assert bare.gradients == pytest.approx(buckets * last)


def test_what_the_links_cannot_carry_in_time_is_waited_for() -> None:
    cluster = Cluster(2, 8, SLOW, Link(1e6, 0.0))
    hidden, bare = (predict(LARGE, 0.1, cluster, overlapping=how) for how in (True, False))
    assert 0.9 * bare.gradients < hidden.gradients < bare.gradients


def test_synchronised_norms_cost_more_the_more_ranks_there_are() -> None:
    waits = [
        predict(LARGE, 0.1, Cluster(servers, 8, FAST, SLOW), synchronised=True).norms
        for servers in (1, 4, 128)
    ]
    assert 0 < waits[0] < waits[1] < waits[2]
    assert predict(LARGE, 0.1, Cluster(4, 8, FAST, SLOW)).norms == 0


def test_ranks_that_share_cores_take_turns_and_hide_nothing() -> None:
    own, shared = Cluster(1, 8, FAST, SLOW), Cluster(1, 8, FAST, SLOW, cores=2)
    alone = predict(LARGE, 0.1, own, overlapping=False)
    crowded = predict(LARGE, 0.1, shared)
    assert crowded.computing == pytest.approx(4 * alone.computing)
    assert crowded.gradients == pytest.approx(4 * alone.gradients)


def test_the_model_has_the_buckets_of_training() -> None:
    assert BUCKET_BYTES == gradients.BUCKET_BYTES


def test_ranks_that_come_apart_wait_twice_in_each_norm_and_nowhere_else() -> None:
    at_once, apart = Cluster(1, 8, FAST, SLOW), Cluster(1, 8, FAST, SLOW, apart=1e-3)
    more = predict(LARGE, 0.1, apart, synchronised=True).seconds
    less = predict(LARGE, 0.1, at_once, synchronised=True).seconds
    assert more - less == pytest.approx(2e-3 * len(LARGE.norm_channels))
    assert predict(LARGE, 0.1, apart) == predict(LARGE, 0.1, at_once)
