"""Small projects on disk, migrated with one rule that always has something to do."""

from __future__ import annotations

from pathlib import Path

from trainferry.migrate.migration import Migration
from trainferry.migrate.options import Options
from trainferry.migrate.pipeline import migrate_project

ONLY_DROPOUT = Options(only=frozenset(["fused_dropout"]))
BEFORE = b"import tensorflow as tf\nnet = tf.nn.dropout(net, 0.8)\n"
AFTER = (
    b"import tensorflow as tf\nfrom npu_bridge.estimator import npu_ops\n"
    b"net = npu_ops.dropout(net, 0.8)\n"
)


def make_project(root: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    return root


def migrated(root: Path) -> Migration:
    return migrate_project(root, ONLY_DROPOUT)
