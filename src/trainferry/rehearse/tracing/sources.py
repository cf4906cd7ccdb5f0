"""The datasets at which a pipeline begins."""

from __future__ import annotations

SOURCES = (
    "TensorSliceDataset",
    "TFRecordDataset",
    "FixedLengthRecordDataset",
    "FixedLengthRecordDatasetV2",
    "TextLineDataset",
    "GeneratorDataset",
    "RangeDataset",
)
