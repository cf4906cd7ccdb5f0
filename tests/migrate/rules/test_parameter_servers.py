"""Parameter servers are told, with what to do instead."""

from __future__ import annotations

from tests.migrate.rules.migrated import check_unchanged, outcomes
from trainferry.migrate.options import Options
from trainferry.migrate.rule import Outcome

RULE = "parameter_servers"
TEXT = """\
    import tensorflow as tf
    cluster = tf.train.ClusterSpec({"ps": hosts})
    server = tf.train.Server(cluster)
    with tf.device(tf.compat.v1.train.replica_device_setter(cluster=cluster)):
        pass
    """


def test_servers_and_their_placement_are_told() -> None:
    told = check_unchanged(TEXT, RULE)
    assert outcomes(told) == [Outcome.BY_HAND] * 2
    assert "NPUEstimator" in told[0].message


def test_nothing_is_told_when_all_that_is_distributed_is_left() -> None:
    assert check_unchanged(TEXT, RULE, Options(distributed="none")) == []


CLUSTER = """\
    import json, os
    def start(worker):
        os.environ["TF_CONFIG"] = json.dumps({"cluster": {CLUSTER}, "task": worker})
    """


def test_a_cluster_with_servers_in_the_environment_is_told() -> None:
    text = CLUSTER.replace("{CLUSTER}", '{"ps": servers, "worker": workers}')
    told = check_unchanged(text, RULE)
    assert outcomes(told) == [Outcome.BY_HAND]
    assert "NPUEstimator" in told[0].message
    assert check_unchanged(text, RULE, Options(distributed="none")) == []


def test_a_cluster_of_workers_alone_has_no_servers() -> None:
    assert check_unchanged(CLUSTER.replace("{CLUSTER}", '{"worker": workers}'), RULE) == []
    assert check_unchanged("import os\nos.environ['ROLE'] = 'ps'\n", RULE) == []


def test_another_server_is_not_ours() -> None:
    assert check_unchanged("from http.server import Server\nServer()\n", RULE) == []
