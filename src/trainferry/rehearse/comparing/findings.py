"""Turns a comparison into findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainferry.rehearse.checks import (
    free_draws,
    names_differ,
    not_compared,
    not_repeatable,
    numbers_differ,
    weights_copied,
)
from trainferry.rehearse.comparing.comparison import Apart, Comparison
from trainferry.rehearse.finding import Finding

_SHOWN = 3
_HINTS = {
    "batch": "the two runs read other data: look for a pipeline that was rewritten, for "
    "`drop_remainder`, sharding, or randomness that no seed pins",
    "loss": "batch and weights were equal, so the forward pass differs: look at layers that were "
    "replaced, their defaults (`forget_bias`, epsilon) and at dropout",
    "gradient": "the loss agrees, so what follows it differs: loss scale, clipping, averaging over "
    "ranks, `stop_gradient`",
    "weight": "the gradients agree, so the update differs: optimizer, learning rate, weight decay, "
    "moving averages",
}
_AT_START = "give these variables the same initial values, for instance from a checkpoint"


def comparison_findings(comparison: Comparison, noise: Comparison | None = None) -> list[Finding]:
    """What to know about two runs; nothing where all is equal by name.

    `noise` is how the original differs from itself, where that is known.
    """
    return [
        *_parting(comparison, noise),
        *_start(comparison),
        *_names(comparison),
        *_draws(comparison),
    ]


def _parting(comparison: Comparison, noise: Comparison | None) -> Iterator[Finding]:
    if comparison.agrees:
        return
    if noise is not None and not noise.agrees:
        is_within = comparison.is_within(noise)
        yield _not_repeatable(noise, is_within)
        if is_within:
            return
    hint = "see that both scripts train, and that their runs come to a train step"
    operators: tuple[str, ...] = ()
    if (parting := comparison.parting) is not None:
        number, tensor = parting
        hint = _AT_START if number == 0 else _hint(comparison, number, tensor)
        operators = (tensor.name,) if tensor.kind in ("gradient", "weight") else ()
    yield Finding(
        "numbers-differ",
        numbers_differ.TOLD.severity,
        comparison.summary,
        hint,
        operators=operators,
    )


def _not_repeatable(noise: Comparison, is_within: bool) -> Finding:
    beside = "and the migrated project differs from it no more than that"
    if not is_within:
        beside = "but the migrated project differs from it by more"
    told = not_repeatable.TOLD
    message = f"the original gives other numbers when it is run again, {beside}: {noise.summary}"
    return Finding("not-repeatable", told.severity, message, told.hint)


def _hint(comparison: Comparison, number: int, tensor: Apart) -> str:
    if number > 1 and tensor.relative < 100 * comparison.tolerance:
        return (
            "it begins after steps that agree, and small: rounding that grows does this; see "
            + ("whether operators were replaced by others that compute the same")
        )
    return _HINTS[tensor.kind]


def _start(comparison: Comparison) -> Iterator[Finding]:
    if comparison.copied:
        yield Finding(
            "weights-copied",
            weights_copied.TOLD.severity,
            f"{_count(comparison.copied)} started with other values; for the comparison they got "
            "those of the other run",
            weights_copied.TOLD.hint,
            operators=comparison.copied,
        )


def _names(comparison: Comparison) -> Iterator[Finding]:
    if comparison.partners:
        told = [f"`{ours}` is `{theirs}`" for ours, theirs in comparison.partners]
        yield Finding(
            "names-differ",
            names_differ.TOLD.severity,
            "variables have other names than in the original and were compared by shape and order: "
            + _few(told),
            names_differ.TOLD.hint,
            operators=tuple(ours for ours, _ in comparison.partners),
        )
    alone = [f"`{name}`" for name in comparison.only_original]
    if alone:
        yield Finding(
            "names-differ",
            names_differ.TOLD.severity,
            f"{_few(alone)} of the original have no partner of their shape in the migrated run and "
            "were not compared",
            "layers with another layout, such as a GRU of the device, keep other weights: "
            "compare their outputs",
        )
    if comparison.not_compared:
        told = [f"`{name}`" for name in comparison.not_compared]
        yield Finding(
            "not-compared",
            not_compared.TOLD.severity,
            f"only one run has a gradient, or in another form, of {_few(told)}",
            not_compared.TOLD.hint,
            operators=comparison.not_compared,
        )


def _draws(comparison: Comparison) -> Iterator[Finding]:
    if comparison.free_draws:
        told = [f"`{name}`" for name in comparison.free_draws]
        yield Finding(
            "free-draws",
            free_draws.TOLD.severity,
            f"{_few(told)} draws random numbers that the other run does not draw",
            free_draws.TOLD.hint,
            operators=comparison.free_draws,
        )


def _count(names: Sequence[str]) -> str:
    return f"`{names[0]}`" if len(names) == 1 else f"{len(names)} variables"


def _few(told: Sequence[str]) -> str:
    rest = len(told) - _SHOWN
    return ", ".join(told[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
