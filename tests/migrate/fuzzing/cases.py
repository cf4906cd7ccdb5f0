"""Cases of the fuzzing: small projects, generated or made of real files, with options."""

from __future__ import annotations

import ast
import contextlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.migrate.fuzzing import mutations, programs
from trainferry.migrate.options import Options
from trainferry.migrate.rule import all_rules

_LARGEST = 60_000
_PATHS = (
    "program.py", "train.py", "model.py", "pkg/__init__.py", "pkg/input.py", "utils.py",
    "my file.py",
    "été.py", "pkg/数据.py", "a-b.py", "tf.py", "horovod.py", "setup.py", "tests/test_x.py",
    "pkg/sub/d.py",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """Files by path with their modes, and the options of the migration."""

    files: tuple[tuple[str, bytes, int], ...]
    options: Options
    what: str = ""


def generated_case(random: Random, options: Options | None = None) -> Case:
    """One or a few generated programs."""
    options = options or random_options(random)
    count = random.choice((1, 1, 1, 2, 3))
    files = [_file(random, path, _generated(random)) for path in _paths(random, count)]
    return Case(tuple(files), options, "generated")


def mutated_case(random: Random, texts: Sequence[str]) -> Case:
    """One or a few real programs, mutated, at times beside generated ones."""
    count = random.choice((1, 1, 1, 1, 2, 3))
    files = []
    for path in _paths(random, count):
        text = random.choice(texts) if random.random() < 0.9 else _generated(random)
        if len(text) > 5_000 and random.random() < 0.7:
            with contextlib.suppress(SyntaxError, ValueError):
                text = mutations.keep_few(random, text)
        elif random.random() < 0.3:
            text += "\n" + random.choice(texts)[:5_000]
        files.append(_file(random, path, mutations.mutated(random, text[:_LARGEST])))
    return Case(tuple(files), random_options(random), "mutated")


def random_options(random: Random) -> Options:
    also = [rule.name for rule in all_rules() if rule.is_opt_in]
    return Options(
        adapter=random.choice(("explicit", "patched")),
        chip=random.choice(("910", "910b", "910c", "950", "310p")),
        distributed=random.choice(("auto", "auto", "none", "horovod", "strategy", "hccl")),
        also=frozenset(one for one in also if random.random() < 0.5),
        lint=random.random() < 0.1,
    )


def read_corpus(folders: Sequence[Path]) -> list[str]:
    """The texts of the Python files below these folders, and the programs in their strings."""
    texts: list[str] = []
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            try:
                text = path.read_text("utf-8")
            except (UnicodeDecodeError, OSError):
                continue
            if "tests" in path.parts:
                texts += _programs_in(text)
            elif 50 < len(text) < _LARGEST:
                texts.append(text)
    return texts


def _programs_in(text: str) -> list[str]:
    """Tests hold programs in their strings."""
    import textwrap

    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            nodes = list(ast.walk(ast.parse(text)))
        except (SyntaxError, ValueError):
            return []
        for node in nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                program = textwrap.dedent(node.value)
                if "\n" in program and "import" in program:
                    found.append(program)
    return found


def _paths(random: Random, count: int) -> list[str]:
    if count == 1 and random.random() < 0.7:
        return ["program.py"]
    return random.sample(_PATHS, count)


def _generated(random: Random) -> str:
    statements = random.choice((2, 4, 8, 16))
    text = programs.program(random, statements, old=random.random() < 0.08)
    return mutations.mutated(random, text, 4) if random.random() < 0.6 else text


def _file(random: Random, path: str, text: str) -> tuple[str, bytes, int]:
    mode = random.choice((0o644, 0o644, 0o755, 0o600, 0o444))
    if random.random() < 0.08:
        return path.removesuffix(".py") + ".ipynb", mutations.notebook(random, text), mode
    return path, mutations.encoded(random, text), mode
