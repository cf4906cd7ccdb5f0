"""Fuzzes `trainferry migrate` with generated programs and mutated real ones.

    python3 benchmarks/fuzz_migrate.py --minutes 60 --corpus FOLDER... --to FOLDER

Every case is migrated in a child process and checked: no rule breaks, no file is lost, what
parsed parses, lines that no finding is about stay, line ends and modes stay, all reports can be
made, what is told lies in the file, a second run changes nothing, `git apply` of the patch leads
back, and another hash seed gives the same. Taking 20 s of processor time is a problem too.

Each new kind of problem is made small and written to the folder: the files of the case, and
`problem.txt` with the reason, the options and the number of the case. A case is given by seed and
number alone: `--seed S --case N` with the same corpus runs it again. PYTHONPATH names the code to
test where it is not the one beside this file, as a copy that nobody edits meanwhile.
"""

from __future__ import annotations

import argparse
import json
import os
import selectors
import subprocess
import sys
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path += [str(ROOT), str(ROOT / "src")]  # behind PYTHONPATH, which may have other code to test

_SECONDS = 20.0
_SHRINK_SECONDS = 45.0
_CASES_PER_CHILD = 400


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--case", type=int, help="run only this case, and print what is wrong")
    parser.add_argument("--corpus", type=Path, nargs="*", default=[], metavar="FOLDER")
    parser.add_argument("--to", type=Path, default=Path("fuzz"), metavar="FOLDER")
    parser.add_argument("--no-shrink", action="store_true", help="write cases as they are")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        return _serve(arguments)
    if arguments.case is not None:
        return _run_one(arguments)
    return _Fuzz(arguments).run()


# The child: makes and checks the cases it is told the numbers of.


