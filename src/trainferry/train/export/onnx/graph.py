"""The network of a run as an ONNX graph, with all that happens to resized pictures inside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import nn

from trainferry.errors import ExportError
from trainferry.train.export.onnx.crnn import build_crnn
from trainferry.train.export.onnx.photos import build_photos
from trainferry.train.export.onnx.signs import build_signs
from trainferry.train.networks.attention_ocr import AttentionOCR
from trainferry.train.networks.crnn import CRNN
from trainferry.train.recipe.tasks import PhotoPicture, SignPicture, WordPicture

if TYPE_CHECKING:
    from onnx import ModelProto


def build_graph(
    network: nn.Module, picture: WordPicture | PhotoPicture | SignPicture
) -> ModelProto:
    """Return the graph: bytes in, B H W 3, always RGB; class scores out."""
    if isinstance(picture, PhotoPicture):
        return build_photos(network, picture)
    if isinstance(network, AttentionOCR) and isinstance(picture, SignPicture):
        return build_signs(network, picture)
    if isinstance(network, CRNN) and isinstance(picture, WordPicture):
        return build_crnn(network, picture)
    raise ExportError(
        f"a network of the kind {type(network).__name__} cannot be exported yet",
        hint="export a CRNN, a ResNet, a DenseNet, an HRNet or an Attention-OCR",
    )
