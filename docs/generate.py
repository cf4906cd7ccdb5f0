"""Writes docs/reference/ from the code: commands, rules, checks, recipe keys, protocols, codes.

python docs/generate.py            write the pages
python docs/generate.py --check    write nothing; exit 1 when a page is out of date
"""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import sys
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from trainferry.cli.main import build_parser
from trainferry.errors import TrainferryError
from trainferry.launch.codes.table import Code, all_codes, family_of
from trainferry.migrate.rule import IMPORT_RULE, Concern, Rule, all_rules
from trainferry.rehearse.catalogue import Check, all_checks
from trainferry.train.recipe.read import RECIPES, list_recipes, read_recipe, recipe_differences
from trainferry.train.recipe.sections import SECTIONS, Recipe
from trainferry.train.scores.words import PROTOCOLS

REFERENCE = Path(__file__).resolve().parent / "reference"
HEAD = (
    "<!-- Written by docs/generate.py. Change the code, then run `python docs/generate.py`. -->\n"
)

# Names say what a key is; this says what a reader of the name would still ask.
MEANINGS = {
    "network.name": "the network",
    "network.channels": "of the seven convolutions",
    "network.hidden": "units of each LSTM direction",
    "network.layers": "bidirectional LSTM layers",
    "network.dropout": "share dropped after the last LSTM layer, in training",
    "network.norm_decay": "how much of a batch-norm statistic one step keeps",
    "network.identical_kernels": "all LSTM kernels start the same, as in the zoo's fused cells",
    "network.size": "number of layers: 18, 34, 50, 101, 152 or 200",
    "DenseNetRecipe.size": "number of layers: 121, 169 or 201",
    "network.version": "2 normalises before each convolution",
    "network.width": "channels of the first convolution; 64 in the papers",
    "HRNetRecipe.width": "channels of the finest branch: 18, 30, 32, 40, 44, 48, 64 in the papers",
    "network.growth": "channels that each layer adds; 32 in the paper",
    "network.variant": "`zoo` for checkpoints of the zoo's ResNet50_ID0058",
    "DenseNetRecipe.variant": "`original` for checkpoints of the TensorFlow original",
    "network.modules": "in the stages of two, three and four branches",
    "network.blocks": "of each branch of a module",
    "network.head": "channels of the finest branch in the head; 128 in the paper",
    "network.endpoint": "the layer of Inception-v3 whose map is read",
    "network.attention": "`false`: look at a window that moves with the characters",
    "network.autoregression": "`false`: do not tell a step the character before",
    "network.coordinates": "tell the decoder the row and column of every place, as the paper does",
    "AttentionOCRRecipe.hidden": "units of the LSTM",
    "network.cell_clip": "how far the state of the LSTM may go",
    "task.name": "the task",
    "task.charset_from": "`data`: take the characters from the charset file of the data",
    "task.charset": "entry n has the characters of code n, the one it reads as last; the empty "
    "entry is the null",
    "task.count_nulls": "the places behind a text count in the loss, as in the original",
    "SpellRecipe.max_length": "characters that are read; longer texts are not trained on",
    "picture.views": "pictures of one sign, side by side",
    "SignPicture.height": "pixels of one view",
    "SignPicture.width": "pixels of one view",
    "task.classes_from": "`data`: take the names of the classes from the data",
    "task.classes": "name n belongs to label n + 1 of the records",
    "task.background": "`true`: the network has one class more, number 0, as TensorFlow's",
    "task.label_smoothing": "share of each target that is spread over all classes",
    "task.alphabet_from": "`data`: take the characters from the data's ord_map.json",
    "task.alphabet": "character n is class n; the blank comes after the last",
    "task.case": "`lower`: labels are lower-cased; `keep`: they stay as they are",
    "task.max_length": "longer labels are not trained on",
    "task.merge_repeated": "`false`: score equal neighbours as two characters, as the originals "
    "do while training",
    "picture.height": "pixels; crnn needs 32",
    "picture.width": "pixels, a multiple of 4; a quarter of it is the number of columns",
    "picture.order": "of the colours the network sees",
    "picture.filter": "`antialias`: as Pillow shrinks; `bilinear`: as OpenCV does",
    "picture.scale": "`unit`: -1 to 1; `half`: -0.5 to 0.5",
    "PhotoPicture.height": "pixels the network sees",
    "PhotoPicture.width": "pixels the network sees",
    "picture.crop": "what training cuts out of a photograph",
    "picture.least_area": "smallest share of the photograph that is cut out",
    "picture.least_aspect": "smallest width of a cut, in heights",
    "picture.most_aspect": "largest width of a cut, in heights",
    "picture.attempts": "how often a cut is tried before the whole photograph is taken",
    "picture.evaluation": "`short_side`: keep the proportions and cut out the middle; `squash`: "
    "do not keep them; `central_box`: cut out the middle first, and do not keep them",
    "picture.evaluation_size": "pixels of the short side, or of the square, before that cut",
    "PhotoPicture.filter": "`legacy`: as TensorFlow 1 resizes; `antialias`: as Pillow does",
    "picture.decode": "`scaled`: in training, JPEGs much larger than needed are decoded smaller; "
    "with the filter `antialias` only",
    "picture.values": "`floats`: training pictures are not rounded to whole values either",
    "picture.mean": "taken off red, green and blue, of 0 to 255",
    "picture.deviation": "then red, green and blue are divided by it",
    "data.workers": "processes that read samples; -1: one less than the cores; 0: none",
    "data.minimum_kept": "share of the records that must be usable, or training refuses to start",
    "data.synthetic": "number of made-up samples to train on in the place of records; 0: none",
    "data.jpeg": "who decodes photographs to train on: `readers`, processes on the CPU, or the "
    "`device`, where it has a decoder (an NVIDIA GPU, with torchvision)",
    "augment.flip": "share of the pictures that are mirrored",
    "augment.operations": "of RandAugment, for each picture",
    "augment.magnitude": "of these operations, up to 30",
    "augment.mixup": "alpha of mixup; 0: off",
    "augment.cutmix": "alpha of cutmix; 0: off. With both, each batch gets one of them",
    "augment.erasing": "share of the pictures in which a rectangle is erased",
    "augment.crop": "of a view, by up to a fifth of its area",
    "augment.shuffled": "the views of a sign come in any order. Missing views are mostly the last: "
    "without this, training sees another mean and deviation there than evaluation",
    "SignAugment.geometry": "rotation, perspective, shear, scale",
    "SignAugment.colour": "brightness, saturation, hue, contrast",
    "augment.geometry": "rotation, shear, scale, shift, perspective, waves",
    "augment.colour": "contrast, brightness, saturation, tint, negatives",
    "augment.blur": "defocus, smear, lost resolution",
    "augment.noise": "sensor noise",
    "optimizer.name": "the rule of the update",
    "optimizer.learning_rate": "the highest rate; the schedule starts from it",
    "optimizer.rate_for_batch": "the batch `learning_rate` is meant for; other batches have a rate "
    "in proportion; 0: it holds for any batch",
    "optimizer.momentum": "for `momentum` and `lars`",
    "optimizer.nesterov": "for `momentum` and `lars`",
    "optimizer.trust": "for `lars`: how far a layer may move, in parts of its norm",
    "optimizer.betas": "for `adam` and `adamw`",
    "optimizer.epsilon": "for `adam` and `adamw`",
    "optimizer.weight_decay": "of what `decayed` says",
    "optimizer.decayed": "`kernels`: matrices and kernels; `all_but_norms`: biases too; `all`; "
    "`convolutions_and_head`: those of Attention-OCR",
    "optimizer.trained": "`head`: only the last layer changes",
    "optimizer.clip_norm": "largest norm of all gradients together; 0: no limit",
    "optimizer.clipped": "`each`: `clip_norm` is of each weight's gradient by itself",
    "optimizer.accumulation": "parts a batch is cut into to save memory; must divide the batch",
    "schedule.name": "how the rate falls",
    "schedule.steps": "length of the run, in updates",
    "schedule.warmup_steps": "the rate rises in a straight line; with `cosines`, along one",
    "schedule.end_learning_rate": "where `cosine` and `polynomial` end",
    "schedule.power": "for `polynomial`",
    "schedule.boundaries": "for `piecewise`: steps after which the factor changes",
    "schedule.factors": "for `piecewise`: one more than the boundaries",
    "schedule.decay_from": "`warmup`: the decay begins when the warm-up ends",
    "schedule.staircase_steps": "steps through which `cosine` and `polynomial` stay; 0: none",
    "schedule.epochs": "length of the run in passes over the samples, in the place of `steps`",
    "schedule.warmup_epochs": "in the place of `warmup_steps`",
    "schedule.boundary_epochs": "in the place of `boundaries`",
    "schedule.staircase_epochs": "in the place of `staircase_steps`",
    "schedule.whole_epochs": "an epoch is so many full batches; without, fractions count",
    "loop.batch": "pictures per update, of all ranks together",
    "loop.seed": "decides weights, order of the data, augmentation and dropout",
    "loop.log_every": "steps between two lines of figures",
    "loop.evaluate_every": "steps between two evaluations on the `val` records",
    "loop.save_every": "steps between two checkpoints",
    "loop.evaluate_epochs": "in the place of `evaluate_every`",
    "loop.save_epochs": "in the place of `save_every`",
    "loop.stop_at_score": "training ends when the score is this high; 0: never",
    "loop.keep": "newest checkpoints kept; the best one is kept besides",
    "loop.patience": "evaluations without a better score after which training ends; 0: never",
    "loop.average": "decay of the running average of the weights, e.g. 0.999; 0: none",
    "loop.whole_step": "with `captured`, on one GPU: record loss, clipping, update and average "
    "too. New, and tried on the CPU only, operator by operator",
    "loop.captured": "on CUDA, record the network once as a graph and replay it; not with "
    "`optimizer.accumulation`",
    "loop.norms": "with several ranks: batch norm over each rank's share, or `synchronised` over "
    "the whole batch",
    "precision.name": "of the forward and backward pass in training",
    "precision.loss_scale": "for fp16",
    "precision.initial_scale": "where the loss scale starts",
}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing, only compare")
    check = parser.parse_args(arguments).check
    stale = [name for name, text in pages().items() if not _is_current(name, text)]
    for name in stale:
        if not check:
            REFERENCE.mkdir(exist_ok=True)
            (REFERENCE / name).write_text(pages()[name], encoding="utf-8")
        sys.stderr.write(f"{'out of date' if check else 'written'}: docs/reference/{name}\n")
    return 1 if check and stale else 0


