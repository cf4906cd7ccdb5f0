"""What `trainferry predict` draws: the answers, and where a network looked."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from trainferry.counted import counted
from trainferry.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from trainferry.train.predict.predict import Prediction
    from trainferry.train.predict.reader import Reader


def check_attention(reader: Reader, paths: Sequence[Path], to: Path) -> None:
    facts = reader.signs
    if reader.look is None:
        raise UsageError(
            f"{reader.name} does not tell where it looks",
            hint=f"give the run, or export it again: step {facts.step} of recipe {facts.recipe}",
        )
    if to.suffix and to.suffix.lower() != ".png":
        raise UsageError(f"`{to}` is no PNG", hint="name a file that ends in .png, or a folder")
    if to.suffix and len(paths) > 1:
        raise UsageError(
            f"{len(paths)} pictures do not fit into `{to}`: each sign has one of its own",
            hint=f"pass a folder, for example --attention {to.with_suffix('')}",
        )


def refuse_read_targets(
    reader: Reader, paths: Sequence[Path], arguments: argparse.Namespace
) -> None:
    """Refuse to draw over a picture that is to be read."""
    targets = {name: getattr(arguments, name) for name in ("grid", "attention")}
    given = {name: target for name, target in targets.items() if target is not None}
    read = {file.resolve() for path in paths if given for file in reader.files_of(path)}
    for option, target in given.items():
        if target.resolve() in read:
            raise UsageError(
                f"`{target}` is a picture to read, and --{option} would draw over it",
                hint=f"name another file, for example --{option} {target.stem}_{option}.png",
            )


def draw_grid(answered: list[Prediction], path: Path) -> None:
    from trainferry.train.predict.picture_grid import Caption, picture_grid

    pictures, captions = [], []
    for each in answered:
        if each.picture is not None and each.answer is not None:
            pictures.append(each.picture)
            captions.append(Caption(each.answer.text, confidence=each.answer.confidence))
    picture_grid(pictures, captions, path)
    left = f", the first {len(pictures)} of {len(answered)}" * (len(pictures) < len(answered))
    _say(f"{path}: {counted(len(pictures), 'picture')} with the answers{left}")


def draw_attention(reader: Reader, paths: Sequence[Path], to: Path) -> None:
    from trainferry.train.predict.attention_picture import attention_picture, look_at

    for number, path in enumerate(paths, 1):
        name = f"{number:04d}_{path.stem}.png"
        target = to if to.suffix else to / name
        attention_picture(look_at(reader, path), target)
    shown = to if to.suffix else f"{to}: {counted(len(paths), 'picture')}"
    _say(f"{shown}: where the network looked for each character")


def _say(message: str) -> None:
    print(message, file=sys.stderr)
