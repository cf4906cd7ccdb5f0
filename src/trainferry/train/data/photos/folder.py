"""A tree with a folder for each class into records of photographs."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from trainferry.errors import DataError, UsageError
from trainferry.train.data.photos.class_list import read_class_list
from trainferry.train.data.photos.classes import PhotoClass, find_classes
from trainferry.train.data.photos.imagenet_classes import read_class_file
from trainferry.train.data.photos.pack import SMALLER_QUALITY, Photo, PhotoSplit, pack_photos
from trainferry.train.data.photos.report import PhotoReport
from trainferry.train.data.photos.tree import (
    VALIDATION_FOLDERS,
    ClassTree,
    find_folder,
    list_class_tree,
    list_folders,
)

SHARD_BYTES = 150_000_000
_SPLIT_NAMES = {"val": "validation", "valid": "validation"}
_SHOWN = 10


@dataclass(frozen=True)
class PhotoFolderOptions:
    """How a class-per-folder tree becomes records; `validation` is the share split off.

    Photographs with a longer `short_side` are made smaller; 0 keeps them as they are. A
    `class_list` takes the place of the folders.
    """

    split: str = "train"
    validation: float = 0.0
    names: Path | None = None
    processes: int = 1
    short_side: int = 0
    class_list: Path | None = None


def pack_photo_folder(
    source: Path,
    folder: Path,
    options: PhotoFolderOptions,
    progress: Callable[[int, int], None] | None = None,
) -> PhotoReport:
    """Write `train-00000-of-0000n` and so on, and `classes.json` with the names of the classes."""
    trees = _find_trees(source, options)
    classes = _choose_classes(trees, folder, options)
    labels = {one.folder: label for label, one in enumerate(classes, 1)}
    splits = []
    for name, tree in trees.items():
        _check_known(tree, labels)
        if options.validation and name == "train":
            kept, apart = _split_off(tree, options.validation)
            parts = {"train": kept, "validation": apart}
        else:
            parts = {name: tree.pictures}
        for part, pictures in parts.items():
            photos = _number(pictures, labels)
            shards = _count_shards(tree.root, photos, options.short_side)
            splits.append(PhotoSplit(part, tree.root, photos, shards))
    side = options.short_side
    report = pack_photos(splits, classes, folder, options.processes, progress, short_side=side)
    report.notes = [f"classes: {len(classes):,}, in classes.json"]
    if side:
        report.notes.append(f"short side: {side} at most; JPEG quality {SMALLER_QUALITY} if larger")
    report.notes += [note for tree in trees.values() for note in tree.notes()]
    return report


def _find_trees(source: Path, options: PhotoFolderOptions) -> dict[str, ClassTree]:
    if not re.fullmatch(r"[\w-]+", options.split):
        raise UsageError(
            f"`{options.split}` cannot name a split", hint="use letters: train, val or test"
        )
    train = source / "train"
    if options.validation and options.split != "train":
        raise UsageError(
            f"--validation takes pictures from the training set, not from `{options.split}`",
            hint="leave --split or --validation out",
        )
    if options.class_list is not None:
        tree = read_class_list(source, options.class_list)
        return {_SPLIT_NAMES.get(options.split, options.split): tree}
    if not (train.is_dir() and list_folders(train)):
        return {_SPLIT_NAMES.get(options.split, options.split): list_class_tree(source)}
    trees = {"train": list_class_tree(train)}
    validation = find_folder(source, VALIDATION_FOLDERS)
    if validation is not None:
        trees["validation"] = list_class_tree(validation)
    if (source / "test").is_dir() and list_folders(source / "test"):
        trees["test"] = list_class_tree(source / "test")
    if options.validation and validation is not None:
        raise UsageError(
            f"--validation {options.validation}, but `{validation}` is there already",
            hint="leave --validation out, or pass the `train` folder alone",
        )
    return trees


def _choose_classes(
    trees: Mapping[str, ClassTree], folder: Path, options: PhotoFolderOptions
) -> tuple[PhotoClass, ...]:
    """Number the classes by their folders, or as the records that are there already do."""
    known = find_classes(folder)
    if known is not None and "train" not in trees:
        return known
    tree = trees.get("train") or next(iter(trees.values()))
    names = read_class_file(options.names).names if options.names else {}
    _check_names(tree)
    classes = tuple(PhotoClass(names.get(one, one), one) for one in tree.pictures)
    if len(classes) < 2:
        raise DataError(
            f"`{tree.root}` has pictures of one class only: `{classes[0].folder}`",
            hint="pass the folder whose folders are the classes, or a list with all of them",
        )
    if names and not any(one.folder in names for one in classes):
        raise DataError(
            f"`{options.names}` names none of the folders, such as `{classes[0].folder}`",
            hint="each line is the name of a folder, a space or tab, and the name of the class",
        )
    return classes


def _check_names(tree: ClassTree) -> None:
    """Records and classes.json hold text, which the name of a folder need not be."""
    for name in tree.pictures:
        try:
            name.encode()
        except UnicodeEncodeError as error:
            raise DataError(
                f"the name of the folder `{tree.root / name}` is not UTF-8",
                hint="rename it, for example with convmv: it is the name of a class",
            ) from error


def _check_known(tree: ClassTree, labels: Mapping[str, int]) -> None:
    unknown = [name for name in tree.pictures if name not in labels]
    if unknown:
        shown = ", ".join(f"`{name}`" for name in unknown[:_SHOWN])
        more = f" and {len(unknown) - _SHOWN} more" if len(unknown) > _SHOWN else ""
        raise DataError(
            f"`{tree.root}` has classes that the training set has not: {shown}{more}",
            hint="name the classes alike in all splits, or leave them out",
        )


def _split_off(tree: ClassTree, share: float) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Take a share of every class away, always the same pictures; each keeps one at least."""
    kept, apart = {}, {}
    for name, pictures in tree.pictures.items():
        count = min(max(1, round(share * len(pictures))), len(pictures) - 1)
        chosen = set(random.Random(f"validation of {name}").sample(pictures, count))
        kept[name] = [one for one in pictures if one not in chosen]
        apart[name] = [one for one in pictures if one in chosen]
    return kept, apart


def _number(pictures: Mapping[str, list[str]], labels: Mapping[str, int]) -> list[Photo]:
    return [Photo(path, labels[one]) for one, paths in pictures.items() for path in paths]


def _count_shards(root: Path, photos: Sequence[Photo], short_side: int) -> int:
    """Aim at files of a handy size; what is made smaller has less than a byte for each pixel."""
    most = short_side**2 or math.inf
    size = sum(min((root / photo.path).stat().st_size, most) for photo in photos)
    return min(max(1, round(size / SHARD_BYTES)), len(photos) or 1)
