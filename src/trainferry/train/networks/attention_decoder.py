"""A recurrent decoder that, character by character, looks at one place of the pictures.

Wojna and others, 2017, https://arxiv.org/abs/1704.03549, on top of the attention decoder of
TensorFlow's legacy seq2seq library. Weights are those of the original; where two products follow
each other with nothing in between, their matrices are multiplied first, once per batch, so that
a step of the recurrence has few and large operations.

Shapes: B samples, N places, C channels, L characters, K classes, H hidden values of the cell.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional

from trainferry.errors import DataError
from trainferry.train.networks.attention_steps import StepWeights, attention_steps
from trainferry.train.networks.look_up import look_up

# Cell and hidden values, each B H, to what the next step and the classes are told, B S.
Look: TypeAlias = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Reader:
    """How the text is read: how many characters, where it looks, what it remembers.

    With `attention` a step looks wherever it wants, without it at a window that moves by one
    place. With `autoregression` it is told the character before.
    """

    length: int = 37
    attention: bool = True
    autoregression: bool = True
    hidden: int = 256
    cell_clip: float = 10.0


class AttentionDecoder(nn.Module):
    """Reads features, B N C, with attention."""

    def __init__(self, classes: int, channels: int, reader: Reader) -> None:
        super().__init__()
        self.classes = classes
        self.length = reader.length
        self.autoregression = reader.autoregression
        self.inputs = _linear(classes + channels, classes)
        self.cell = ClippedCell(classes, reader.hidden, reader.cell_clip)
        self.query = _linear(2 * reader.hidden, channels)
        self.key = nn.Linear(channels, channels, bias=False)
        nn.init.xavier_uniform_(self.key.weight)
        self.score = nn.Parameter(torch.empty(channels))
        nn.init.uniform_(self.score, -math.sqrt(3 / channels), math.sqrt(3 / channels))
        self.output = _linear(reader.hidden + channels, reader.hidden)
        self.classifier = build_classifier(reader.hidden, classes)

    def forward(self, features: Tensor, previous: Tensor | None = None) -> Tensor:
        """Map features, B N C, and the right characters, B L, if known, to scores, B L K."""
        return self.follow(features, self.links(len(features), previous))

    def follow(self, features: Tensor, links: Links) -> Tensor:
        """Map features to scores as the links say, which know of no feature."""
        if links.characters is not None or not torch.is_grad_enabled():
            return self._unroll(features, links)[0]
        states = attention_steps(links.given, self.key(features), features, self._weights(links))
        return links.classify(states.transpose(0, 1))

    def look(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Return the scores, B L K, and the share of each place in each character, B L N."""
        return self._unroll(features, self.links(len(features)))

    def _unroll(self, features: Tensor, links: Links) -> tuple[Tensor, Tensor]:
        keys = self.key(features)
        looked: list[Tensor] = []

        def look(carried: Tensor, hidden: Tensor) -> Tensor:
            query = self.query(torch.cat([carried, hidden], 1))
            fits = torch.tanh(keys + query[:, None]) @ self.score  # B N
            looked.append(torch.softmax(fits, 1))
            context = torch.bmm(looked[-1][:, None], features).squeeze(1)
            return torch.cat([hidden, context], 1)

        logits = unroll(self.cell, links, look)
        return logits, torch.stack(looked, 1)

    def _weights(self, links: Links) -> StepWeights:
        query = self.query
        return StepWeights(links.recurrent, query.weight, query.bias, self.score, self.cell.clip)

    def links(self, samples: int, previous: Tensor | None = None) -> Links:
        """Join the input layer with the cell, and the output layer with the classifier."""
        cell = self.cell
        gates = cell.weight_ih @ self.inputs.weight  # 4H K+C
        of_character, of_context = gates.split([self.classes, gates.shape[1] - self.classes], 1)
        bias = cell.weight_ih @ self.inputs.bias + cell.bias + cell.forget_bias
        return Links(
            given=bias.expand(self.length, samples, -1),
            characters=of_character.t() if self.autoregression else None,
            recurrent=torch.cat([cell.weight_hh, of_context], 1),
            voice=self.classifier.weight @ self.output.weight,
            voice_bias=self.classifier.weight @ self.output.bias + self.classifier.bias,
        ).told(previous)


