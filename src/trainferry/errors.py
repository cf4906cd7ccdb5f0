"""Every error a user can meet, as one tree; each says what is wrong and what to do."""

from __future__ import annotations


class TrainferryError(Exception):
    """A problem the user can fix. The command line prints it with its hint and exits with 1."""

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(message)
        self.hint = hint

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        # Errors cross from worker processes; pickle knows no keyword arguments.
        return _rebuild, (type(self), str(self), self.hint)


class UsageError(TrainferryError):
    """The command line was used in a way it does not offer; exits with 2."""


class RecipeError(TrainferryError):
    """A recipe, or an override of it, cannot be used."""


class DataError(TrainferryError):
    """Something in the data cannot be used."""


class RecordError(DataError):
    """A record file, or a record in it, is damaged or of another kind."""


class PictureError(DataError):
    """Bytes that should be a picture are none."""


class CheckpointError(TrainferryError):
    """A checkpoint is damaged, unsafe, or belongs to something else."""


class DeviceError(TrainferryError):
    """The device asked for is not here or cannot do what was asked."""


class TrainingError(TrainferryError):
    """Training cannot go on, though everything it was given could be read."""


class LaunchError(TrainferryError):
    """Ranks cannot be started, or do not find each other."""


class RehearsalError(TrainferryError):
    """A project cannot be rehearsed here: no interpreter for it, or its script does not start."""


class ExportError(TrainferryError):
    """An exported file does not say what the network says."""


class WriteError(TrainferryError):
    """Files cannot be written; those that were there are as they were."""


class MissingPackageError(TrainferryError):
    """A package that this command needs is not installed."""

    def __init__(self, package: str, needed_for: str) -> None:
        super().__init__(
            f"the package `{package}` is not installed; {needed_for} needs it",
            hint=f"pip install {package}, or pip install 'trainferry[train]' for all of them",
        )


def _rebuild(kind: type[TrainferryError], message: str, hint: str) -> TrainferryError:
    error = kind.__new__(kind)
    Exception.__init__(error, message)
    error.hint = hint
    return error