def pages() -> dict[str, str]:
    """Return the text of every page by its file name."""
    return {
        "cli.md": _page(cli_lines()),
        "recipes.md": _page(recipe_lines()),
        "rules.md": _page(rule_lines()),
        "checks.md": _page(check_lines()),
        "protocols.md": _page(protocol_lines()),
        "codes.md": _page(code_lines()),
    }


def cli_lines() -> Iterator[str]:
    """Yield every command with its arguments; written from the parser, not from its layout."""
    yield "# Commands"
    yield ""
    yield (
        "The result goes to stdout, progress and messages go to stderr. "
        "`--json` makes the result readable for programs."
    )
    yield ""
    yield "| exit status | meaning |"
    yield "|---|---|"
    yield "| 0 | done |"
    yield "| 1 | a problem you can fix: `error:` says what is wrong, `hint:` what to do |"
    yield "| 2 | the command line was used in a way it does not offer |"
    yield "| 130 | stopped with Ctrl-C |"
    yield ""
    yield "| kind of error | meaning |"
    yield "|---|---|"
    for kind in TrainferryError.__subclasses__():
        yield from _error_rows(kind)
    yield from _command_lines(build_parser(), help_text=None)


def recipe_lines() -> Iterator[str]:
    """Yield every key of a recipe, and what the bundled recipes set."""
    yield "# Recipes"
    yield ""
    yield (
        "A recipe is a TOML file. `base` names a recipe to start from; a key that is left out has "
        "the default below. On the command line, `--set section.key=value` overrides one value; "
        "the section may be left out where only one section has the key. The recipe in force is "
        "saved as `recipe.toml` in the folder of the run. A misspelt key is an error with a "
        "suggestion. What is said in epochs becomes steps when the data is known; whichever of "
        "the two is said last holds."
    )
    for section in (field.name for field in dataclasses.fields(Recipe) if field.name != "name"):
        kinds = list(dict.fromkeys(sections[section] for sections in SECTIONS.values()))
        for kind in kinds:
            owners = [name for name, sections in SECTIONS.items() if sections[section] is kind]
            title = f"[{section}]" if len(kinds) == 1 else f"[{section}] of {', '.join(owners)}"
            yield from _section_lines(section, title, kind())
    yield ""
    yield "## The bundled recipes"
    for name in list_recipes():
        yield from _bundled_lines(name)


