"""Which file says what the pictures of a folder show, and how it is to be read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from trainferry.errors import DataError
from trainferry.train.data.pack import NO_TAB, Problem
from trainferry.train.data.picture_names import is_picture
from trainferry.train.data.words.label_forms import (
    FORMS,
    TAB,
    Form,
    parse_document,
    read_document,
    read_lines,
)
from trainferry.train.data.words.label_lines import read_head, read_list, refuse_utf16
from trainferry.train.data.words.picture_files import Labelled

LIST = "gt.tsv"
_SUFFIXES = (".txt", ".tsv", ".csv", ".json", ".jsonl")
_FORMS_HINT = "; ".join(f"{form.looks} ({form.writers})" for form in FORMS)


@dataclass(frozen=True)
class LabelFile:
    """A file of labels and the form of its lines; None is one document, of MMOCR 1.x."""

    path: Path
    form: Form | None

    @property
    def kind(self) -> str:
        return "mmocr" if self.form is None else self.form.name

    def describe(self) -> str:
        if self.form is None:
            return f"reading {self.path.name} as annotations of MMOCR 1.x: `data_list`"
        return f"reading {self.path.name} as lines of {self.form.writers}: {self.form.looks}"


def find_labels(folder: Path) -> LabelFile | None:
    """Return the label file in a folder: gt.tsv, or the only one of a known form.

    Raises DataError when there are several: which one is meant is not guessed.
    """
    if (folder / LIST).is_file():
        return LabelFile(folder / LIST, TAB)
    found = [path for path in sorted(folder.iterdir()) if _may_be_labels(path)]
    if len(found) > 1:
        names = ", ".join(f"`{path.name}`" for path in found)
        raise DataError(
            f"`{folder}` has {len(found)} files that could be the labels: {names}",
            hint=f"pass one of them: --labels {found[0]}",
        )
    return open_labels(found[0]) if found else None


def lists_in(folder: Path) -> list[Path]:
    """Return the files of a folder that could be lists by their names."""
    return [path for path in sorted(folder.iterdir()) if _is_list(path)]


def open_labels(path: Path) -> LabelFile:
    """Recognise the form of a label file. Raises DataError when it has none, or two."""
    if path.name == LIST:
        return LabelFile(path, TAB)
    refuse_utf16(path)
    head = read_head(path)
    if _is_document(path, head):
        return LabelFile(path, None)
    read = {form: [line for line in head if form.parse(line) is not None] for form in FORMS}
    found = [form for form in FORMS if read[form]]
    if len(found) > 1:
        told = ", ".join(f"{len(read[form]):,} {form.looks} ({read[form][0]!r})" for form in found)
        raise DataError(
            f"the lines of `{path}` are of several forms: {told}",
            hint="write all lines in one form, or each form into a file of its own",
        )
    if not found:
        raise _no_form(path, head)
    return LabelFile(path, found[0])


def read_labels(labels: LabelFile) -> tuple[list[Labelled], str]:
    """Return the words of a label file, and its text, which tells one file from another."""
    lines = read_list(labels.path)
    text = "\n".join(line for _, line in lines)
    file = labels.path.name
    if labels.form is None:
        return list(read_document(parse_document(text) or (), file)), text
    if file == LIST:
        return list(_read_own(line for _, line in lines)), text
    return list(read_lines(labels.form, lines, file)), text


def _read_own(lines: Iterable[str]) -> Iterator[Labelled]:
    for line in lines:
        name, tab, text = line.partition("\t")
        if not tab:
            yield Problem(line, NO_TAB)
        elif not text:
            yield Problem(name, "empty text")
        else:
            yield name, text


def _may_be_labels(path: Path) -> bool:
    """Tell whether a file that nobody asked for is a label file of words.

    Half of the lines have to be of one form and name pictures. Where each folder has one text only,
    the file names the classes of photographs.
    """
    if not _is_list(path):
        return False
    head = read_head(path)
    if _is_document(path, head):
        return True
    for form in FORMS:
        words = [found for line in head if (found := form.parse(line)) is not None]
        pictures = sum(is_picture(names[0]) for names, _ in words)
        if words and pictures * 2 >= len(head):
            return not _are_classes(words)
    return False


def _is_list(path: Path) -> bool:
    named = not path.name.startswith(".") and path.suffix.lower() in _SUFFIXES
    return named and path.is_file()


def _are_classes(words: Sequence[tuple[list[str], str]]) -> bool:
    texts: defaultdict[str, set[str]] = defaultdict(set)
    for names, text in words:
        texts[names[0].rpartition("/")[0]].add(text)
    return 1 < len(texts) < len(words) and all(len(found) == 1 for found in texts.values())


def _is_document(path: Path, head: Sequence[str]) -> bool:
    """Look for the one key first: not every large JSON file has to be read to its end."""
    if not head or not head[0].lstrip().startswith("{") or '"data_list"' not in "".join(head):
        return False
    return parse_document(path.read_text(encoding="utf-8-sig", errors="replace")) is not None


def _no_form(path: Path, head: Sequence[str]) -> DataError:
    if not head:
        return DataError(f"`{path}` is empty", hint=f"the lines may be {_FORMS_HINT}")
    if any('"transcription"' in line for line in head):
        return DataError(
            f"`{path}` has the boxes of whole pages, for detection, and no words",
            hint="cut the words out first; PPOCRLabel does it (Export Recognition Result) and "
            "writes rec_gt.txt",
        )
    return DataError(
        f"no line of `{path}` is of a form that can be read; the first is {head[0][:80]!r}",
        hint=f"the lines may be {_FORMS_HINT}; a list of photographs and their classes goes to "
        "--classes-from",
    )
