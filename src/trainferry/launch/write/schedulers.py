"""The one door to all schedulers: a name, a plan and options in, files out."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import fields

from trainferry.errors import UsageError
from trainferry.launch.write.files import LaunchFile
from trainferry.launch.write.kubernetes import kubernetes_files
from trainferry.launch.write.modelarts import ModelArtsOptions, modelarts_files
from trainferry.launch.write.plan import LaunchPlan
from trainferry.launch.write.pods import KubernetesOptions
from trainferry.launch.write.slurm import SlurmOptions, slurm_files


def scheduler_files(
    scheduler: str, plan: LaunchPlan, options: Mapping[str, str]
) -> tuple[LaunchFile, ...]:
    """The files of a plan for one of SCHEDULERS; `options` are those of that scheduler."""
    if scheduler not in SCHEDULERS:
        raise UsageError(
            f"there are no files for `{scheduler}`", hint=f"known are {', '.join(SCHEDULERS)}"
        )
    if plan.starter == "torchrun" and plan.rank_table:
        raise UsageError(
            "torchrun numbers the ranks itself, and a rank table may number them differently",
            hint="leave out the rank table, or start the command for each rank without torchrun",
        )
    return SCHEDULERS[scheduler](plan, options)


def scheduler_options(scheduler: str) -> tuple[str, ...]:
    """The names of the options of a scheduler."""
    return tuple(one.name for one in fields(_OPTIONS[scheduler]))


def _slurm(plan: LaunchPlan, options: Mapping[str, str]) -> tuple[LaunchFile, ...]:
    _check("slurm", options)
    return slurm_files(plan, SlurmOptions(**options))


def _kubernetes(plan: LaunchPlan, options: Mapping[str, str]) -> tuple[LaunchFile, ...]:
    _check("kubernetes", options)
    return kubernetes_files(plan, KubernetesOptions(**options))


def _modelarts(plan: LaunchPlan, options: Mapping[str, str]) -> tuple[LaunchFile, ...]:
    _check("modelarts", options)
    return modelarts_files(plan, ModelArtsOptions(**options))


def _check(scheduler: str, options: Mapping[str, str]) -> None:
    known = scheduler_options(scheduler)
    for name in options:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean `{close[0]}`?" if close else f"known are {', '.join(known)}"
            raise UsageError(f"unknown option `{name}` for {scheduler}", hint=hint)


_OPTIONS = {
    "slurm": SlurmOptions,
    "kubernetes": KubernetesOptions,
    "modelarts": ModelArtsOptions,
}
_Writer = Callable[[LaunchPlan, Mapping[str, str]], tuple[LaunchFile, ...]]
SCHEDULERS: dict[str, _Writer] = {
    "slurm": _slurm,
    "kubernetes": _kubernetes,
    "modelarts": _modelarts,
}