class ClippedCell(nn.Module):
    """An LSTM cell by its gates, i f g o; what it carries on stays within `clip`.

    As in TensorFlow there is one bias, and a forget bias of 1 that is neither stored nor trained.
    """

    forget_bias: Tensor

    def __init__(self, inputs: int, hidden: int, clip: float) -> None:
        super().__init__()
        self.hidden = hidden
        self.clip = clip
        kernel = nn.init.orthogonal_(torch.empty(inputs + hidden, 4 * hidden))
        self.weight_ih = nn.Parameter(kernel[:inputs].t().contiguous())
        self.weight_hh = nn.Parameter(kernel[inputs:].t().contiguous())
        self.bias = nn.Parameter(torch.zeros(4 * hidden))
        forget = functional.pad(torch.ones(hidden), (hidden, 2 * hidden))
        self.register_buffer("forget_bias", forget, persistent=False)

    def forward(self, gates: Tensor, carried: Tensor) -> tuple[Tensor, Tensor]:
        """Return what the cell says and what it carries on, each B H."""
        hidden = self.hidden
        open_, new, said = gates.split([2 * hidden, hidden, hidden], 1)
        enter, keep = torch.sigmoid(open_).chunk(2, 1)
        carried = torch.addcmul(enter * torch.tanh(new), keep, carried)
        carried = carried.clamp(-self.clip, self.clip)
        return torch.sigmoid(said) * torch.tanh(carried), carried


class Links(NamedTuple):
    """The matrices of one batch; S values are handed from step to step."""

    given: Tensor  # L B 4H: gates that no step before decides
    characters: Tensor | None  # K 4H: gates of the character before; None: all is given
    recurrent: Tensor  # 4H S
    voice: Tensor  # K S
    voice_bias: Tensor  # K

    def told(self, previous: Tensor | None) -> Links:
        """Give the gates of the right characters, B L, if they are known and of use."""
        if previous is None or self.characters is None:
            return self
        if previous.shape[1] != len(self.given):
            raise DataError(
                f"the network reads {len(self.given)} characters, labels have {previous.shape[1]}",
                hint="pad or cut the labels to the length of the recipe",
            )
        told = look_up(previous[:, :-1].t(), self.characters)
        given = torch.cat([self.given[:1], self.given[1:] + told])
        return self._replace(given=given, characters=None)

    def classify(self, states: Tensor) -> Tensor:
        return functional.linear(states, self.voice, self.voice_bias)


def unroll(cell: ClippedCell, links: Links, look: Look) -> Tensor:
    """Read all characters, one step after the other."""
    if links.characters is None:
        return _follow(cell, links, look)
    return _feed_back(cell, links, links.characters, look)


def build_classifier(inputs: int, classes: int) -> nn.Linear:
    """The last layer, with orthogonal weights to start from."""
    classifier = nn.Linear(inputs, classes)
    nn.init.orthogonal_(classifier.weight)
    nn.init.zeros_(classifier.bias)
    return classifier


def _follow(cell: ClippedCell, links: Links, look: Look) -> Tensor:
    """Unroll where all gates are given: the classes are scored once, for all steps together."""
    carried = torch.zeros_like(links.given[0, :, : cell.hidden])
    states: list[Tensor] = []
    for given in links.given.unbind():
        gates = given + functional.linear(states[-1], links.recurrent) if states else given
        hidden, carried = cell(gates, carried)
        states.append(look(carried, hidden))
    return links.classify(torch.stack(states, 1))


def _feed_back(cell: ClippedCell, links: Links, characters: Tensor, look: Look) -> Tensor:
    """Unroll on what was read so far; one product gives the scores and the next gates."""
    both = torch.cat([links.recurrent, links.voice])
    sizes = len(links.recurrent), len(links.voice)
    bias = functional.pad(links.voice_bias, (sizes[0], 0))
    gates, *later = links.given.unbind()
    carried = torch.zeros_like(gates[:, : cell.hidden])
    scores: list[Tensor] = []
    for given in (*later, None):
        hidden, carried = cell(gates, carried)
        product = functional.linear(look(carried, hidden), both, bias)
        recurrent, logits = product.split(sizes, 1)
        scores.append(logits)
        if given is not None:
            gates = given + recurrent + functional.embedding(logits.argmax(1), characters)
    return torch.stack(scores, 1)


def _linear(inputs: int, outputs: int) -> nn.Linear:
    layer = nn.Linear(inputs, outputs)
    nn.init.xavier_uniform_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer
