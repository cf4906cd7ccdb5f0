"""What an input pipeline feeds at some place of it."""

from __future__ import annotations

import ast

from trainferry.migrate.file import File
from trainferry.migrate.phases import Phase, phase_of


def feeds_training(file: File, node: ast.AST) -> bool:
    """Whether it feeds training, alone or beside evaluation."""
    return phase_of(file, node) in (Phase.TRAIN, Phase.BOTH)