def _serve(arguments: argparse.Namespace) -> int:
    import resource

    from tests.migrate.fuzzing.cases import read_corpus
    from tests.migrate.fuzzing.checks import check_case
    from tests.migrate.fuzzing.shrinking import shrink

    limit = 4 << 30
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    texts = read_corpus(arguments.corpus)
    print(json.dumps({"texts": len(texts)}), file=out, flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        case = _make(arguments.seed, asked["case"], texts)
        if asked["do"] == "shrink":
            small = shrink(case, asked["mark"], _SHRINK_SECONDS)
            answer: dict[str, Any] = _written(small)
        elif asked["do"] == "make":
            answer = _written(case)
        else:
            checked = check_case(case, full=asked["case"] % 8 == 0)
            answer = {**asdict(checked), "what": case.what}
        print(json.dumps(answer), file=out, flush=True)
    return 0


def _make(seed: int, number: int, texts: list[str]) -> Any:  # noqa: ANN401 - a Case
    from tests.migrate.fuzzing.cases import generated_case, mutated_case

    random = Random(f"{seed} {number}")
    if not texts or random.random() < 0.4:
        return generated_case(random)
    return mutated_case(random, texts)


def _written(case: Any) -> dict[str, Any]:  # noqa: ANN401 - a Case
    files = [[path, data.decode("latin-1"), mode] for path, data, mode in case.files]
    return {"files": files, "options": repr(case.options)}


def _run_one(arguments: argparse.Namespace) -> int:
    from tests.migrate.fuzzing.cases import read_corpus
    from tests.migrate.fuzzing.checks import check_case

    case = _make(arguments.seed, arguments.case, read_corpus(arguments.corpus))
    _save(arguments.to, _written(case), "")
    checked = check_case(case, full=True)
    for problem in checked.problems:
        print(f"{problem.mark}\n{problem.text}\n")
    return int(bool(checked.problems))


# The parent: keeps children busy, and ends those that hang.


class _Child:
    def __init__(self, arguments: argparse.Namespace, hash_seed: int) -> None:
        command = [sys.executable, __file__, "--child", "--seed", str(arguments.seed), "--corpus"]
        command += map(str, arguments.corpus)
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": str(hash_seed)},
        )
        self.cases = 0
        started = self._wait(120.0)
        assert isinstance(started, dict), "the child does not start"

    def ask(self, seconds: float, **what: object) -> dict[str, Any] | str:
        """The answer; a word when there is none."""
        assert self.process.stdin is not None
        self.cases += 1
        try:
            self.process.stdin.write(json.dumps(what) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return "crash"
        return self._wait(seconds)

    def _wait(self, seconds: float) -> dict[str, Any] | str:
        assert self.process.stdout is not None
        end = self._cpu_seconds() + seconds  # the machine may have more to do
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while not selector.select(seconds / 4):
                if self._cpu_seconds() > end - seconds / 4:
                    return "hang"
        line = self.process.stdout.readline()
        if not line:
            return "crash"
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


class _Fuzz:
    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.started = time.monotonic()
        self.cases: Counter[str] = Counter()
        self.seen: Counter[str] = Counter()
        self.changed = self.told = 0
        self.child = _Child(arguments, 1)
        self.other = _Child(arguments, 2)

    def run(self) -> int:
        number = self.arguments.first
        next_line = self.started
        while time.monotonic() - self.started < self.arguments.minutes * 60:
            self.one(number)
            number += 1
            if time.monotonic() > next_line:
                next_line += 60
                self.say(number)
        self.say(number)
        for mark, count in self.seen.most_common():
            print(f"{count:6,} {mark}")
        self.child.end()
        self.other.end()
        return int(bool(self.seen))

    def one(self, number: int) -> None:
        answer = self.child.ask(_SECONDS, do="check", case=number)
        if isinstance(answer, str):
            self.child.end()
            self.child = _Child(self.arguments, 1)
            self.found(number, answer, f"the child came to a {answer}")
            return
        self.cases[answer["what"]] += 1
        self.changed += answer["changed"]
        self.told += answer["told"]
        for problem in answer["problems"]:
            self.found(number, problem["mark"], problem["text"])
        if number % 20 == 0:
            self.compare(number, answer["digest"])
        if self.child.cases >= _CASES_PER_CHILD:
            self.child.end()
            self.child = _Child(self.arguments, 1)

    def compare(self, number: int, digest: str) -> None:
        answer = self.other.ask(_SECONDS, do="check", case=number)
        if isinstance(answer, str):
            self.other.end()
            self.other = _Child(self.arguments, 2)
            self.found(number, f"another hash seed leads to a {answer}", "")
        elif answer["digest"] != digest:
            self.found(number, "another hash seed gives another result", "")
        if self.other.cases >= _CASES_PER_CHILD:
            self.other.end()
            self.other = _Child(self.arguments, 2)

    def found(self, number: int, mark: str, text: str) -> None:
        self.seen[mark] += 1
        if self.seen[mark] > 1:
            return
        print(f"case {number}: {mark}", flush=True)
        how = "make" if self.arguments.no_shrink or mark in ("hang", "crash") else "shrink"
        if "hash seed" in mark:
            how = "make"
        answer = self.child.ask(_SHRINK_SECONDS + 60, do=how, case=number, mark=mark)
        if isinstance(answer, str):
            self.child.end()
            self.child = _Child(self.arguments, 1)
            answer = self.child.ask(_SECONDS, do="make", case=number)
        if isinstance(answer, dict):
            name = "".join(one if one.isalnum() else "_" for one in mark)[:80]
            _save(
                self.arguments.to / name,
                answer,
                f"{mark}\ncase {number} of seed {self.arguments.seed}\n{text}\n",
            )

    def say(self, number: int) -> None:
        minutes = (time.monotonic() - self.started) / 60
        cases = sum(self.cases.values())
        print(
            f"{minutes:6.1f} min  next case {number:,}  checked {dict(self.cases)}  "
            f"{cases / max(minutes, 0.01):.0f} a minute  files changed {self.changed:,}  "
            f"findings told {self.told:,}  problems {sum(self.seen.values()):,} of "
            f"{len(self.seen)} kinds",
            flush=True,
        )


def _save(folder: Path, answer: dict[str, Any], text: str) -> None:
    for path, data, mode in answer["files"]:
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.exists():
            file.chmod(0o644)
        file.write_bytes(data.encode("latin-1"))
        file.chmod(mode)
    (folder / "problem.txt").write_text(f"{text}{answer['options']}\n", errors="backslashreplace")


if __name__ == "__main__":
    sys.exit(main())
