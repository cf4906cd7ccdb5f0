"""Entries per second of an LMDB file of words: trainferry's reader and the library, in one run.

Both read the same file, from the page cache, in one thread, and take turns. A word is a picture
of 0.7 to 4 KiB and a label, two entries; the bytes are random, for nothing decodes them here.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import lmdb

from trainferry.train.data.lmdb.file import LmdbFile

_AT_ONCE = 5_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500_000, help="words in the file")
    parser.add_argument("--rounds", type=int, default=7, help="measurements of each reader")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        path = make_lmdb(Path(place), arguments.count)
        readers: dict[str, Callable[[Path], int]] = {
            "trainferry": read_ours,
            f"lmdb {version('lmdb')}": read_theirs,
        }
        rates: dict[str, list[float]] = {name: [] for name in readers}
        for _ in range(arguments.rounds + 1):
            for name, read in readers.items():
                rates[name].append(measure(read, path, 2 * arguments.count + 1))
        size = path.stat().st_size
    print(f"{arguments.count:,} words, {size / 1e9:.2f} GB, median of {arguments.rounds} rounds\n")
    print("| reader | entries per CPU second | spread |\n|---|---:|---:|")
    for name, each in rates.items():
        warm = each[1:]
        print(f"| {name} | {statistics.median(warm):,.0f} | {min(warm):,.0f} to {max(warm):,.0f} |")
    if arguments.json:
        arguments.json.write_text(json.dumps({name: each[1:] for name, each in rates.items()}))


def make_lmdb(place: Path, count: int) -> Path:
    dice = random.Random(0)
    noise = dice.randbytes(4096)
    with lmdb.open(str(place), map_size=1 << 40, sync=False) as environment:
        for start in range(1, count + 1, _AT_ONCE):
            with environment.begin(write=True) as transaction:
                for number in range(start, min(start + _AT_ONCE, count + 1)):
                    transaction.put(b"image-%09d" % number, noise[: dice.randint(700, 4096)])
                    transaction.put(b"label-%09d" % number, b"word%d" % dice.randrange(10**6))
        with environment.begin(write=True) as transaction:
            transaction.put(b"num-samples", b"%d" % count)
    return place / "data.mdb"


def measure(read: Callable[[Path], int], path: Path, entries: int) -> float:
    started = time.process_time()
    found = read(path)
    seconds = time.process_time() - started
    assert found == entries, f"{found} of {entries} entries"
    return entries / seconds


def read_ours(path: Path) -> int:
    return sum(1 for key, value in LmdbFile(path).items())


def read_theirs(path: Path) -> int:
    with (
        lmdb.open(str(path.parent), readonly=True, lock=False) as environment,
        environment.begin(buffers=True) as transaction,
    ):
        return sum(1 for key, value in transaction.cursor())


if __name__ == "__main__":
    main()
