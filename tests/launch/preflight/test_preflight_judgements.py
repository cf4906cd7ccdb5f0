"""What a preflight says of facts, and how it shows it; no processes are started."""

from __future__ import annotations

import json
import socket
import sys
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from tests.launch.ranktable.tables import server_list
from tests.launch.write.plans import plan
from trainferry.errors import DataError, UsageError
from trainferry.launch.preflight.__main__ import build_parser, main
from trainferry.launch.preflight.clocks import Offset, judge_clocks
from trainferry.launch.preflight.command import preflight_command
from trainferry.launch.preflight.crew import Crew, Hello, judge_machines, judge_ranks
from trainferry.launch.preflight.device import judge_devices, look_at_device
from trainferry.launch.preflight.folders import folders_of_a_run, judge_folders, look_at_folder
from trainferry.launch.preflight.limited import ask_within
from trainferry.launch.preflight.limits import files_needed, judge_limits, look_at_limits
from trainferry.launch.preflight.names import judge_names, look_at_name
from trainferry.launch.preflight.place import Place, read_place
from trainferry.launch.preflight.ports import Door, goals_of, knock, listen
from trainferry.launch.preflight.report import (
    Check,
    Problem,
    Report,
    read_report,
    report_from_json,
    write_report,
)
from trainferry.launch.preflight.show import format_report
from trainferry.launch.preflight.sums import Outcomes, bus_speed, judge_sums, name_culprits
from trainferry.launch.preflight.table import judge_table, look_at_table
from trainferry.launch.preflight.trial import TrialPlan
from trainferry.launch.preflight.versions import find_versions, judge_versions

PLACE = Place(0, 4, 0, 2, device=0, address="10.0.0.1", port=29500)
ENVIRONMENT = {
    "RANK": "3",
    "WORLD_SIZE": "4",
    "LOCAL_RANK": "1",
    "LOCAL_WORLD_SIZE": "2",
    "MASTER_ADDR": "10.0.0.1",
    "MASTER_PORT": "29500",
}


def crew(*machines: int, place: Place = PLACE) -> Crew:
    """A rank for each argument, which is the number of its machine."""
    hellos = [
        Hello(rank, f"node-{number}", f"10.0.0.{number + 1}", rank % place.local_ranks, 2)
        for rank, number in enumerate(machines)
    ]
    return Crew(place, tuple(hellos))


def sentences(check: Check) -> list[str]:
    return [problem.sentence for problem in check.problems]


