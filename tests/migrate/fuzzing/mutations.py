"""Changes programs at random: names, calls, statements, layout, encodings, and broken bytes."""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
import warnings
from collections.abc import Callable
from random import Random

from tests.migrate.fuzzing import programs

ALIASES = ("tf", "hvd", "keras", "K", "slim", "np", "sess", "config", "opt", "model", "dataset")
NEW_NAMES = ("T", "_", "tf1", "hvd2", "张量", "été", "npu_ops", "npu_config_proto", "os", "atexit")
WRAPPERS = (
    "identity({})", "({})", "[{}][0]", "(lambda: {})()", "dict(a={})['a']", "{} or None",
    "functools.partial(f, {})()", "(yield_ if 0 else {})", "f(*[{}])", "f(**dict(a={}))",
    "( # note\n{})", "tf.identity({}, name='n')", "hvd.allreduce({})", "tf.nn.dropout({}, 0.5)",
    "[{} for _ in range(1)]", "f'{{{}}}'", "not {}", "{}.x", "{}[0]", "{}()", "(v := {})",
)  # fmt: skip
ARGUMENTS = (
    "*args", "**options", "config=None", "x=1", "rate=0.5", "drop_remainder=True", "name='n',",
    "*a, **k", "  # note\n", "config=tf.ConfigProto()", "v for v in x", "\\\n", "hooks=hooks",
)  # fmt: skip
ODD_BYTES = (
    b"\x0c", b"\t", b" ", b"\\\n", b"\r", b"\n", b"\xc2\xa0", b"\xe2\x80\xa8", b"\x00", b"\xff",
    b"\x1a", b"\xef\xbb\xbf", b"(", b")", b"'", b'"""', b"#", b";", b":", b"\xc2\x85",
    b"\x0b", b"\x1c",
    b"%matplotlib inline\n", b"!pip install x\n", b"# trainferry: ignore\n", b"\\", b"{",
    b"}", b"`",
    b"# trainferry: ignore[static_batch] no\n", b"\x7f", b"\xf0\x9f\x98\x80", b"async ",
    b"print x\n",
)  # fmt: skip


def mutated(random: Random, text: str, most: int = 5) -> str:
    """The text after one or more mutations of its Python."""
    for _ in range(random.randint(1, most)):
        mutation = random.choice(TEXT_MUTATIONS)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                text = mutation(random, text)
        except (SyntaxError, tokenize.TokenError, ValueError, IndexError, RecursionError):
            continue
    return text


def encoded(random: Random, text: str) -> bytes:
    """The text as a file: line ends, encoding, byte order mark, and sometimes broken bytes."""
    if random.random() < 0.3:
        end = random.choice(("\r\n", "\r\n", "\r", "mixed"))
        if end == "mixed":
            text = re.sub("\n", lambda _: random.choice(("\n", "\r\n", "\r")), text)
        else:
            text = text.replace("\n", end)
    data = _with_encoding(random, text)
    if random.random() < 0.07:
        data = _broken(random, data)
    return data


def notebook(random: Random, text: str) -> bytes:
    """The program as a notebook, its statements in cells among magics."""
    try:
        pieces = [_text_of(text, one) for one in _statements(text, top=True)]
    except (SyntaxError, ValueError, RecursionError):
        pieces = text.split("\n\n")
    cells: list[dict[str, object]] = []
    while pieces:
        count = random.randint(1, 4)
        cells.append(_cell(random, "\n".join(pieces[:count])))
        del pieces[:count]
    content = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 2}
    if random.random() < 0.1:
        content = {"worksheets": [{"cells": cells}], "metadata": {}, "nbformat": 3}
    indent = random.choice((1, 1, 2, None))
    made = json.dumps(content, indent=indent, ensure_ascii=random.random() < 0.5)
    data = made.encode("utf-8", "surrogatepass") + b"\n" * random.randrange(2)
    if random.random() < 0.1:
        data = data.replace(b"\n", b"\r\n")
    return _broken(random, data) if random.random() < 0.03 else data


def _cell(random: Random, source: str) -> dict[str, object]:
    kind = "markdown" if random.random() < 0.05 else "code"
    if random.random() < 0.25:
        magic = random.choice(
            (
                "%matplotlib inline",
                "!pip install tf",
                "%%time",
                "x = !ls",
                "x?",
                "%%bash",
                "%cd \\\n..",
            )
        )
        source = f"{magic}\n{source}" if random.random() < 0.7 else f"{source}\n{magic}"
    if random.random() < 0.3:
        source += random.choice(("\n", "\n\n", "\n\n# end", ";", "  "))
    lines: object = source if random.random() < 0.3 else source.splitlines(keepends=True)
    cell: dict[str, object] = {"cell_type": kind, "metadata": {}, "source": lines}
    if kind == "code":
        cell |= {"outputs": [], "execution_count": None}
    return cell