def rule_lines() -> Iterator[str]:
    """Yield every rule of `migrate`: a table by what it decides, then each rule's own page."""
    rules = [IMPORT_RULE, *all_rules()]
    yield "# Rules"
    yield ""
    yield (
        f"What `trainferry migrate` does, in {len(rules)} rules; `trainferry rules NAME` shows "
        "one. Rules marked `--also` run only when you ask for them, those marked `--lint` also on "
        "code that is on the NPU already. None of it was run on an NPU: the sources are what the "
        "vendor documents and what the adapter's code does."
    )
    for concern in Concern:
        yield ""
        yield f"## {concern.value[:1].upper()}{concern.value[1:]}"
        yield ""
        yield "| rule | what it does | |"
        yield "|---|---|---|"
        for rule in (one for one in rules if one.concern is concern):
            title = rule.title.replace("|", "\\|")
            yield f"| [{rule.name}](#{rule.name}) | {title} | {_marks(rule)} |"
    for rule in sorted(rules, key=lambda one: one.name):
        yield from _rule_page(rule)


def _rule_page(rule: Rule) -> Iterator[str]:
    yield ""
    yield f"## {rule.name}"
    yield ""
    yield f"**{rule.title}.**" + (f" {_marks(rule)}" if _marks(rule) else "")
    # Blocks begin with a sign of the diff in the fifth column; Markdown keeps them as they are.
    yield from rule.page.strip().split("\n")[1:]


