"""Preflights of real processes: all well, and one thing wrong at a time."""

from __future__ import annotations

import functools
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest

from tests.launch.preflight.ranks import Cast, Ended, environment, eyes_on, free_port, some_versions
from tests.launch.ranktable.tables import server_list
from trainferry.launch.preflight.trial import fill

if TYPE_CHECKING:
    import torch

pytestmark = pytest.mark.cluster


def test_a_sound_cluster_can_start(tmp_path: Path) -> None:
    ended = Cast(tmp_path, ranks=8, local_ranks=4).play()
    assert ended.codes == [0] * 8
    assert {check.outcome for check in ended.report.checks} == {"ok"}
    assert ended.check("ports").sentence == "2 of 2 connections between 2 machines open"
    assert ended.check("all-reduce over gloo").sentence.startswith("the sum is 36 on all ranks")
    measured = ended.check("all-reduce over gloo").measured["64 MB"]
    speed = 2 * 7 / 8 * 64_000_000 / measured["seconds"]
    assert measured["bytes_per_second"] == pytest.approx(speed)


def test_the_missing_rank_is_named_with_its_machine(tmp_path: Path) -> None:
    ended = Cast(tmp_path, ranks=4, local_ranks=2, seconds=3.0, absent=(3,)).play()
    assert ended.codes == [1, 1, 1]
    assert ended.sentences("ranks").startswith("rank 3 (node-1) is missing after 3.")
    assert ended.check("all-reduce over gloo").outcome == "skipped"
    assert ended.check("versions").outcome == "ok"