def _with_encoding(random: Random, text: str) -> bytes:
    chance = random.random()
    if chance < 0.75:
        return text.encode("utf-8", "surrogatepass")
    if chance < 0.82:
        return b"\xef\xbb\xbf" + text.encode("utf-8", "surrogatepass")
    encoding, letters = random.choice(
        (("gbk", "注释"), ("latin-1", "é ü"), ("cp1252", "€"), ("shift_jis", "表ソ"),
         ("big5", "功許"), ("euc-kr", "한"), ("gb18030", "𠀀"), ("koi8-r", "я"),
         ("cp949", "갂"), ("utf-8", "é"))
    )  # fmt: skip
    lines = text.split("\n")
    for _ in range(random.randrange(4)):
        lines.insert(random.randint(0, len(lines)), f"# {letters}")
    text = f"# -*- coding: {encoding} -*-\n" + "\n".join(lines).replace("'train'", f"'{letters}'")
    return text.encode(encoding, "ignore")


def _broken(random: Random, data: bytes) -> bytes:
    for _ in range(random.randint(1, 3)):
        start = random.randint(0, len(data))
        end = min(len(data), start + random.choice((0, 0, 1, 1, 3, 20, 200)))
        data = data[:start] + random.choice((b"", b"", *ODD_BYTES)) + data[end:]
    return data


# Mutations of the text.


def _rename(random: Random, text: str) -> str:
    old = random.choice(ALIASES)
    new = random.choice((*NEW_NAMES, *ALIASES))
    return re.sub(rf"\b{old}\b", new, text)


def _respell_import(random: Random, text: str) -> str:
    spelling = random.choice(programs.TENSORFLOW)
    return text.replace("import tensorflow as tf", spelling, 1)


def _add_import(random: Random, text: str) -> str:
    return _inserted(random, text, random.choice(programs.OTHERS))


def _add_statement(random: Random, text: str) -> str:
    return _inserted(random, text, programs.statement(random))


def _wrap_call(random: Random, text: str) -> str:
    start, end = _span(text, random.choice(_nodes(text, ast.Call)))
    return text[:start] + random.choice(WRAPPERS).format(text[start:end]) + text[end:]


def _replace_expression(random: Random, text: str) -> str:
    node = random.choice(_nodes(text, ast.expr))
    start, end = _span(text, node)
    return text[:start] + programs.expression(random) + text[end:]


def _swap_expressions(random: Random, text: str) -> str:
    """An expression of the program itself in the place of another."""
    nodes = _nodes(text, ast.expr)
    start, end = _span(text, random.choice(nodes))
    other_start, other_end = _span(text, random.choice(nodes))
    return text[:start] + text[other_start:other_end] + text[end:]


def _add_argument(random: Random, text: str) -> str:
    call = random.choice(_nodes(text, ast.Call))
    _, end = _span(text, call)
    inside = text[: end - 1].rstrip()
    comma = "" if inside.endswith(("(", ",")) else ", "
    if random.random() < 0.3:
        first = _span(text, call.func)[1]
        place = text.index("(", first) + 1
        return text[:place] + random.choice(ARGUMENTS) + ", " + text[place:]
    return text[: end - 1] + comma + random.choice(ARGUMENTS) + text[end - 1 :]


def _delete_argument(random: Random, text: str) -> str:
    calls = [one for one in _nodes(text, ast.Call) if one.args or one.keywords]
    call = random.choice(calls)
    argument = random.choice([*call.args, *call.keywords])
    start, end = _span(text, argument)
    rest = text[end:].lstrip()
    return text[:start] + (rest.removeprefix(","))


def _delete_statement(random: Random, text: str) -> str:
    start, end = _span(text, random.choice(_statements(text)))
    return text[:start] + random.choice(("", "pass", "...")) + text[end:]


def _copy_statement(random: Random, text: str) -> str:
    node = random.choice(_statements(text))
    piece = _dedented(text, node)
    return _inserted(random, text, piece)


def _swap_statements(random: Random, text: str) -> str:
    blocks = [one for one in _blocks(text) if len(one) > 1]
    block = random.choice(blocks)
    index = random.randrange(len(block) - 1)
    (a, b), (c, d) = _span(text, block[index]), _span(text, block[index + 1])
    return text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]