def test_a_place_is_read_from_what_torchrun_sets() -> None:
    place = read_place(ENVIRONMENT)
    assert (place.rank, place.machines, place.device) == (3, 2, 1)
    assert read_place({**ENVIRONMENT, "DEVICE_ID": "5"}).device == 5


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"RANK": ""}, "RANK is not set"),
        ({"RANK": "4"}, "no rank 4 among 4"),
        ({"MASTER_PORT": "http"}, "MASTER_PORT is `http`"),
    ],
)
def test_a_process_that_is_no_rank_is_told_so(changed: dict[str, str], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        read_place({**ENVIRONMENT, **changed})


def test_the_program_by_itself_says_how_it_is_started(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("RANK", raising=False)
    assert main([]) == 2
    assert "torchrun" in capsys.readouterr().err


def test_the_command_carries_what_the_plan_says() -> None:
    wanted = plan(device="npu", output_folder=PurePosixPath("/runs"))
    command = preflight_command(
        wanted, 7.5, backend="hccl", facts={"CANN": "8.0 = new"}, report=Path("/r"), chip="910b"
    )
    assert command[:3] == (sys.executable, "-m", "trainferry.launch.preflight")
    parsed = build_parser().parse_args(command[3:])
    assert (parsed.seconds, parsed.device, parsed.backend) == (7.5, "npu", "hccl")
    assert parsed.chip == "910b"
    assert (parsed.fact, parsed.folder, parsed.report) == (
        ["CANN=8.0 = new"],
        [Path("/runs/logs")],
        Path("/r"),
    )


def test_a_crew_names_machines_by_those_who_came() -> None:
    came = crew(0, 0, 1)
    assert came.name_all([0, 1, 2, 3]) == "ranks 0-1 (node-0), ranks 2-3 (node-1)"
    assert judge_ranks(came).outcome == "wrong"
    assert judge_ranks(came).measured == {"missing": [3]}


def test_machines_that_share_a_name_are_told_apart_by_address() -> None:
    hellos = [Hello(rank, "node", f"10.0.0.{rank // 2}", rank % 2, 2) for rank in range(4)]
    came = Crew(PLACE, tuple(hellos))
    assert [machine.name for machine in came.machines] == ["node 10.0.0.0", "node 10.0.0.1"]
    assert judge_machines(came).outcome == "ok"


def test_two_planned_machines_that_are_one_are_wrong() -> None:
    told = sentences(judge_machines(crew(0, 0, 0, 0)))
    assert told == ["node-0 runs ranks 0-3, which are planned for machines 0-1"]


def test_ranks_of_one_machine_on_two_are_wrong() -> None:
    told = sentences(judge_machines(crew(0, 1, 2, 2)))
    assert told == ["the ranks planned for machine 0 run on node-0 and node-1"]


def test_two_ranks_on_one_device_are_wrong() -> None:
    came = crew(0, 0, 0, 0)
    facts = {rank: {"name": "X", "id": "", "problem": ""} for rank in range(4)}
    assert sentences(judge_devices(came, "npu", facts)) == [
        "ranks 0 and 2 use one device: number 0 of node-0",
        "ranks 1 and 3 use one device: number 1 of node-0",
    ]
    apart = {rank: {"name": "X", "id": f"id-{rank}", "problem": ""} for rank in range(4)}
    assert judge_devices(came, "npu", apart).outcome == "ok"


def test_a_device_that_is_not_there_is_named() -> None:
    found = look_at_device("no-such-device", 0)
    assert found["problem"].startswith("no `no-such-device` device")
    check = judge_devices(crew(0, 0, 1, 1), "npu", {0: found})
    assert sentences(check)[0].startswith("rank 0 (node-0): no `no-such-device`")


def test_third_numbers_of_python_may_differ() -> None:
    came = crew(0, 0)
    patch = judge_versions(came, {0: {"python": "3.11.7"}, 1: {"python": "3.11.9"}})
    minor = judge_versions(came, {0: {"python": "3.11.7"}, 1: {"python": "3.12.7"}})
    assert (patch.outcome, minor.outcome) == ("warning", "wrong")


def test_drivers_may_differ_and_their_toolkits_may_not() -> None:
    facts = {0: {"CANN": "8.0"}, 1: {"CANN": "8.1", "NPU driver": "24"}}
    outcomes = {one.sentence: one.outcome for one in judge_versions(crew(0, 0, 1), facts).problems}
    assert outcomes == {
        "CANN: 8.0 on 1 rank, 8.1 on rank 1 (node-0)": "wrong",
        "NPU driver: none on 1 rank, 24 on rank 1 (node-0)": "warning",
    }


def test_versions_are_those_of_this_process() -> None:
    import torch

    found = find_versions()
    assert found["torch"] == torch.__version__
    assert found["trainferry's files"] == find_versions()["trainferry's files"]


def test_a_folder_that_cannot_be_written_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    good = look_at_folder(tmp_path / "not" / "yet", lambda _: 10**12)
    bad = look_at_folder(tmp_path / "file" / "under", lambda _: 10**12)
    assert (good["problem"], bad["problem"]) == ("", "not a directory")
    check = judge_folders(crew(0, 0), {0: [good], 1: [bad]})
    assert sentences(check) == [
        f"rank 1 (node-0) cannot write to {tmp_path}/file/under: not a directory"
    ]


def test_the_folders_of_a_run_are_each_looked_at_once(tmp_path: Path) -> None:
    folders = folders_of_a_run([tmp_path, Path.cwd(), tmp_path])
    assert len(folders) == len(set(folders))
    assert {tmp_path, Path.cwd()} <= set(folders)


def test_small_limits_are_warnings() -> None:
    came = crew(0, 0)
    fine = look_at_limits()
    small = judge_limits(came, {0: fine, 1: {"shared_bytes": 64 * 1024**2, "files": 256}})
    assert small.outcome == "warning"
    assert sentences(small)[0] == "rank 1 (node-0): 64 MiB of shared memory"
    assert "256 open files allowed, 1,024 wanted" in sentences(small)[1]
    assert files_needed(1024) > 4096
    assert judge_limits(came, {0: {"shared_bytes": None, "files": None}}).outcome == "ok"


def test_a_name_that_leads_home_is_told_with_the_interface() -> None:
    local = {"leads_to": ["127.0.1.1"], "interface": "", "wanted": "eth0"}
    real = {"leads_to": ["10.0.0.2"], "interface": "", "wanted": "eth0"}
    check = judge_names(crew(0, 0, 1, 1), {0: local, 2: real})
    assert check.outcome == "warning"
    assert sentences(check)[0].startswith("the name node-0 leads to 127.0.1.1 on node-0")
    assert "GLOO_SOCKET_IFNAME=eth0" in check.problems[0].fix
    assert judge_names(crew(0, 0), {0: local}).outcome == "ok"


def test_the_interface_of_an_address_is_found() -> None:
    found = look_at_name("localhost", "127.0.0.1")
    assert "127.0.0.1" in found["leads_to"] or found["interface"]
    assert found["wanted"] in {name for _, name in socket.if_nameindex()}


def test_a_ring_needs_two_connections_a_machine() -> None:
    place = replace(PLACE, ranks=8)
    machines = crew(0, 0, 1, 1, 2, 2, 3, 3, place=place).machines
    goals = [[goal.number for goal in goals_of(machine, machines)] for machine in machines]
    assert goals == [[1], [2, 0], [3, 0], [0]]


def test_a_door_answers_only_with_its_own_word() -> None:
    door = Door("127.0.0.1", listen("127.0.0.1"))
    notice = door.notice()
    assert knock(notice) == ""
    assert knock({**notice, "word": "00" * 16}) == "something else answers there"
    door.close()
    assert knock(notice) == "connection refused"


def test_a_machine_that_tells_no_time_is_named() -> None:
    check = judge_clocks(crew(0, 0, 1, 1), {1: None})
    assert sentences(check) == ["rank 2 (node-1) did not tell its time within 5 s"]
    near = judge_clocks(crew(0, 0, 1, 1), {1: Offset(-0.25, 0.125)})
    assert near.sentence == "at most 0.250 s apart from rank 0's (± 0.125 s)"
    assert near.outcome == "ok"


def test_the_speed_is_what_each_rank_sends() -> None:
    assert bus_speed(64_000_000, 4, 0.5) == 192_000_000
    assert bus_speed(64_000_000, 1, 0.5) == 0


@pytest.mark.parametrize(
    ("heard", "named"),
    [
        ({0: [2], 1: [2], 2: [2], 3: [2]}, [("sends wrong numbers", (2,))]),
        ({0: [], 1: [0, 2, 3], 2: [], 3: []}, [("hears wrong numbers", (1,))]),
        ({0: [], 1: [3], 2: [], 3: []}, [("do not hear each other rightly", (3, 1))]),
        ({0: [], 1: [], 2: [], 3: []}, []),
    ],
)
def test_who_is_at_fault_is_found_pair_by_pair(
    heard: dict[int, list[int]], named: list[tuple[str, tuple[int, ...]]]
) -> None:
    assert name_culprits(heard, 4) == named


def test_an_all_reduce_that_nobody_ends_names_who_is_gone() -> None:
    outcomes = Outcomes({}, waiting=[0, 1, 2], seconds=60.0)
    check = judge_sums(crew(0, 0, 1, 1), TrialPlan("gloo", "cpu", 60.0), outcomes)
    assert sentences(check) == [
        "rank 3 (node-1): no sum, and no other word within 60 s",
        "ranks 0-1 (node-0), rank 2 (node-1): still waiting for others after 60 s",
    ]


def test_a_wrong_sum_that_pairs_do_not_explain_is_told() -> None:
    told = {"error": "", "seconds": {"1 MB": 0.1, "64 MB": 1.0}, "wrong": 3}
    sums = {rank: {**told, "wrong": 3 * (rank == 1)} for rank in range(4)}
    outcomes = Outcomes(sums, {rank: [] for rank in range(4)})
    check = judge_sums(crew(0, 0, 1, 1), TrialPlan("gloo", "cpu", 60.0), outcomes)
    assert check.outcome == "wrong"
    assert "rank 1 (node-0) got a wrong sum" in sentences(check)[0]
    assert "comes and goes" in sentences(check)[1]


def test_a_rank_table_that_some_lack_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    path.write_text(json.dumps(server_list(2, 2)))
    facts: dict[int, Any] = {rank: look_at_table(path, rank, None) for rank in range(4)}
    came = crew(0, 0, 1, 1)
    assert judge_table(came, facts).outcome in ("ok", "warning")
    facts[3] = None
    facts[2] = look_at_table(tmp_path / "none.json", 2, None)
    told = sentences(judge_table(came, facts))
    assert "rank 3 (node-1) has no rank table, others have" in told
    assert any("none.json` cannot be read" in sentence for sentence in told)


def test_servers_of_the_table_are_machines(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    path.write_text(json.dumps(server_list(2, 2)))
    facts = {rank: look_at_table(path, rank, None) for rank in range(4)}
    told = sentences(judge_table(crew(0, 1, 0, 1), facts))
    assert "ranks of node-0 stand under node-000 and node-001 in the table" in told
    assert "ranks of server node-001 run on node-0 and node-1" in told


def test_a_table_for_another_number_of_ranks_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    path.write_text(json.dumps(server_list(8)))
    facts = {rank: look_at_table(path, rank, None) for rank in range(4)}
    told = sentences(judge_table(crew(0, 0, 1, 1), facts))
    assert told.count("the rank table has 8 devices for 4 ranks") == 1


def a_report(told_by: int = 0) -> Report:
    wrong = Problem("wrong", "rank 3 (node-1) is missing after 5.0 s", "start it")
    small = Problem("warning", "64 MiB of shared memory", "--shm-size=8g")
    checks = (
        Check("ranks", "3 of 4 ranks came", (wrong,), measured={"missing": [3]}),
        Check("limits", "64 MiB", (small,)),
        Check("versions", "equal"),
        Check("all-reduce over gloo", "until all ranks come", is_skipped=True),
    )
    return Report(4, 2, told_by, checks, 5.25)


def test_a_report_says_what_to_do_below_each_problem() -> None:
    assert format_report(a_report(), colour=False) == (
        "preflight of 4 ranks on 2 machines, 5.2 s\n"
        "\n"
        "  wrong    ranks                 3 of 4 ranks came\n"
        "                                 rank 3 (node-1) is missing after 5.0 s\n"
        "                                 -> start it\n"
        "  warning  limits                64 MiB\n"
        "                                 64 MiB of shared memory\n"
        "                                 -> --shm-size=8g\n"
        "  ok       versions              equal\n"
        "  skipped  all-reduce over gloo  until all ranks come\n"
        "\n"
        "1 problem and 1 warning: do not start this run yet"
    )


def test_a_narrow_terminal_breaks_lines_between_words() -> None:
    shown = format_report(a_report(), colour=False, columns=60)
    assert max(map(len, shown.splitlines())) <= 63
    assert "missing after 5.0 s" not in shown


def test_colours_are_only_where_they_are_wanted() -> None:
    assert "\033[31mwrong" in format_report(a_report(), colour=True)
    assert "\033" not in format_report(a_report(), colour=False)


def test_a_report_survives_json() -> None:
    report = a_report()
    assert report_from_json(json.loads(json.dumps(report.to_json()))) == report
    assert report.to_json()["ok"] is False
    assert report.to_json()["checks"][3]["outcome"] == "skipped"


def test_what_rank_0_says_is_the_report_of_every_machine(tmp_path: Path) -> None:
    late = Check("connection", "", (Problem("wrong", "rank 3: came too late", "start together"),))
    write_report(a_report(), tmp_path, 2)
    write_report(Report(4, 2, 3, (late,)), tmp_path, 3)
    read = read_report(tmp_path)
    assert read.told_by == 0
    assert read.checks == (*a_report().checks, late)


def test_no_report_at_all_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no rank wrote a report"):
        read_report(tmp_path)


def test_a_question_without_an_answer_has_a_limit() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening, pytest.raises(TimeoutError):
        ask_within(0.05, listening.accept)