def _marks(rule: Rule) -> str:
    marks = [("`--also`", rule.is_opt_in), ("`--lint`", rule.is_lint)]
    return " ".join(mark for mark, is_set in marks if is_set)


def check_lines() -> Iterator[str]:
    """Yield every check of a rehearsal."""
    checks = all_checks().values()
    yield "# Checks of a rehearsal"
    yield ""
    yield (
        f"What `trainferry rehearse` looks for, in {len(checks)} checks; `trainferry rehearse "
        "--explain NAME` shows one. A finding is *refused* where the device stops, hangs or "
        "computes something else, a *risk* where it is slower, or wrong in cases that were not "
        "seen, and else a *note*. None of it was run on an NPU: the sources are what the vendor "
        "documents, what the adapter's code does, and operator prototypes that were published "
        "until 2023."
    )
    yield ""
    yield "| check | what was found |"
    yield "|---|---|"
    for check in checks:
        title = check.title.replace("|", "\\|")
        yield f"| [{check.name}](#{check.name}) | {title} |"
    for check in checks:
        yield from _check_page(check)


def _check_page(check: Check) -> Iterator[str]:
    yield ""
    yield f"## {check.name}"
    yield ""
    yield f"**{check.title}.**"
    yield from check.page.strip().split("\n")[1:]


def protocol_lines() -> Iterator[str]:
    yield "# Scoring protocols"
    yield ""
    yield "For `trainferry evaluate --protocol NAME`. The rule is printed with every score."
    yield ""
    yield "| name | rule |"
    yield "|---|---|"
    for protocol in PROTOCOLS.values():
        yield f"| `{protocol.name}` | {protocol.rule} |"


def code_lines() -> Iterator[str]:
    """Yield every code of Ascend NPUs that `doctor --explain` knows, by where it comes from."""
    yield "# Codes of Ascend NPUs"
    yield ""
    yield (
        f"What `trainferry doctor --explain` knows, in {len(all_codes())} rows: codes in the logs "
        "of CANN, HCCL and torch_npu, and a few symptoms that have none. `?` stands for any one "
        "character. *Outer* codes only say which layer noticed: look for another one in the same "
        "log. What a thread says, and not the vendor, is marked with the thread. None of it was "
        "tried on an NPU."
    )
    families: dict[str, list[Code]] = {}
    for code in all_codes():
        families.setdefault(_family(code), []).append(code)
    for family, codes in families.items():
        yield ""
        yield f"## {family[:1].upper()}{family[1:]}"
        yield ""
        yield "| code | what it says | what may be behind it | what to do |"
        yield "|---|---|---|---|"
        for code in codes:
            causes = [*code.causes, *(f"{one.what} ({one.thread})" for one in code.seen)]
            cells = (_says(code), "; ".join(causes), "; ".join(code.what_to_do))
            told = " | ".join(cell.replace("|", "\\|") for cell in cells)
            yield f"| `{code.name}` | {told} |"
    yield ""
    yield "## Sources"
    yield ""
    for source in dict.fromkeys(source for code in all_codes() for source in code.sources):
        yield f"- {source}"


def _says(code: Code) -> str:
    text = "; ".join(f"`{one.replace('`', '')}`" for one in code.texts)
    outer = "*Outer.* " if code.is_outer else ""
    return f"{outer}{f'{text}: ' if text else ''}{code.says}"


def _family(code: Code) -> str:
    if code.texts:
        return "symptoms without a code"
    if code.name.startswith("ERR"):
        return "codes of torch_npu"
    return family_of(code.name) or "all parts of CANN"


def _error_rows(kind: type[TrainferryError]) -> Iterator[str]:
    yield f"| `{kind.__name__}` | {_first_paragraph(kind)} |"
    for narrower in kind.__subclasses__():
        yield from _error_rows(narrower)


