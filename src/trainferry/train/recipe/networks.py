"""The networks a recipe may name, each with the sizes that only it has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True)
class CRNNRecipe:
    """Convolutions and a recurrent network that read one line of text.

    `identical_kernels` starts all LSTM kernels from the same values, as the fused cells of
    the zoo do; it is there to compare with them, not because it helps.
    """

    name: Literal["crnn"] = "crnn"
    channels: tuple[int, ...] = (64, 128, 256, 256, 512, 512, 512)
    hidden: int = 256
    layers: int = 2
    dropout: float = 0.5
    norm_decay: float = 0.999
    identical_kernels: bool = False


@dataclass(frozen=True)
class ResNetRecipe:
    """Residual blocks; `size` is the number of layers, `width` the channels of the first.

    `variant` "official" is that of TensorFlow's official models; "zoo" the one that the model zoo
    calls ResNet50_ID0058: other padding, and blocks that begin as if they were not there.
    """

    name: Literal["resnet"] = "resnet"
    size: int = 50
    version: int = 1
    variant: Literal["official", "zoo"] = "official"
    width: int = 64
    norm_decay: float = 0.997


@dataclass(frozen=True)
class DenseNetRecipe:
    """Densely connected blocks; `size` is the number of layers.

    `variant` "original" is the TensorFlow original, without a normalisation behind the first
    convolution; "paper" has it, and pads the first pooling.
    """

    name: Literal["densenet"] = "densenet"
    size: int = 121
    growth: int = 32
    variant: Literal["original", "paper"] = "original"
    norm_decay: float = 0.9


@dataclass(frozen=True)
class HRNetRecipe:
    """Parallel resolutions; `width` is the number of channels of the finest.

    The three stages have two, three and four branches, and as many `modules` as it says; each
    branch of a module has so many `blocks`.
    """

    name: Literal["hrnet"] = "hrnet"
    width: int = 18
    head: int = 128
    modules: tuple[int, ...] = (1, 4, 3)
    blocks: int = 4
    norm_decay: float = 0.999


@dataclass(frozen=True)
class AttentionOCRRecipe:
    """An Inception-v3 tower for each view, and a decoder that reads one text from all of them.

    `endpoint` is where the tower ends. Without `attention` each step looks at a window that
    moves by one place; without `autoregression` it is not told the character before.
    """

    name: Literal["attention_ocr"] = "attention_ocr"
    endpoint: str = "Mixed_5d"
    attention: bool = True
    autoregression: bool = True
    coordinates: bool = False
    hidden: int = 256
    cell_clip: float = 10.0
    norm_decay: float = 0.9997


NetworkRecipe: TypeAlias = (
    CRNNRecipe | ResNetRecipe | DenseNetRecipe | HRNetRecipe | AttentionOCRRecipe
)
