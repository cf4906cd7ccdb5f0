"""The variables of the TensorFlow HRNet and the weights of ours that hold the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainferry.train.networks.hrnet import BLOCKS, MODULES
from trainferry.train.tf_checkpoint.mapping import (
    TensorMapping,
    classifier_mappings,
    convolution_mapping,
    norm_mappings,
    numbered,
)

SCOPE = "HRNET/"


def hrnet_mappings(
    modules: Sequence[int] = MODULES, blocks: int = BLOCKS
) -> tuple[TensorMapping, ...]:
    """Every variable that inference needs; the names are the same for all widths."""
    found: list[TensorMapping] = []
    for scope, ours in (*_front(blocks), *_stages(modules, blocks), *_head()):
        found.append(convolution_mapping(f"{SCOPE}{scope}/weights", f"{ours}.convolution"))
        found += norm_mappings(f"{SCOPE}{scope}/BatchNorm", f"{ours}.norm")
    return (*found, *classifier_mappings(f"{SCOPE}CLS_HEAD/dense", "classifier"))


def _front(blocks: int) -> Iterator[tuple[str, str]]:
    for place in range(2):
        yield f"HR_FRONT/{numbered('Conv', place)}", f"stem.{place}"
    for block in range(blocks):
        yield from _bottleneck(f"HR_FRONT/_BN{block}", f"front.{block}", projects=block == 0)
    for branch in range(2):
        yield f"HR_FRONT/{numbered('Conv', 2 + branch)}", f"transition.{branch}"


def _stages(modules: Sequence[int], blocks: int) -> Iterator[tuple[str, str]]:
    for stage, count in enumerate(modules):
        branches = stage + 2
        for module in range(count):
            scope = f"HRStage_{branches}_M{module}"
            ours = f"stages.{stage}.modules_in_order.{module}"
            yield from _branches(scope, ours, (branches, blocks))
            yield from _ways(scope, ours, branches)
        if stage < len(modules) - 1:
            last = f"HRStage_{branches}_M{count - 1}_D_TAIL{branches + 1}"
            yield f"{last}/Conv", f"new_branches.{stage}"


def _branches(scope: str, ours: str, counts: tuple[int, int]) -> Iterator[tuple[str, str]]:
    branches, blocks = counts
    for branch in range(branches):
        for block in range(blocks):
            for unit in range(2):
                yield (
                    f"{scope}_B{branch}_C{block}/{numbered('Conv', unit)}",
                    f"{ours}.branches.{branch}.{block}.units.{unit}",
                )


def _ways(scope: str, ours: str, branches: int) -> Iterator[tuple[str, str]]:
    for start in range(branches):
        for goal in range(branches):
            way = f"{ours}.ways.{start}_{goal}"
            if start > goal:
                yield f"{scope}_U{start}to{goal}/Conv", way
            for step in range(goal - start):
                yield f"{scope}_D{start}_X{step}_D{goal}/Conv", f"{way}.{step}"


def _head() -> Iterator[tuple[str, str]]:
    for branch in range(4):
        yield from _bottleneck(f"CLS_HEAD_BK{branch}", f"head.{branch}", projects=True)
    for branch in range(3):
        yield f"CLS_HEAD_DS{branch}/Conv", f"head_downs.{branch}"
    yield "CLS_HEAD_final/Conv", "last"


def _bottleneck(scope: str, ours: str, *, projects: bool) -> Iterator[tuple[str, str]]:
    for unit in range(3):
        yield f"{scope}/{numbered('Conv', unit)}", f"{ours}.units.{unit}"
    if projects:
        yield f"{scope}/Conv_3", f"{ours}.shortcut"
