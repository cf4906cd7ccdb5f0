"""Word lists that a reading must come from.

Shapes: B samples, T columns, K classes (blank last).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from trainferry.errors import DataError
from trainferry.train.data.text_file import read_text
from trainferry.train.tasks.align import align_reading
from trainferry.train.tasks.ctc import ctc_losses, impossible_labels
from trainferry.train.tasks.reading import Reading

if TYPE_CHECKING:
    from trainferry.train.data.words.alphabet import Alphabet


class Lexicon:
    """Words in the classes of an alphabet, as a tree of beginnings; node 0 is the empty one.

    `left_out` are the words that the alphabet cannot spell.
    """

    def __init__(
        self, words: Iterable[str], alphabet: Alphabet, *, case: Literal["lower", "keep"] = "lower"
    ) -> None:
        self.words: list[tuple[int, ...]] = []
        self.left_out: list[str] = []
        self._children: list[dict[int, int]] = [{}]
        self._ends: list[bool] = [False]
        self._sorted: dict[int, NDArray[np.int64]] = {}
        spelt = frozenset(alphabet.characters)
        folded = (word.lower() if case == "lower" else word for word in words)
        for word in dict.fromkeys(folded):
            if not word:
                continue
            if spelt.issuperset(word):
                self._add(tuple(alphabet.encode(word)))
            else:
                self.left_out.append(word)

    @classmethod
    def read(
        cls, path: Path, alphabet: Alphabet, *, case: Literal["lower", "keep"] = "lower"
    ) -> Self:
        """Read a file with one word per line."""
        try:
            lines = read_text(path, "--lexicon").splitlines()
        except OSError as error:
            raise DataError(
                f"cannot read the word list `{path}`: {error.strerror or error}",
                hint="give a text file with one word per line",
            ) from error
        lexicon = cls((line.strip() for line in lines), alphabet, case=case)
        if not lexicon.words:
            raise DataError(
                f"the word list {path} has no word that the alphabet can spell",
                hint=f"one word per line, written with: {alphabet.characters[:80]}",
            )
        return lexicon

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, classes: object) -> bool:
        if not isinstance(classes, tuple):
            return False
        node = 0
        for character in classes:
            if character not in self._children[node]:
                return False
            node = self._children[node][character]
        return self._ends[node]

    def next_classes(self, node: int) -> NDArray[np.int64]:
        """Return the characters that may follow the beginning `node`, in rising order."""
        if node not in self._sorted:
            self._sorted[node] = np.array(sorted(self._children[node]), dtype=np.int64)
        return self._sorted[node]

    def follow(self, node: int, character: int) -> int:
        return self._children[node][character]

    def is_word(self, node: int) -> bool:
        return self._ends[node]

    def _add(self, word: tuple[int, ...]) -> None:
        node = 0
        for character in word:
            following = self._children[node].get(character)
            if following is None:
                following = len(self._children)
                self._children[node][character] = following
                self._children.append({})
                self._ends.append(False)
            node = following
        self._ends[node] = True
        self.words.append(word)


def best_in_lexicon(logits: Tensor, lexicons: Sequence[Lexicon]) -> list[Reading]:
    """Return the most probable word of each picture's own lexicon, by scoring every word of it.

    Exact, and meant for small lexicons such as the 50 words of a street view; `beam` searches large
    ones. `logits` are B T K, with one lexicon per picture. If no word fits into the columns the
    reading is empty, with confidence 0.
    """
    return [_best_word(scores, lexicon) for scores, lexicon in zip(logits, lexicons, strict=True)]


def _best_word(logits: Tensor, lexicon: Lexicon) -> Reading:
    if not lexicon.words:
        return Reading((), 0.0, (), ())
    columns, classes = logits.shape
    lengths = torch.tensor([len(word) for word in lexicon.words])
    labels = torch.full((len(lexicon), int(lengths.max())), classes - 1)
    for row, word in enumerate(lexicon.words):
        labels[row, : len(word)] = torch.tensor(word)
    labels, lengths = labels.to(logits.device), lengths.to(logits.device)
    losses = ctc_losses(logits.detach().expand(len(lexicon), -1, -1), labels, lengths)
    losses = losses.masked_fill(impossible_labels(labels, lengths, columns), math.inf)
    best = int(losses.argmin())
    if math.isinf(float(losses[best])):
        return Reading((), 0.0, (), ())
    log_probabilities = torch.log_softmax(logits.detach().float(), 1).cpu().double().numpy()
    confidence = min(math.exp(-float(losses[best])), 1.0)
    return align_reading(log_probabilities, lexicon.words[best], confidence)
