"""What an exported file that reads signs says: how views get in, and how texts come out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from trainferry.errors import PictureError
from trainferry.train.data.pictures import Picture
from trainferry.train.data.signs.charset import Charset
from trainferry.train.data.signs.views import place_views
from trainferry.train.recipe.tasks import SignPicture
from trainferry.train.signs import charset_of

_LAYOUT = (
    "the views of one sign from left to right; each is resized with Pillow's "
    "Image.resize((width, height), Image.Resampling.BILINEAR) so that all of it fits into its "
    "place, its proportions kept, and lies in the middle; what no view covers is noise: every "
    "value from 0 to 255 equally likely, as in the training data"
)
_DECODING = (
    "best class of every place, up to the first null; class n reads as the last character of "
    "entry n of the JSON list `charset`"
)
_CONFIDENCE = (
    "softmax over the classes of each place; a character's score is the value of its class, and "
    "the confidence the geometric mean of all scores and of that of the null that ends the text"
)
_ATTENTION = (
    "attention: float32, batch x {length} x {views} x rows x columns: for each character the "
    "share of every place of every view's map, 1 in sum"
)


@dataclass(frozen=True)
class SignFacts:
    """Facts that travel inside the file; whoever has the file needs nothing else.

    `charset` is as recipes have it: entry n holds the characters of code n, the null none.
    """

    recipe: str
    charset: tuple[str, ...]
    length: int
    picture: SignPicture
    step: int
    version: str
    scores: Mapping[str, float] = field(default_factory=dict)

    @property
    def height(self) -> int:
        return self.picture.height

    @property
    def width(self) -> int:
        """Width of all views together."""
        return self.picture.views * self.picture.width

    @property
    def outputs(self) -> str:
        return f"batch x {self.length} x {len(self.charset)}"

    @cached_property
    def characters(self) -> Charset:
        return charset_of(self.charset)

    def is_strip(self, picture: Picture) -> bool:
        """Tell whether a picture has all views side by side, in the size the network sees."""
        return picture.shape[:2] == (self.height, self.width)

    def prepare(self, picture: Picture) -> Picture:
        """Take all views side by side as they are, and any other picture as a single view."""
        return picture if self.is_strip(picture) else self.join([picture])

    def join(self, views: Sequence[Picture]) -> Picture:
        """Put views of one sign side by side, with the same noise every time."""
        if len(views) > self.picture.views:
            raise PictureError(
                f"{len(views)} views of one sign, and the network sees {self.picture.views}",
                hint=f"give up to {self.picture.views} pictures of a sign",
            )
        height, width = self.picture.height, self.picture.width
        return place_views(views, places=self.picture.views, height=height, width=width, seed=0)

    def to_metadata(self) -> dict[str, str]:
        """Return the properties as they are written, all of them texts."""
        picture = self.picture
        return {
            "task": "spell",
            "trainferry_version": self.version,
            "recipe": self.recipe,
            "step": str(self.step),
            "scores": json.dumps(dict(self.scores)),
            "charset": json.dumps(self.charset, ensure_ascii=False),
            "null": str(self.characters.null),
            "length": str(self.length),
            "views": str(picture.views),
            "view_height": str(picture.height),
            "view_width": str(picture.width),
            "picture_height": str(self.height),
            "picture_width": str(self.width),
            "picture_order": "rgb",
            "picture_layout_is": _LAYOUT,
            "picture_mean": json.dumps(picture.mean),
            "picture_deviation": json.dumps(picture.deviation),
            "picture_scale_inside_the_graph": "(x - picture_mean) / picture_deviation",
            "decoding": _DECODING,
            "confidence": _CONFIDENCE,
            "attention_is": self._attention(),
        }

    def describe(self) -> str:
        """Return, for people who open the file, how it is used."""
        picture = self.picture
        return (
            f"pictures: uint8, batch x {self.height} x {self.width} x 3, RGB, 0 to 255: "
            f"{picture.views} views of {picture.height} x {picture.width} (height x width) side by "
            f"side: {_LAYOUT}. Do not normalise: (x - {list(picture.mean)}) / "
            f"{list(picture.deviation)}, in the order RGB, is the first thing the graph does. "
            f"logits: float32, {self.outputs}; class {self.characters.null} is the null. "
            f"To read: {_DECODING}. Confidence: {_CONFIDENCE}. {self._attention()}."
        )

    def _attention(self) -> str:
        return _ATTENTION.format(length=self.length, views=self.picture.views)


def parse_signs(metadata: Mapping[str, str]) -> SignFacts:
    """Read the facts back; what is missing is a KeyError, what makes no sense a ValueError."""
    charset = tuple(map(str, json.loads(metadata["charset"])))
    if charset.count("") != 1:
        raise ValueError(f"the charset has {charset.count('')} nulls, not one")
    picture = SignPicture(
        views=int(metadata["views"]),
        height=int(metadata["view_height"]),
        width=int(metadata["view_width"]),
        mean=tuple(map(float, json.loads(metadata["picture_mean"]))),
        deviation=tuple(map(float, json.loads(metadata["picture_deviation"]))),
    )
    return SignFacts(
        recipe=metadata["recipe"],
        charset=charset,
        length=int(metadata["length"]),
        picture=picture,
        step=int(metadata["step"]),
        version=metadata["trainferry_version"],
        scores=dict(json.loads(metadata["scores"])),
    )
