"""What is learnt from which pictures: the sections that words and photographs have of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True)
class RecogniseRecipe:
    """What is learnt: the characters in the order of their classes, and how labels are folded.

    With `alphabet_from` "data", the ord_map.json of the data says the characters; the
    recipe saved with a run always holds them.
    """

    name: Literal["recognise"] = "recognise"
    alphabet_from: Literal["recipe", "data"] = "recipe"
    alphabet: str = "0123456789abcdefghijklmnopqrstuvwxyz"
    case: Literal["lower", "keep"] = "lower"
    max_length: int = 23
    merge_repeated: bool = True


@dataclass(frozen=True)
class WordPicture:
    """The picture of a word that a network sees.

    `scale` "unit" is [-1, 1]; "half" is the [-0.5, 0.5] with which the originals
    score benchmarks, kept to reproduce their published figures.
    """

    height: int = 32
    width: int = 100
    order: Literal["rgb", "bgr"] = "rgb"
    filter: Literal["antialias", "bilinear"] = "antialias"
    scale: Literal["unit", "half"] = "unit"


@dataclass(frozen=True)
class WordAugment:
    """How much training pictures vary, each from 0 (not at all) to 1."""

    geometry: float = 0.0
    colour: float = 0.0
    blur: float = 0.0
    noise: float = 0.0


@dataclass(frozen=True)
class ClassifyRecipe:
    """What is learnt: the names of the classes; label n of the records is name n - 1.

    With `classes_from` "data", the data says the names; the recipe saved with a run always
    holds them. With a `background`, the network has a class 0 that no picture belongs to.
    """

    name: Literal["classify"] = "classify"
    classes_from: Literal["recipe", "data"] = "data"
    classes: tuple[str, ...] = ()
    background: bool = True
    label_smoothing: float = 0.0


@dataclass(frozen=True)
class PhotoPicture:
    """The part of a photograph that a network sees, and its values.

    `crop` "distorted_box" is TensorFlow's `sample_distorted_bounding_box`, "random_resized"
    the one usual with PyTorch. "canvas_box" draws as the first, on a canvas `evaluation_size`
    high that is then stretched over the photograph; what is marked in it does not count.
    `evaluation` "central_box" takes the middle, `height` of `evaluation_size`, without keeping
    proportions, as TensorFlow's `crop_and_resize`. `filter` "legacy" samples as TensorFlow 1
    does, without half pixels. With `decode` "scaled" and the filter "antialias", a JPEG whose box
    is much larger than what the network sees is decoded smaller in training; all else is decoded
    whole. With `values` "bytes", training pictures are rounded to whole values on their way to
    the device; those of an evaluation never are.
    """

    height: int = 224
    width: int = 224
    crop: Literal["distorted_box", "random_resized", "canvas_box"] = "distorted_box"
    least_area: float = 0.05
    least_aspect: float = 0.75
    most_aspect: float = 1.33
    attempts: int = 100
    evaluation: Literal["short_side", "squash", "central_box"] = "short_side"
    evaluation_size: int = 256
    filter: Literal["legacy", "antialias"] = "legacy"
    decode: Literal["whole", "scaled"] = "whole"
    values: Literal["bytes", "floats"] = "bytes"
    mean: tuple[float, ...] = (123.68, 116.78, 103.94)
    deviation: tuple[float, ...] = (1.0, 1.0, 1.0)


@dataclass(frozen=True)
class PhotoAugment:
    """How training pictures vary beside their crop; `mixup` and `cutmix` are the usual alphas."""

    flip: float = 0.5
    operations: int = 0
    magnitude: float = 9.0
    mixup: float = 0.0
    cutmix: float = 0.0
    erasing: float = 0.0

    @property
    def changes_values(self) -> bool:
        """Whether pictures change on the device, where they are bytes until then."""
        return bool(self.operations or self.mixup or self.cutmix or self.erasing)


@dataclass(frozen=True)
class SpellRecipe:
    """What is learnt: the characters by their codes, and how long a text can be.

    Entry n of `charset` holds the characters that share code n, the one it reads as last; the
    empty entry is the null. With `charset_from` "data", the charset file of the data says them;
    the recipe saved with a run always holds them. `count_nulls` lets the places behind a text
    count in the loss, as the original does.
    """

    name: Literal["spell"] = "spell"
    charset_from: Literal["recipe", "data"] = "data"
    charset: tuple[str, ...] = ()
    max_length: int = 37
    label_smoothing: float = 0.1
    count_nulls: bool = True


@dataclass(frozen=True)
class SignPicture:
    """The views of a sign that a network sees, side by side; height and width are of one."""

    views: int = 4
    height: int = 150
    width: int = 150
    mean: tuple[float, ...] = (127.5, 127.5, 127.5)
    deviation: tuple[float, ...] = (102.0, 102.0, 102.0)


@dataclass(frozen=True)
class SignAugment:
    """How training pictures vary, each view by itself; 1 is as much as the original does.

    `crop` cuts away up to a fifth of the area, `colour` changes brightness, saturation, hue and
    contrast; `blur`, `noise`, `geometry` and views that are `shuffled` are not in the original.
    """

    crop: float = 1.0
    colour: float = 1.0
    geometry: float = 0.0
    blur: float = 0.0
    noise: float = 0.0
    shuffled: bool = False


TaskRecipe: TypeAlias = RecogniseRecipe | ClassifyRecipe | SpellRecipe
PictureRecipe: TypeAlias = WordPicture | PhotoPicture | SignPicture
AugmentRecipe: TypeAlias = WordAugment | PhotoAugment | SignAugment
