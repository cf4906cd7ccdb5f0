"""The variables of Attention-OCR and Inception-v3 and the weights of ours that hold the same."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from trainferry.train.networks.inception_v3_parts import convolutions_up_to
from trainferry.train.tf_checkpoint.layout import AS_IS, LSTM_BIAS, LSTM_KERNEL, MATRIX, Layout
from trainferry.train.tf_checkpoint.mapping import (
    TensorMapping,
    classifier_mappings,
    convolution_mapping,
)

SCOPE = "AttentionOcr_v1/"
_TOWER = f"{SCOPE}conv_tower_fn/INCE/"
_SEQUENCE = f"{SCOPE}sequence_logit_fn/SQLR/"

# Ours -> TensorFlow's; there is no gamma. Statistics are kept, not trained.
_NORM = {"bias": "beta", "running_mean": "moving_mean", "running_var": "moving_variance"}

# A convolution of one pixel, 1 1 I O, is a matrix, O I.
_PIXEL_CONVOLUTION = Layout(
    4,
    lambda kernel: (np.ascontiguousarray(kernel[0, 0].T),),
    lambda matrix: np.ascontiguousarray(matrix.T)[None, None],
)


def attention_ocr_mappings(endpoint: str, attention: bool) -> tuple[TensorMapping, ...]:
    """Every variable that inference needs, in the order of the network."""
    decoder = _attention() if attention else _cell(f"{_SEQUENCE}LSTM/rnn_decoder")
    return (*_tower(endpoint, _TOWER), *decoder, *_classifier())


def inception_mappings(endpoint: str) -> tuple[TensorMapping, ...]:
    """The variables of the tower as they are called in a checkpoint of Inception-v3 alone."""
    return tuple(_tower(endpoint, scope=""))


def _tower(endpoint: str, scope: str) -> Iterator[TensorMapping]:
    for name, path in convolutions_up_to(endpoint):
        theirs, ours = f"{scope}InceptionV3/{name}", f"tower.{path}"
        yield convolution_mapping(f"{theirs}/weights", f"{ours}.convolution")
        for our_name, their_name in _NORM.items():
            yield TensorMapping(
                f"{theirs}/BatchNorm/{their_name}",
                (f"{ours}.norm.{our_name}",),
                AS_IS,
                trained=our_name == "bias",
            )


def _attention() -> Iterator[TensorMapping]:
    scope = f"{_SEQUENCE}LSTM/attention_decoder"
    yield from classifier_mappings(scope, "decoder.inputs")
    yield from _cell(scope)
    yield from classifier_mappings(f"{scope}/Attention_0", "decoder.query")
    yield TensorMapping(f"{scope}/AttnW_0", ("decoder.key.weight",), _PIXEL_CONVOLUTION)
    yield TensorMapping(f"{scope}/AttnV_0", ("decoder.score",), AS_IS)
    yield from classifier_mappings(f"{scope}/AttnOutputProjection", "decoder.output")


def _cell(scope: str) -> Iterator[TensorMapping]:
    weights = ("decoder.cell.weight_ih", "decoder.cell.weight_hh")
    yield TensorMapping(f"{scope}/lstm_cell/kernel", weights, LSTM_KERNEL)
    yield TensorMapping(f"{scope}/lstm_cell/bias", ("decoder.cell.bias",), LSTM_BIAS)


def _classifier() -> Iterator[TensorMapping]:
    yield TensorMapping(f"{_SEQUENCE}softmax_w", ("decoder.classifier.weight",), MATRIX)
    yield TensorMapping(f"{_SEQUENCE}softmax_b", ("decoder.classifier.bias",), AS_IS)