def _command_lines(parser: argparse.ArgumentParser, help_text: str | None) -> Iterator[str]:
    nested = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    if help_text is not None:
        yield ""
        yield f"## {parser.prog}"
        yield ""
        yield parser.description or f"{help_text[:1].upper()}{help_text[1:]}."
        if not nested:
            yield from _argument_lines(parser)
    for action in nested:
        texts = {choice.dest: choice.help for choice in action._choices_actions}
        for name, command in action.choices.items():
            yield from _command_lines(command, texts.get(name) or "")


def _argument_lines(parser: argparse.ArgumentParser) -> Iterator[str]:
    actions = [a for a in parser._actions if not isinstance(a, argparse._HelpAction)]
    yield ""
    yield f"    {parser.prog} {' '.join(_usage(action) for action in actions)}".rstrip()
    if not actions:
        return
    yield ""
    yield "| argument | meaning | default |"
    yield "|---|---|---|"
    for action in actions:
        meaning = " ".join((action.help or "").split()).replace("|", "\\|")
        yield f"| `{_spelling(action)}` | {meaning} | {_default(action)} |"


def _usage(action: argparse.Action) -> str:
    spelling = _spelling(action)
    several = action.nargs in ("+", "*") or isinstance(action, argparse._AppendAction)
    text = spelling if action.required else f"[{spelling}]"
    return f"{text} …" if several else text


def _spelling(action: argparse.Action) -> str:
    name = action.metavar if isinstance(action.metavar, str) else None
    if not action.option_strings:
        return name or action.dest
    option = action.option_strings[-1]
    if action.nargs == 0:
        return option
    if action.choices is not None:
        return f"{option} {'/'.join(map(str, action.choices))}"
    return f"{option} {name or option.removeprefix('--').replace('-', '_').upper()}"


def _default(action: argparse.Action) -> str:
    if action.required:
        return "required"
    # Defaults of the machine, such as the number of cores, are told in the help.
    nothing = action.default is None or action.default is False or action.default in ([], "")
    if nothing or action.default == argparse.SUPPRESS or "default:" in str(action.help):
        return ""
    return f"`{action.default}`"


def _section_lines(name: str, title: str, section: Any) -> Iterator[str]:  # noqa: ANN401  # any dataclass
    yield ""
    yield f"## {title}"
    yield ""
    yield from inspect.cleandoc(type(section).__doc__ or "").split("\n")
    yield ""
    yield "| key | type | default | meaning |"
    yield "|---|---|---|---|"
    kinds = typing.get_type_hints(type(section))
    own = type(section).__name__
    for field in dataclasses.fields(section):
        plain = f"{name}.{field.name}"
        meaning = MEANINGS.get(f"{own}.{field.name}") or MEANINGS[plain]
        value = _value(getattr(section, field.name))
        yield f"| `{field.name}` | {_kind(kinds[field.name])} | `{value}` | {meaning} |"


def _bundled_lines(name: str) -> Iterator[str]:
    recipe = read_recipe(name)
    sections = SECTIONS[recipe.network.name]
    plain = Recipe(name="plain", **{section: kind() for section, kind in sections.items()})
    comment = (RECIPES / f"{name}.toml").read_text(encoding="utf-8").partition("\n")[0]
    yield ""
    yield f"### {name}"
    yield ""
    yield comment.removeprefix("# ")
    yield ""
    yield "| key | value | default |"
    yield "|---|---|---|"
    for key, (default, value) in recipe_differences(plain, recipe).items():
        yield f"| `{key}` | `{_value(value)}` | `{_value(default)}` |"


def _kind(kind: Any) -> str:  # noqa: ANN401  # an annotation
    if typing.get_origin(kind) is Literal:
        return " or ".join(f"`{choice}`" for choice in typing.get_args(kind))
    if typing.get_origin(kind) is tuple:
        return f"list of {_kind(typing.get_args(kind)[0])}s"
    return {int: "whole number", float: "number", str: "text", bool: "true or false"}[kind]


def _value(value: Any) -> str:  # noqa: ANN401  # a value of a recipe
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def _first_paragraph(kind: type) -> str:
    return " ".join(inspect.cleandoc(kind.__doc__ or "").partition("\n\n")[0].split())


def _page(lines: Iterator[str]) -> str:
    return HEAD + "\n" + "\n".join(lines) + "\n"


def _is_current(name: str, text: str) -> bool:
    path = REFERENCE / name
    return path.is_file() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(main())
