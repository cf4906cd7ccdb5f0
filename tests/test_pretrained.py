"""The weights that come with the repository read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from trainferry.train.build import open_run
from trainferry.train.data.render.words.make import WordsOptions, render_samples
from trainferry.train.predict.reader import run_reader
from trainferry.train.tasks.decode import greedy

PRETRAINED = Path(__file__).resolve().parents[1] / "pretrained"


@pytest.mark.parametrize(("style", "least"), [("plain", 0.9), ("street", 0.75)])
def test_crnn_words_reads_rendered_words_it_has_not_seen(style: str, least: float) -> None:
    reader = run_reader(open_run(PRETRAINED / "crnn_words", device=torch.device("cpu")))
    words = list(render_samples(WordsOptions(count=80, seed=97, split="unseen", style=style)))  # type: ignore[arg-type]  # one of the styles
    logits = reader.logits(np.stack([reader.prepare(word.picture) for word in words]))
    read = [reader.alphabet.decode(reading.classes) for reading in greedy(logits)]
    right = sum(text == word.text.label.lower() for text, word in zip(read, words, strict=True))
    assert right / len(words) >= least