def test_a_machine_from_which_nobody_came_is_called_as_in_the_rank_table(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    path.write_text(json.dumps(server_list(2, 2)))
    variables = {rank: {"RANK_TABLE_FILE": str(path)} for rank in range(4)}
    cast = Cast(tmp_path, ranks=4, local_ranks=2, seconds=3.0, variables=variables, absent=(2, 3))
    ended = cast.play()
    named = "ranks 2-3 (machine 1 of 0-1 (node-001 in the rank table), from which none came) are"
    assert ended.sentences("ranks").startswith(named)
    assert ended.check("rank table").outcome == "warning"  # of the chip: half of each server


@pytest.fixture(scope="module")
def ailing(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """Three machines with a rank each, of which none is well."""
    eyes = {
        0: eyes_on(0, free_bytes=functools.partial(_free, 4 * 1000**3)),
        1: eyes_on(
            1,
            versions=_versions_with_old_torch,
            listen=_bound_but_deaf,
            now=functools.partial(_shifted, 45.0),
        ),
        2: eyes_on(
            2,
            free_bytes=functools.partial(_free, 100 * 1000**2),
            now=functools.partial(_shifted, -3.0),
        ),
    }
    folder = tmp_path_factory.mktemp("ailing")
    cast = Cast(folder, ranks=3, local_ranks=1, eyes=eyes, arguments=("--fact", "CANN=8.0"))
    return cast.play()


def test_all_that_is_wrong_is_told_at_once(ailing: Ended) -> None:
    assert ailing.codes == [1, 1, 1]
    wrong = {check.name for check in ailing.report.checks if check.outcome == "wrong"}
    assert wrong == {"versions", "disk", "ports", "clocks"}
    assert ailing.check("all-reduce over gloo").outcome == "ok"


def test_another_torch_on_one_rank_is_wrong(ailing: Ended) -> None:
    assert ailing.sentences("versions") == "torch: 2.13.0 on 2 ranks, 1.0 on rank 1 (node-1)"
    assert ailing.check("versions").measured["CANN"] == {"8.0": [0, 1, 2]}


def test_a_port_that_cannot_be_reached_names_both_machines(ailing: Ended) -> None:
    told = ailing.sentences("ports")
    assert told.startswith("node-0 cannot connect to node-1 (127.0.0.2 port ")
    assert told.endswith("connection refused")
    assert ailing.check("ports").sentence == "3 of 4 connections between 3 machines open"


def test_clocks_are_compared_with_rank_0(ailing: Ended) -> None:
    fast, slow = ailing.check("clocks").problems
    assert (fast.outcome, slow.outcome) == ("wrong", "warning")
    assert fast.sentence.startswith("the clock of node-1 is 45.0 s ahead of rank 0's (± ")
    assert slow.sentence.startswith("the clock of node-2 is 3.0 s behind rank 0's (± ")


def test_a_full_disk_is_wrong_and_a_small_one_a_warning(ailing: Ended) -> None:
    small, full = ailing.check("disk").problems
    assert (small.outcome, full.outcome) == ("warning", "wrong")
    assert small.sentence.startswith("node-0: 4.0 GB free in ")
    assert full.sentence.startswith("node-2: 100 MB free in ")


def test_the_others_say_that_rank_0_is_missing(tmp_path: Path) -> None:
    ended = Cast(tmp_path, ranks=3, local_ranks=3, seconds=1.0, absent=(0,)).play()
    assert ended.codes == [1, 1]
    told = ended.sentences("connection").splitlines()
    assert len(told) == 2
    for rank, sentence in enumerate(told, 1):
        assert sentence.startswith(f"rank {rank} (node-0): rank 0 is missing: `127.0.0.1` port ")
        assert "connection refused" in sentence


def test_rank_0_is_missing_though_the_agent_holds_its_port(tmp_path: Path) -> None:
    from torch._C._distributed_c10d import TCPStore

    store = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    by_agent = {1: {"TORCHELASTIC_USE_AGENT_STORE": "True"}}
    cast = Cast(tmp_path, ranks=2, local_ranks=2, seconds=0.5, absent=(0,), variables=by_agent)
    cast.port = store.port
    ended = cast.play()
    assert ended.codes == [1]
    assert "in vain for rank 0 to count the ranks" in ended.sentences("connection")


def test_a_port_that_another_program_has_is_told(tmp_path: Path) -> None:
    with socket.create_server(("", 0)) as taken:
        port = taken.getsockname()[1]
        ended = Cast(tmp_path, ranks=2, local_ranks=2, seconds=1.0, port=port).play()
    assert ended.codes == [1, 1]
    assert f"port {port} of rank 0's machine is used by another" in ended.sentences("connection")
    assert f"port {port} is not rank 0 of a preflight" in ended.sentences("connection")


def test_the_devices_own_library_is_tried_only_where_there_are_devices(tmp_path: Path) -> None:
    arguments = ("--device", "no-such-device", "--backend", "no-such-library")
    ended = Cast(tmp_path, ranks=1, local_ranks=1, arguments=arguments).play()
    assert ended.codes == [1]
    assert ended.sentences("devices").startswith("rank 0 (node-0): no `no-such-device` device")
    assert ended.check("all-reduce over gloo").outcome == "ok"
    assert ended.check("all-reduce over no-such-library").outcome == "skipped"


def test_another_rank_table_on_one_rank_is_wrong(tmp_path: Path) -> None:
    good, other = tmp_path / "good.json", tmp_path / "other.json"
    good.write_text(json.dumps(server_list(2)))
    other.write_text(json.dumps(server_list([1, 0])))
    variables = {0: {"RANK_TABLE_FILE": str(good)}, 1: {"RANK_TABLE_FILE": str(other)}}
    ended = Cast(tmp_path, ranks=2, local_ranks=2, variables=variables).play()
    assert ended.codes == [1, 1]
    told = ended.sentences("rank table")
    assert "rank 1 (node-0) has another rank table than the others" in told
    assert "rank 1 (node-0) uses device 1; in its rank table it has 0 of node-000" in told


def test_the_rank_that_sends_wrong_numbers_is_named(tmp_path: Path) -> None:
    ended = Cast(tmp_path, ranks=4, local_ranks=4, eyes={2: eyes_on(0, fill=_garble)}).play()
    assert ended.codes == [1] * 4
    told = ended.sentences("all-reduce over gloo").splitlines()
    assert told == [
        "ranks 0-3 (node-0) got a wrong sum, in up to 1 numbers, instead of 10",
        "rank 2 (node-0) sends wrong numbers",
    ]


def test_two_processes_with_one_number_are_told(tmp_path: Path) -> None:
    cast = Cast(tmp_path, ranks=3, local_ranks=3, seconds=3.0)
    port = free_port()
    ranks = [0, 1, 1]
    ended = cast.end([cast.start(environment(rank, 3, 3, port), eyes_on(0)) for rank in ranks])
    assert ended.codes == [1, 1, 1]
    told = ended.sentences("ranks")
    assert "two processes say that they are rank 1" in told
    assert "rank 2 (node-0) is missing" in told


def test_a_rank_that_comes_too_late_says_so(tmp_path: Path) -> None:
    from torch._C._distributed_c10d import PrefixStore, TCPStore

    # Rank 0 has counted the ranks without it; it is played by the store it would hold.
    store = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    board = PrefixStore("preflight/0-0/board", store)
    board.set("crew", json.dumps({"hellos": [], "twins": [], "seconds": 5.0}))
    ended = Cast(tmp_path, ranks=2, local_ranks=2, absent=(0,), port=store.port).play()
    assert ended.codes == [1]
    assert "rank 1 came too late: rank 0 had stopped waiting" in ended.sentences("connection")


@pytest.mark.slow
def test_the_program_itself_prints_the_report_of_rank_0(tmp_path: Path) -> None:
    port = free_port()
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "trainferry.launch.preflight", "--json"],
            env={"PATH": "", "PYTHONPATH": ":".join(sys.path), **environment(rank, 2, 2, port)},
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    said = [process.communicate(timeout=120) for process in started]
    assert [process.returncode for process in started] == [0, 0], said
    assert json.loads(said[0][0])["ok"] is True
    assert said[1] == ("", "")
    assert said[0][1] == ""


def test_a_rank_that_ends_after_its_hello_is_named(tmp_path: Path) -> None:
    eyes = {2: eyes_on(0, versions=_end)}
    ended = Cast(tmp_path, ranks=3, local_ranks=3, seconds=3.0, eyes=eyes).play()
    assert ended.codes == [1, 1, 3]
    assert ended.sentences("ranks").startswith("rank 2 (node-0) came, and said nothing more")
    assert ended.check("all-reduce over gloo").outcome == "skipped"


def test_a_rank_that_ends_within_the_all_reduce_is_named(tmp_path: Path) -> None:
    ended = Cast(tmp_path, ranks=3, local_ranks=3, eyes={1: eyes_on(0, fill=_end)}).play()
    assert ended.codes == [1, 3, 1]
    told = ended.sentences("all-reduce over gloo").splitlines()
    assert told[0].startswith("rank 1 (node-0): no sum, and no other word within ")
    assert not any("rank 1" in sentence for sentence in told[1:])


def _versions_with_old_torch() -> dict[str, str]:
    return {**some_versions(), "torch": "1.0"}


def _bound_but_deaf(_: str) -> socket.socket:
    bound = socket.socket()
    bound.bind(("", 0))
    return bound


def _shifted(seconds: float) -> float:
    return time.time() + seconds


def _free(free: int, _: Path) -> int:
    return free


def _garble(device: torch.device, rank: int, numbers: int) -> torch.Tensor:
    sent = fill(device, rank, numbers)
    sent[numbers // 2] += 1
    return sent


def _end(*_: object) -> NoReturn:
    os._exit(3)
