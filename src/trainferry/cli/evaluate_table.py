"""Scores of checkpoints, as lines of text: one for each."""

from __future__ import annotations

from collections.abc import Sequence

from trainferry.cli.columns import Column, Row, table


def word_table(rows: Sequence[Row]) -> list[str]:
    """Return one line per checkpoint that reads words, or signs, with the originals' scores."""
    originals = [
        Column("seq. orig.", lambda row: f"{row['sequence_accuracy_original']:.2%}", 10),
        Column("char. orig.", lambda row: f"{row['character_accuracy_original']:.2%}", 11),
    ]
    return table(
        rows,
        [
            *_CHECKPOINT,
            Column("sequence", lambda row: f"{row['sequence_accuracy']:.2%}", 9),
            Column("character", lambda row: f"{row['character_accuracy']:.2%}", 9),
            Column("edit", lambda row: f"{row['edit_similarity']:.2%}", 7),
            *(originals if rows and "sequence_accuracy_original" in rows[0] else []),
            *_COUNTS,
            Column("left out", lambda row: f"{row['left_out']:.0f}", 8),
            _SAVED,
        ],
    )


def photo_table(rows: Sequence[Row]) -> list[str]:
    """Return one line per checkpoint that names photographs."""
    return table(
        rows,
        [
            *_CHECKPOINT,
            Column("top-1", lambda row: f"{row['top1']:.2%}", 7),
            Column("top-5", lambda row: f"{row['top5']:.2%}", 7),
            Column("macro F1", lambda row: f"{row['macro_f1']:.2%}", 8),
            *_COUNTS,
            _SAVED,
        ],
    )


_CHECKPOINT = (
    Column("step", lambda row: str(row["step"]), 9),
    Column("epoch", lambda row: "-" if row["epoch"] is None else f"{row['epoch']:.2f}", 7),
)
_COUNTS = (
    Column("loss", lambda row: f"{row['loss']:.4f}", 8),
    Column("samples", lambda row: f"{row['samples']:.0f}", 8),
)
_SAVED = Column("saved", lambda row: row["saved"] or "-", left=True)
