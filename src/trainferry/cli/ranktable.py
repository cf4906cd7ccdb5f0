"""trainferry ranktable: make, check, convert and explain the rank tables of Ascend NPUs."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from trainferry.counted import counted
from trainferry.errors import UsageError

if TYPE_CHECKING:
    from trainferry.cli.subparsers import Subparsers
    from trainferry.launch.ranktable.chips import Chip
    from trainferry.launch.ranktable.hosts import Host
    from trainferry.launch.ranktable.make import Addresses
    from trainferry.launch.ranktable.reading import Reading
    from trainferry.launch.ranktable.table import RankTable

_TEMPLATES = ("server-list", "group-list")
_CHIPS = ("910", "910b", "910c")


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "ranktable", help="make, check, convert and explain rank tables of Ascend NPUs"
    )
    commands = parser.add_subparsers(required=True, metavar="WHAT")
    _add_make(commands)
    _add_check(commands)
    _add_convert(commands)
    _add_explain(commands)


def run_make(arguments: argparse.Namespace) -> int:
    from trainferry.launch.ranktable.check import check_table, require_sound
    from trainferry.launch.ranktable.chips import CHIPS
    from trainferry.launch.ranktable.hosts import name_hosts, parse_devices, read_hosts
    from trainferry.launch.ranktable.make import make_table

    hosts = name_hosts(arguments.host)
    hosts += [host for path in arguments.hosts for host in read_hosts(path)]
    chip = CHIPS[arguments.chip]
    addresses = _addresses(arguments, hosts, chip)
    devices = parse_devices(arguments.devices)
    table = make_table(hosts, devices, addresses, arguments.template)
    check = check_table(table, arguments.chip)
    require_sound(check, "this table")
    for finding in check.warnings:
        _say(f"warning: {finding.sentence()}\n  -> {finding.fix}")
    if [server.id for server in table.servers] != [host.name for host in hosts]:
        _say("note: a group list holds no ranks; HCCL numbers its servers by id as text, so they")
        _say(f"  are written in that order: rank 0 is on `{table.servers[0].id}`")
    _write(table, arguments.to)
    return 0


def run_check(arguments: argparse.Namespace) -> int:
    from trainferry.cli.ranktable_verdicts import format_check
    from trainferry.launch.ranktable.check import check_reading

    check = check_reading(_read(arguments.table), arguments.chip)
    if arguments.json:
        print(json.dumps({"file": str(arguments.table), **check.to_json()}, indent=2))
    else:
        print(format_check(check, str(arguments.table), colour=_wants_colour()))
    if arguments.strict and check.warnings and not check.errors:
        _say("refused: with --strict, warnings count as errors")
        return 1
    return 1 if check.errors else 0


def run_convert(arguments: argparse.Namespace) -> int:
    from trainferry.launch.ranktable.check import check_reading, require_sound
    from trainferry.launch.ranktable.convert import convert_table

    check = check_reading(_read(arguments.table), arguments.chip)
    table = require_sound(check, f"`{arguments.table}`")
    template = arguments.template
    if template is None:
        template = "group-list" if table.template == "server-list" else "server-list"
    _write(convert_table(table, template, renumber=arguments.renumber), arguments.to)
    return 0


def run_explain(arguments: argparse.Namespace) -> int:
    from trainferry.launch.ranktable.check import check_reading
    from trainferry.launch.ranktable.explain import describe_table, explain_rank, explain_table

    check = check_reading(_read(arguments.table), arguments.chip)
    name = str(arguments.table)
    table = _readable(check.table, name)
    if arguments.json:
        print(json.dumps(describe_table(table, name, arguments.rank), indent=2))
    elif arguments.rank is not None:
        print(explain_rank(table, arguments.rank, name))
    else:
        print(explain_table(table, check.chip, name))
    if check.errors:
        number = len(check.errors)
        _say(f"\nnote: {counted(number, 'error')} in it; `trainferry ranktable")
        _say(f"  check {name}` shows {'it' if number == 1 else 'them'}")
    return 0


def _addresses(arguments: argparse.Namespace, hosts: list[Host], chip: Chip) -> Addresses | None:
    from trainferry.launch.ranktable.hccn import read_addresses
    from trainferry.launch.ranktable.make import count_addresses

    if arguments.hccn and arguments.base_address:
        raise UsageError(
            "`--hccn` and `--base-address` both say the addresses", hint="give one of them"
        )
    if arguments.hccn:
        return read_addresses(arguments.hccn, [host.name for host in hosts])
    if arguments.base_address:
        _say(
            f"note: addresses are counted: device D of server S has {arguments.base_address} + "
            f"{chip.device_ids} * S + D;\n  they must be those that the devices have"
        )
        return count_addresses(hosts, arguments.base_address, chip)
    if len(hosts) == 1 and not chip.is_first_generation:
        return None
    raise UsageError(
        "the addresses of the devices are not known, and are not guessed",
        hint="`--hccn HOST=FILE` with each host's /etc/hccn.conf, or what `hccn_tool -i N -ip -g` "
        "prints; `--base-address` where they count up",
    )


def _read(path: Path) -> Reading:
    from trainferry.launch.ranktable.reading import parse_table, read_table

    return parse_table(sys.stdin.buffer.read()) if str(path) == "-" else read_table(path)


def _readable(table: RankTable | None, name: str) -> RankTable:
    from trainferry.errors import DataError

    if table is None:
        raise DataError(
            f"`{name}` cannot be read as a rank table",
            hint=f"`trainferry ranktable check {name}` says why",
        )
    return table


def _write(table: RankTable, to: Path | None) -> None:
    from trainferry.launch.ranktable.document import format_document, write_whole
    from trainferry.launch.ranktable.reading import write_table
    from trainferry.launch.ranktable.table import TEMPLATE_WORDS, count_of

    text = format_document(write_table(table)) + "\n"
    if to is None:
        print(text, end="")
        return
    write_whole(to, text)
    servers = count_of(len(table.servers), "server")
    words = TEMPLATE_WORDS[table.template]
    print(f"{to}: {words}, {servers}, {count_of(table.size, 'device')}")


def _add_make(commands: Subparsers) -> None:
    parser = commands.add_parser("make", help="a new table from hosts and addresses of devices")
    parser.add_argument(
        "--host",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME",
        help="servers by name, or many as 'node[01-16]'",
    )
    parser.add_argument(
        "--hosts",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="a host on each line, as for MPI; `slots=4` where one has other devices",
    )
    parser.add_argument(
        "--devices", default="8", help="of each server: how many, or which, as 4-7 (default: 8)"
    )
    parser.add_argument(
        "--hccn",
        nargs="+",
        action="extend",
        default=[],
        metavar="HOST=FILE",
        help="addresses: each host's hccn.conf, or what `hccn_tool -i N -ip -g` printed; also "
        "a folder of files called after hosts, or one file with `HOST: ` before each line",
    )
    parser.add_argument(
        "--base-address", metavar="IP", help="address of the first device; the others count up"
    )
    parser.add_argument("--template", choices=_TEMPLATES, default="server-list")
    parser.add_argument("--chip", choices=_CHIPS, default="910", help="whose rules (default: 910)")
    _add_to(parser)
    parser.set_defaults(run=run_make)


def _add_check(commands: Subparsers) -> None:
    parser = commands.add_parser("check", help="all rules over a table; exit 1 if it has errors")
    _add_table(parser)
    parser.add_argument("--strict", action="store_true", help="exit 1 for warnings too")
    parser.add_argument("--json", action="store_true", help="print the verdicts as JSON")
    parser.set_defaults(run=run_check)


def _add_convert(commands: Subparsers) -> None:
    parser = commands.add_parser("convert", help="a table in the other template")
    _add_table(parser)
    parser.add_argument("--template", choices=_TEMPLATES, help="default: the other one")
    parser.add_argument(
        "--renumber",
        action="store_true",
        help="let HCCL number anew where a group list cannot keep the ranks",
    )
    _add_to(parser)
    parser.set_defaults(run=run_convert)


def _add_explain(commands: Subparsers) -> None:
    parser = commands.add_parser("explain", help="what a table says, in plain words")
    _add_table(parser)
    parser.add_argument("--rank", type=int, metavar="N", help="where this rank runs, and how")
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    parser.set_defaults(run=run_explain)


def _add_table(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", type=Path, metavar="FILE", help="the rank table; - for stdin")
    parser.add_argument(
        "--chip", choices=_CHIPS, help="whose rules (default: 910; 910c for super pods)"
    )


def _add_to(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--to", type=Path, metavar="FILE", help="a new file to write (default: stdout)"
    )


def _wants_colour() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def _say(text: str) -> None:
    print(text, file=sys.stderr)
