"""The folders of ImageNet into the records of the originals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trainferry.counted import counted
from trainferry.errors import DataError, UsageError
from trainferry.train.data.photos.boxes import XmlBoxes, read_csv_boxes
from trainferry.train.data.photos.classes import PhotoClass
from trainferry.train.data.photos.example import Boxes
from trainferry.train.data.photos.imagenet_classes import (
    WNID,
    ClassFile,
    number_classes,
    place_classes,
    read_class_file,
)
from trainferry.train.data.photos.imagenet_lists import (
    LABELS,
    Listed,
    find_validation_list,
    read_labels,
    read_validation_list,
)
from trainferry.train.data.photos.pack import Photo, PhotoSplit, pack_photos
from trainferry.train.data.photos.report import PhotoReport
from trainferry.train.data.photos.tree import (
    VALIDATION_FOLDERS,
    find_folder,
    list_class_tree,
    list_folders,
    list_pictures,
)

_SHARDS = {"train": 1024, "validation": 128}
_LEAST_IN_A_SHARD = 64
_SPLITS = {"": "train", "train": "train", "val": "validation", "validation": "validation"}


@dataclass(frozen=True)
class ImagenetOptions:
    """Where classes, boxes and validation labels are, if not where they usually are.

    Without a number of shards they are the 1024 and 128 of the originals, or as many as have
    64 pictures each.
    """

    classes: Path | None = None
    boxes: Path | None = None
    validation_labels: Path | None = None
    shards_train: int | None = None
    shards_validation: int | None = None
    processes: int = 1


def pack_imagenet(
    source: Path,
    folder: Path,
    options: ImagenetOptions,
    progress: Callable[[int, int], None] | None = None,
) -> PhotoReport:
    """Write `train-00000-of-01024`, `validation-00000-of-00128` and so on, and `classes.json`."""
    listed = read_class_file(options.classes) if options.classes else None
    found = _find_pictures(source, options, listed)
    classes = _choose_classes(found, listed)
    labels = {one.folder: label for label, one in enumerate(classes, 1)}
    boxes = _open_boxes(options.boxes)
    splits = []
    for name, pictures in found.pictures.items():
        asked = options.shards_train if name == "train" else options.shards_validation
        shards = _count_shards(name, len(pictures), asked)
        root = found.roots[name]
        if isinstance(boxes, XmlBoxes):
            photos = [Photo(path, labels[wnid]) for path, wnid in pictures]
            splits.append(PhotoSplit(name, root, photos, shards, boxes))
        else:
            photos = [
                Photo(path, labels[wnid], boxes.get(Path(path).name, ())) for path, wnid in pictures
            ]
            splits.append(PhotoSplit(name, root, photos, shards))
    report = pack_photos(splits, classes, folder, options.processes, progress)
    report.notes = [_describe(classes, found, options), *found.notes]
    if options.boxes:
        report.notes.append(f"{counted(report.boxes, 'box', 'boxes')} in the files written now")
    return report


@dataclass
class _Found:
    """The pictures of each split with their wnids, and what lists say about classes."""

    roots: dict[str, Path] = field(default_factory=dict)
    pictures: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    indices: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add_tree(self, split: str, root: Path) -> None:
        tree = list_class_tree(root)
        for wnid in tree.pictures:
            if not WNID.fullmatch(wnid):
                raise DataError(
                    f"`{root / wnid}` is not named by a wnid, such as n01440764",
                    hint="`trainferry data folder` packs folders with names of your own",
                )
        self.roots[split] = root
        self.pictures[split] = [
            (path, wnid) for wnid in tree.pictures for path in tree.pictures[wnid]
        ]
        self.notes += tree.notes()

    def wnids(self, split: str) -> set[str]:
        return {wnid for _, wnid in self.pictures.get(split, ())}


def _find_pictures(source: Path, options: ImagenetOptions, listed: ClassFile | None) -> _Found:
    found = _Found()
    train, validation = source / "train", find_folder(source, VALIDATION_FOLDERS)
    if not train.is_dir() and validation is None:
        if not (source / LABELS).is_file():
            raise DataError(
                f"`{source}` has neither `train` nor `val` folders, nor a {LABELS}",
                hint="pass the folder that holds `train/n01440764/*.JPEG` and `val`",
            )
        _add_listed(found, source, read_labels(source / LABELS, source))
        return found
    if train.is_dir():
        found.add_tree("train", train)
    if validation is not None and list_folders(validation):
        found.add_tree("validation", validation)
    elif validation is not None:
        wnids = sorted(listed.names if listed else found.wnids("train"))
        _add_flat(found, source, validation, options, (wnids, listed))
    return found


def _add_flat(
    found: _Found,
    source: Path,
    root: Path,
    options: ImagenetOptions,
    known: tuple[Sequence[str], ClassFile | None],
) -> None:
    pictures = list_pictures(root)
    path = options.validation_labels or find_validation_list((source, root))
    if path.name == LABELS:
        classes = {Path(one.path).name: one.wnid for one in read_labels(path, root)}
    else:
        classes = read_validation_list(path, pictures, *known)
    found.roots["validation"] = root
    found.pictures["validation"] = [(name, classes[name]) for name in pictures if name in classes]
    if unlisted := len(pictures) - len(found.pictures["validation"]):
        found.notes.append(
            f"left out {counted(unlisted, 'picture')} that `{path.name}` does not name"
        )


def _add_listed(found: _Found, source: Path, listed: Sequence[Listed]) -> None:
    for one in listed:
        split = _SPLITS.get(one.split)
        if split is None:
            raise DataError(
                f"`{one.split}` is no split of {LABELS}", hint="the splits are train and val"
            )
        found.roots[split] = source
        found.pictures.setdefault(split, []).append((one.path, one.wnid))
        if one.name:
            found.names[one.wnid] = one.name
        if one.index is not None and found.indices.setdefault(one.wnid, one.index) != one.index:
            raise DataError(
                f"{LABELS} gives `{one.wnid}` two indices, one of them {one.index}",
                hint="correct the list",
            )
    named = {Path(one.path).name for one in listed}
    here = [*list_pictures(source), *_inner_pictures(source)]
    if unlisted := len(set(here) - named):
        found.notes.append(f"left out {counted(unlisted, 'picture')} that {LABELS} does not name")


def _inner_pictures(source: Path) -> list[str]:
    return list_pictures(source / "images") if (source / "images").is_dir() else []


def _choose_classes(found: _Found, listed: ClassFile | None) -> tuple[PhotoClass, ...]:
    wnids = found.wnids("train") or found.wnids("validation")
    strange = found.wnids("validation") - wnids
    if strange and listed is None:
        raise DataError(
            f"{len(strange)} classes of the validation set are not in the training set: "
            f"{', '.join(sorted(strange)[:5])}",
            hint="pass the list of all classes to --classes",
        )
    if found.indices.keys() == wnids and listed is None:
        if len(set(found.indices.values())) < len(wnids):
            raise DataError(f"{LABELS} gives one index to two classes", hint="correct the list")
        return place_classes(found.indices, found.names)
    classes = number_classes(wnids | strange, found.names, listed)
    _check_indices(classes, found.indices)
    return classes


def _check_indices(classes: Sequence[PhotoClass], indices: Mapping[str, int]) -> None:
    for place, one in enumerate(classes):
        if indices.get(one.folder, place) != place:
            raise DataError(
                f"{LABELS} gives `{one.folder}` the index {indices[one.folder]}, but it is "
                f"number {place} of the sorted wnids",
                hint="pass the list of all classes to --classes",
            )


def _open_boxes(path: Path | None) -> XmlBoxes | dict[str, Boxes]:
    if path is None:
        return {}
    return XmlBoxes(path) if path.is_dir() else read_csv_boxes(path)


def _count_shards(split: str, pictures: int, asked: int | None) -> int:
    if not pictures:
        raise DataError(f"there are no `{split}` pictures", hint="check the folder")
    if asked is None:
        return min(_SHARDS[split], -(-pictures // _LEAST_IN_A_SHARD))
    if asked > pictures:
        raise UsageError(
            f"--shards-{split} {asked}, but there are {pictures} pictures",
            hint="ask for fewer shards, or leave the number out",
        )
    return asked


def _describe(classes: Sequence[PhotoClass], found: _Found, options: ImagenetOptions) -> str:
    if options.classes:
        rule = f"the sorted wnids of {options.classes.name}"
    elif found.indices:
        rule = f"the indices of {LABELS}, and one"
    else:
        rule = "the sorted wnids of the folders"
    line = f"labels 1 to {len(classes):,}: {rule}"
    nameless = sum(one.name in (one.folder, f"class {n}") for n, one in enumerate(classes, 1))
    if nameless:
        line += f"; {nameless:,} have no name: --classes LOC_synset_mapping.txt gives them"
    return line
