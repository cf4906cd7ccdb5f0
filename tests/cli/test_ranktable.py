"""trainferry ranktable: what it prints, writes and returns."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tests.launch.ranktable.tables import Document, server_list
from trainferry.cli import ranktable
from trainferry.cli.parser import Parser
from trainferry.errors import DataError, UsageError


def run(*arguments: object) -> int:
    parser = Parser()
    ranktable.add_parser(parser.add_subparsers())
    parsed = parser.parse_args(["ranktable", *map(str, arguments)])
    return int(parsed.run(parsed))


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return save(tmp_path / "good.json", server_list(8, 8))


def save(path: Path, document: Document) -> Path:
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_a_good_table_passes(good: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", good) == 0
    told = capsys.readouterr().out
    assert "server list, 2 servers, 16 devices (rules of the 910" in told
    assert "  ok       ranks            from 0, each once, without a gap\n" in told
    assert told.endswith("\nthis table can be used\n")
    assert "\033" not in told


def test_a_bad_table_fails_and_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = server_list(8, 8)
    for device in document["server_list"][1]["device"]:
        device["device_ip"] = "FILL-IN"
    assert run("check", save(tmp_path / "bad.json", document)) == 1
    told = capsys.readouterr().out
    assert "  error    valid addresses  they are IP addresses\n" in told
    assert "server `node-001`, device 0 (rank 8): `FILL-IN` is still to be filled in\n" in told
    assert "-> `hccn_tool -i 0 -ip -g` on `node-001` prints its address\n" in told
    assert "and 3 more; `--json` lists all" in told
    assert "8 errors: this table cannot be used" in told


def test_a_file_that_cannot_be_read_skips_the_rules(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.json"
    path.write_text("{", encoding="utf-8")
    assert run("check", path) == 1
    told = capsys.readouterr().out
    assert "no table can be read" in told
    assert "  skipped  25 rules" in told
    with pytest.raises(DataError, match="cannot be read as a rank table"):
        run("explain", path)


def test_warnings_fail_only_when_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    three = save(tmp_path / "three.json", server_list(8, 8, 8))
    assert run("check", three) == 0
    assert "this table can be used; 1 warning to read" in capsys.readouterr().out
    assert run("check", three, "--strict") == 1
    assert "--strict" in capsys.readouterr().err


def test_a_rule_that_waits_for_another_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = server_list(8, 8)
    document["server_list"][1]["device"][0]["rank_id"] = "0"
    run("check", save(tmp_path / "bad.json", document))
    assert "  skipped  rank order       until `ranks` is ok\n" in capsys.readouterr().out


def test_programs_read_verdicts_as_json(good: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", good, "--json", "--chip", "910b") == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["ok"] is True
    assert (answer["servers"], answer["devices"], answer["chip"]) == (2, 16, "910b")
    assert {"name", "state", "findings"} == answer["rules"][0].keys()


def test_a_terminal_gets_colour_unless_it_declines(
    good: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    run("check", good)
    assert "\033[32mok" in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    run("check", good)
    assert "\033" not in capsys.readouterr().out


def test_a_table_is_made_checked_converted_and_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, other = tmp_path / "table.json", tmp_path / "other.json"
    hosts = ["--host", "node-[001-128]", "--base-address", "10.1.0.1"]
    assert run("make", *hosts, "--to", table) == 0
    told = capsys.readouterr()
    assert told.out == f"{table}: server list, 128 servers, 1,024 devices\n"
    assert "device D of server S has 10.1.0.1 + 8 * S + D" in told.err
    assert run("check", table, "--strict") == 0
    assert run("convert", table, "--to", other) == 0
    assert run("check", other, "--strict") == 0
    capsys.readouterr()
    assert run("convert", other) == 0
    assert capsys.readouterr().out == table.read_text(encoding="utf-8")
    assert run("explain", other, "--rank", "1023") == 0
    assert "device 7 of server `node-128`" in capsys.readouterr().out
    assert run("explain", table, "--json") == 0
    assert len(json.loads(capsys.readouterr().out)["ranks"]) == 1024


def test_addresses_come_from_files_and_tables_go_through_pipes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for host in ("a", "b"):
        lines = [f"address_{id}=10.{id}.0.{ord(host)}" for id in range(8)]
        (tmp_path / f"{host}.conf").write_text("\n".join(lines), encoding="utf-8")
    hosts = tmp_path / "hosts"
    hosts.write_text("a\nb\n", encoding="utf-8")
    files = [tmp_path / "a.conf", tmp_path / "b.conf"]
    assert run("make", "--hosts", hosts, "--hccn", *files) == 0
    made = capsys.readouterr().out
    stream = io.TextIOWrapper(io.BytesIO(made.encode()))
    monkeypatch.setattr("sys.stdin", stream)
    assert run("check", "-") == 0


def test_a_bad_table_is_not_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    to = tmp_path / "table.json"
    base = ["--base-address", "10.0.0.1", "--to", to]
    with pytest.raises(DataError, match=r"this table has 1 error:\n  server `a` takes part with 3"):
        run("make", "--host", "a", "--devices", "3", *base)
    assert not to.exists()
    assert run("make", "--host", "a", "b", "c", *base) == 0
    assert "warning: the table has 3 servers" in capsys.readouterr().err


def test_addresses_are_never_guessed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match="not known, and are not guessed"):
        run("make", "--host", "a")
    with pytest.raises(UsageError, match="both say the addresses"):
        run("make", "--host", "a", "--hccn", "f", "--base-address", "10.0.0.1")
    assert run("make", "--host", "a", "--chip", "910b") == 0
    assert "device_ip" not in capsys.readouterr().out


def test_a_group_list_in_another_order_than_the_hosts_is_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    hosts = ["--host", "n9", "n10", "--base-address", "10.0.0.1"]
    assert run("make", *hosts, "--template", "group-list") == 0
    assert "rank 0 is on `n10`" in capsys.readouterr().err


def test_a_table_with_errors_is_not_converted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = {**server_list(8, 8), "server_count": "9", "status": "no", "version": "3"}
    document["server_list"][1]["device"][0]["rank_id"] = "0"
    bad = save(tmp_path / "bad.json", document)
    with pytest.raises(DataError, match=r"has 4 errors:(?s:.*)and 1 more") as told:
        run("convert", bad)
    assert "trainferry ranktable check" in told.value.hint
    assert run("explain", bad) == 0
    assert "4 errors in it" in capsys.readouterr().err


def test_ranks_change_only_when_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = server_list(8, 8)
    document["server_list"][0]["server_id"] = "z"
    path = save(tmp_path / "table.json", document)
    with pytest.raises(DataError, match="would have rank 8"):
        run("convert", path)
    assert run("convert", path, "--renumber") == 0
    assert '"pod_name": "z"' in capsys.readouterr().out
