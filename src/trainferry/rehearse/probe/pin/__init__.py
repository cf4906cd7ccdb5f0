"""Pins randomness: two runs of a project draw the same numbers, also when one is migrated.

Each random operator gets a seed of its own, made from its name. A run that follows another one
takes the seeds of that; an operator whose name only the second has takes the seed of the first
run's operator of its kind whose turn it is.
"""

from ..after_import import call_after_import
from . import listing, numpy_draws, python_draws
from .seeds import Seeds


def pin(settings):
    """Pin what a run draws, if `settings`, the rehearsal's watch file, has a seed."""
    if settings.get("seed") is None:
        return
    seeds = Seeds(settings["seed"], settings["folder"], settings.get("follow"))
    listing.sort_folders()
    python_draws.pin(seeds)
    call_after_import("numpy", lambda numpy: numpy_draws.pin(numpy, seeds))

    def pin_tensorflow(tensorflow):
        from . import clocks, datasets, graph_draws, graph_optimizers, host_functions, queues

        graph_draws.pin(seeds)
        graph_optimizers.pin()
        datasets.pin(seeds)
        queues.pin()
        clocks.pin()
        host_functions.pin(seeds)
        listing.sort_files_of_tensorflow()

    call_after_import("tensorflow", pin_tensorflow)
