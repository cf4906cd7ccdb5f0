"""The run as TensorBoard shows it: curves, and validation pictures with what was read.

The file is written here, not by TensorBoard's own writer: that one writes from a thread
of its own, which on a full disk fails where nobody can answer for it.
"""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainferry.train.data.tfrecord import frame_record
from trainferry.train.data.whole_file import explain_write_errors
from trainferry.train.journal import Evaluated, Event, Logged

if TYPE_CHECKING:
    from trainferry.train.data.batches import Source


class Board:
    """Writes events for TensorBoard; `open_board` says whether that is possible here."""

    def __init__(self, folder: Path, validation: Source | None) -> None:
        self._validation = validation
        name = f"events.out.tfevents.{int(time.time())}.{socket.gethostname()}.{os.getpid()}"
        self._path = folder / name
        with explain_write_errors(self._path):
            folder.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("ab", buffering=0)
        self._append(file_version="brain.Event:2")

    def write(self, event: Event) -> None:
        if isinstance(event, Logged):
            values = {
                "train/loss": event.loss,
                "train/learning_rate": event.learning_rate,
                "speed/images_per_second": event.images_per_second,
                "speed/waiting_share": event.waiting_share,
                "train/loss_scale": event.loss_scale,
            }
            self._scalars(values, event.step)
        elif isinstance(event, Evaluated):
            self._scalars({f"val/{k}": v for k, v in event.scores.items()}, event.step)
            self._pictures(event)

    def close(self) -> None:
        self._file.close()

    def _scalars(self, values: dict[str, float], step: int) -> None:
        from torch.utils.tensorboard.summary import scalar

        for name, value in values.items():
            self._append(step=step, summary=scalar(name, value))

    def _pictures(self, event: Evaluated) -> None:
        from torch.utils.tensorboard.summary import image

        from trainferry.train.predict.picture_grid import Caption, draw_grid

        if self._validation is None or not event.examples:
            return
        pictures = [self._validation.shown(each.position) for each in event.examples]
        captions = [
            Caption(read=each.read, truth=each.truth, confidence=each.confidence)
            for each in event.examples
        ]
        grid = draw_grid(pictures, captions, columns=4)
        self._append(step=event.step, summary=image("val/read", grid, dataformats="HWC"))

    def _append(self, **content: Any) -> None:  # noqa: ANN401  # what an event of TensorBoard holds
        from tensorboard.compat.proto.event_pb2 import Event as BoardEvent

        message = BoardEvent(wall_time=time.time(), **content)
        with explain_write_errors(self._path):
            self._file.write(frame_record(message.SerializeToString()))


def open_board(folder: Path, validation: Source | None) -> Board | None:
    """Return a board, or None where TensorBoard is not installed."""
    try:
        import torch.utils.tensorboard  # noqa: F401  # only asked whether it is there
    except ImportError:
        return None
    return Board(folder / "tensorboard", validation)