def _insert_layout(random: Random, text: str) -> str:
    """Comments, continuations, empty lines and form feeds between tokens."""
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    starts = _line_starts(text)
    places = []
    depth = 0
    for token in tokens:
        if token.type == tokenize.OP and token.string in ")]}":
            depth -= 1
        if token.type in (tokenize.OP, tokenize.NAME, tokenize.NUMBER):
            places.append((starts[token.start[0] - 1] + token.start[1], depth))
        if token.type == tokenize.OP and token.string in "([{":
            depth += 1
    for place, inside in sorted(random.sample(places, min(3, len(places))), reverse=True):
        if inside:
            added = random.choice((" ", "\n", "\t", "  # note\n", "\n\n# é \\\n", "\\\n", "\x0c"))
        else:
            added = random.choice((" ", " \\\n", "\\\n   "))
        if inside or text[:place].rpartition("\n")[2].strip():
            text = text[:place] + added + text[place:]
    return text


def _join_lines(random: Random, text: str) -> str:
    """Two simple statements on one line."""
    blocks = [one for one in _blocks(text) if len(one) > 1]
    block = random.choice(blocks)
    index = random.randrange(len(block) - 1)
    end, start = _span(text, block[index])[1], _span(text, block[index + 1])[0]
    return text[:end] + random.choice(("; ", ";", " ;  ")) + text[start:]


def _one_line_suite(random: Random, text: str) -> str:
    suites = [
        one
        for one in _statements(text)
        if isinstance(one, ast.If | ast.With | ast.For | ast.FunctionDef | ast.While | ast.ClassDef)
    ]
    first = random.choice(suites).body[0]
    start = _span(text, first)[0]
    head = text[:start].rstrip()
    return (head + " " + text[start:]) if head.endswith(":") else text


def _nest(random: Random, text: str) -> str:
    """Some statements at the top go into a function, a class, or another suite."""
    body = _statements(text, top=True)
    first = random.randrange(len(body))
    last = random.randint(first, min(first + 5, len(body) - 1))
    start, end = _span(text, body[first])[0], _span(text, body[last])[1]
    start = text.rfind("\n", 0, start) + 1
    indented = "\n".join(f"    {line}" if line else "" for line in text[start:end].split("\n"))
    shape = random.choice(programs.SUITES)
    if "%%s" in shape:
        return text
    return text[:start] + shape.replace("%s", indented) + text[end:]


def _move_import(random: Random, text: str) -> str:
    imports = [one for one in _statements(text) if isinstance(one, ast.Import | ast.ImportFrom)]
    node = random.choice(imports)
    start, end = _span(text, node)
    piece = text[start:end]
    return _inserted(random, text[:start] + "pass" + text[end:], piece)


