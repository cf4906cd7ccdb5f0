"""The part of `trainferry data` that deals with photographs and their classes."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from trainferry.cli.data_arguments import add_processes, add_to, data_folder, print_result
from trainferry.cli.parser import positive
from trainferry.cli.progress import progress_bar
from trainferry.errors import UsageError

if TYPE_CHECKING:
    from trainferry.cli.subparsers import Subparsers
    from trainferry.train.recipe.tasks import ClassifyRecipe, PhotoPicture


def add_imagenet(commands: Subparsers) -> None:
    parser = commands.add_parser("imagenet", help="pack the folders of ImageNet, or some of them")
    parser.add_argument(
        "source", type=Path, help="folder with train/<wnid> and val, or pictures with labels.tsv"
    )
    add_to(parser)
    parser.add_argument(
        "--classes", type=Path, metavar="FILE", help="all wnids and names: LOC_synset_mapping.txt"
    )
    parser.add_argument(
        "--boxes", type=Path, metavar="PATH", help="folder of XML files, or their CSV"
    )
    parser.add_argument(
        "--validation-labels",
        type=Path,
        metavar="FILE",
        help="wnids of val pictures that lie in one folder (default: a usual file beside them)",
    )
    parser.add_argument(
        "--shards-train",
        type=positive,
        metavar="N",
        help="record files (default: 1024, fewer below 65,000 pictures)",
    )
    parser.add_argument(
        "--shards-validation",
        type=positive,
        metavar="N",
        help="record files (default: 128, fewer below 8,000 pictures)",
    )
    add_processes(parser)
    parser.set_defaults(run=run_imagenet)


def run_imagenet(arguments: argparse.Namespace) -> int:
    from trainferry.train.data.photos.imagenet import ImagenetOptions, pack_imagenet

    options = ImagenetOptions(
        classes=arguments.classes,
        boxes=arguments.boxes,
        validation_labels=arguments.validation_labels,
        shards_train=arguments.shards_train,
        shards_validation=arguments.shards_validation,
        processes=arguments.processes,
    )
    with progress_bar("pictures") as progress:
        report = pack_imagenet(arguments.source, arguments.to, options, progress)
    print_result(arguments, report.to_json(), report.summary())
    return 0


def pack_classes(arguments: argparse.Namespace) -> int:
    from trainferry.train.data.photos.folder import PhotoFolderOptions, pack_photo_folder

    if arguments.layout:
        raise UsageError(
            "--layout is for words, and these are photographs",
            hint="leave it out",
        )
    options = PhotoFolderOptions(
        arguments.split,
        arguments.validation,
        arguments.names,
        arguments.processes,
        arguments.short_side,
        arguments.classes_from,
    )
    with progress_bar("pictures") as progress:
        report = pack_photo_folder(arguments.source, arguments.to, options, progress)
    print_result(arguments, report.to_json(), report.summary())
    return 0


def holds_photos(source: Path, split: str) -> bool:
    """Tell whether a record file, or the files of a split in a folder, hold photographs."""
    from trainferry.train.data.photos import records as photo_records

    if source.is_file():
        return photo_records.holds_photos(source)
    if not photo_records.has_photo_records(source, split):
        return False
    return photo_records.holds_photos(photo_records.find_photo_records(source, split)[0])


def unpack_classes(arguments: argparse.Namespace) -> int:
    from trainferry.train.data.photos.records import find_photo_records, has_photo_records
    from trainferry.train.data.photos.unpack import unpack_photos

    source: Path = arguments.source
    if source.is_file():
        splits = {"": [source]}
    elif arguments.split:
        splits = {"": find_photo_records(source, arguments.split)}
    else:
        splits = {
            split: find_photo_records(source, split)
            for split in ("train", "val", "test")
            if has_photo_records(source, split)
        } or {"": find_photo_records(source, "")}
    with progress_bar("records") as progress:
        report = unpack_photos(splits, arguments.to, progress)
    print_result(arguments, report.to_json(), report.summary())
    return 0


def check_classes(
    arguments: argparse.Namespace, task: ClassifyRecipe, picture: PhotoPicture
) -> int:
    from trainferry.train.data.photos.check import check_photos
    from trainferry.train.data.photos.records import (
        PhotoRecords,
        find_photo_records,
        has_photo_records,
        read_classes,
    )
    from trainferry.train.data.photos.sizes import describe_large, find_short_side

    source: Path = arguments.source
    folder = data_folder(source)
    paths = [source] if source.is_file() else find_photo_records(source, arguments.split)
    records = PhotoRecords(paths)
    classes = task.classes
    if task.classes_from == "data":
        named = records
        if source.is_dir() and has_photo_records(source, "train"):
            named = PhotoRecords(find_photo_records(source, "train"))
        classes = read_classes(folder, named)
    with progress_bar("records") as progress:
        check = check_photos(
            records,
            classes,
            pictures=not arguments.labels_only,
            processes=arguments.processes,
            progress=progress,
        )
    side = find_short_side(records, check.kept)
    summary = "\n".join(filter(None, (check.summary(), describe_large(side, picture))))
    print_result(arguments, {**check.to_json(), "short_side": side}, summary)
    return 0 if len(check.kept) else 1