def _tabs(random: Random, text: str) -> str:
    width = random.choice((2, 4, 8))
    pattern = re.compile(rf"^(?: {{{width}}})+", re.MULTILINE)
    if random.random() < 0.2:
        return pattern.sub(lambda found: found.group().replace(" " * 8, "\t"), text)
    return pattern.sub(lambda found: "\t" * (len(found.group()) // width), text)


def _deep(random: Random, text: str) -> str:
    call = random.choice(_nodes(text, ast.Call))
    start, end = _span(text, call)
    depth = random.choice((5, 30, 80))
    opening, closing = random.choice(
        (("(", ")"), ("f(", ")"), ("tf.nn.dropout(", ", 0.5)"), ("[", "]"))
    )
    return text[:start] + opening * depth + text[start:end] + closing * depth + text[end:]


def _long(random: Random, text: str) -> str:
    """Long chains: of methods, sums, branches, statements."""
    count = random.choice((20, 60, 200))
    piece = random.choice(
        (
            "ds = ds" + ".batch(2).map(f)" * (count // 3),
            "x = " + " + ".join(["tf.nn.dropout(x, 0.5)"] * count),
            "if x: pass\n" + "".join(f"elif x == {n}: y = tf.Session()\n" for n in range(count)),
            "\n".join(f"s{n} = tf.Session()" for n in range(count)),
            "".join("    " * n + f"if x{n}:\n" for n in range(min(count, 90)))
            + "    " * min(count, 90) + "y = tf.Session()",
            "x = " + "not " * count + "tf.Session()",
            "x = " + "-" * count + "tf.nn.dropout(x, 0.1)",
        )
    )  # fmt: skip
    return _inserted(random, text, piece)


def _indent_all(random: Random, text: str) -> str:
    head = random.choice(("if True:\n", "def f():\n", "try:\n", "class A:\n"))
    tail = "\nfinally:\n    pass\n" if head == "try:\n" else "\n"
    return head + "\n".join(f"  {line}" if line else "" for line in text.split("\n")) + tail


def _no_last_line_end(random: Random, text: str) -> str:
    return text.rstrip("\n") + random.choice(
        ("", "", "\\\n", "  ", "\n    ", "  # end", "\x0c", "\n\n\n")
    )


def _cut_lines(random: Random, text: str) -> str:
    lines = text.split("\n")
    start = random.randrange(len(lines))
    return "\n".join(lines[:start] + lines[start + random.randint(1, 5) :])


def keep_few(random: Random, text: str) -> str:
    """The imports and a few of the other statements."""
    body = _statements(text, top=True)
    kept = [
        one
        for one in body
        if isinstance(one, ast.Import | ast.ImportFrom) or random.random() < 4 / len(body)
    ]
    return "\n".join(_text_of(text, one) for one in kept) + "\n"


def _take_name(random: Random, text: str) -> str:
    """Something of the program's own has a name that the adapter's imports want."""
    name = random.choice(
        ("npu_ops", "npu_config_proto", "npu_run_config_init", "atexit", "NPURunConfig", "os",
         "npu_distributed_optimizer_wrapper", "init_resource", "get_npu_rank_size", "npu_init",
         "NPULossScaleOptimizer", "get_rank_size", "npu_strategy", "hccl_ops", "tf", "npu_session")
    )  # fmt: skip
    shape = random.choice(
        ("{} = 1", "def {}(): pass", "class {}: pass", "from x import {}", "import {}", "del {}",
         "for {} in x: pass", "def g({}): return {}(tf.Session())", "global {}", "try: pass\n"
         "except E as {}: pass", "with x as {}: pass", "lambda {}: 0", "[0 for {} in x]")
    )  # fmt: skip
    return _inserted(random, text, shape.replace("{}", name))


def _old(random: Random, text: str) -> str:
    piece = random.choice(programs.OLD_STATEMENTS).replace("@", "tf.Session()").replace("$", "x")
    return _inserted(random, text, piece)


TEXT_MUTATIONS: tuple[Callable[[Random, str], str], ...] = (
    _rename, _respell_import, _respell_import, _add_import, _add_statement, _add_statement,
    _wrap_call, _wrap_call, _replace_expression, _swap_expressions, _add_argument, _delete_argument,
    _delete_statement, _copy_statement, _swap_statements, _insert_layout, _insert_layout,
    _join_lines, _join_lines, _one_line_suite, _one_line_suite, _nest, _nest, _move_import, _tabs,
    _deep, _long, _indent_all, _no_last_line_end, _cut_lines, _take_name, _take_name, _old,
    keep_few,
)  # fmt: skip


# Places in the text.


def _nodes(text: str, kind: type[ast.AST]) -> list:  # type: ignore[type-arg]
    return [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, kind) and not _is_in_fstring(node)
    ]


def _is_in_fstring(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr | ast.FormattedValue) or not hasattr(node, "lineno")


def _statements(text: str, *, top: bool = False) -> list[ast.stmt]:
    tree = ast.parse(text)
    if top:
        return tree.body
    return [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]


def _blocks(text: str) -> list[list[ast.stmt]]:
    return [
        block
        for node in ast.walk(ast.parse(text))
        for name in ("body", "orelse", "finalbody")
        if isinstance(block := getattr(node, name, None), list) and block
    ]


def _line_starts(text: str) -> list[int]:
    starts = [0]
    for line in io.StringIO(text, newline=""):
        starts.append(starts[-1] + len(line))
    return starts


def _span(text: str, node: ast.AST) -> tuple[int, int]:
    starts = [0]
    lines = text.split("\n")
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    ends: list[int] = []
    first = node.lineno  # type: ignore[attr-defined]
    decorators = getattr(node, "decorator_list", [])
    column = node.col_offset  # type: ignore[attr-defined]
    if decorators:
        first, column = decorators[0].lineno, decorators[0].col_offset - 1
    for line, place in ((first, column), (node.end_lineno, node.end_col_offset)):  # type: ignore[attr-defined]
        before = lines[line - 1].encode()[:place].decode("utf-8", "ignore")
        ends.append(starts[line - 1] + len(before))
    return ends[0], ends[1]


def _text_of(text: str, node: ast.AST) -> str:
    start, end = _span(text, node)
    return text[start:end]


def _dedented(text: str, node: ast.stmt) -> str:
    space = " " * node.col_offset
    return _text_of(text, node).replace(f"\n{space}", "\n")


def _inserted(random: Random, text: str, piece: str) -> str:
    """The piece before some statement, with its indentation; or before a line where none parses."""
    try:
        node = random.choice(_statements(text))
        place = text.rfind("\n", 0, _span(text, node)[0]) + 1
    except (SyntaxError, ValueError, IndexError, RecursionError):
        place = text.rfind("\n", 0, random.randint(0, len(text))) + 1
    line = text[place:].partition("\n")[0]
    space = line[: len(line) - len(line.lstrip())]
    lines = [f"{space}{one}" if one else one for one in piece.split("\n")]
    return text[:place] + "\n".join(lines) + "\n" + text[place:]
