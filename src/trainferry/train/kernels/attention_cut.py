"""How the steps of the attention decoder are cut into programs."""

from __future__ import annotations

from dataclasses import dataclass

from trainferry.train.kernels.rows import power_of_two

_LOOKING = 264  # programs that look at the same time: two on each processor of a large device
_ROWS, _COLUMNS = 16, 64  # a tile of which each of 128 threads loads eight values at once
_NARROW = 32  # channels; for a number of them that is no multiple of the above
_NEAR_BYTES = 2**16  # that loads on their way may take of a processor's own memory
_MOST_STAGES = 4
_BLOCKS = 6  # that the threads of four warps keep in registers
_FETCHED_BYTES = 16  # rows are fetched in multiples of it
_AHEAD = 32  # places; what all programs fetch together has to stay in the cache


@dataclass(frozen=True)
class Sizes:
    """Steps L, samples B, places N, channels C, and hidden values of the cell H."""

    steps: int
    samples: int
    places: int
    channels: int
    hidden: int

    @property
    def state(self) -> int:
        return self.hidden + self.channels


@dataclass(frozen=True)
class Cut:
    """How many programs look at a sample, its `parts`, and what every program takes.

    Who looks takes `tiles` of `rows` places with all channels, `columns` at a time, and fetches
    the first places `ahead` of its question. Who multiplies takes a `tile` of samples and some
    `units` of the result, and `depth` values at a time. All but parts and tiles are powers of
    two.
    """

    size: Sizes
    parts: int
    tiles: int
    rows: int = _ROWS
    columns: int = _COLUMNS
    ahead: int = 0
    look_stages: int = _MOST_STAGES
    look_warps: int = 4
    tile: int = 16
    units: int = 16
    depth: int = 128
    stages: int = _MOST_STAGES
    warps: int = 4
    gather_rows: int = 32
    gather_columns: int = _COLUMNS
    gather_warps: int = 4
    chained: bool = False
    fetches: bool = False

    @property
    def blocks(self) -> int:
        """How many times a program takes its columns."""
        return -(-self.size.channels // self.columns)

    @property
    def gathering(self) -> tuple[int, int, int]:
        """The programs that gather gradients, over samples, places and channels."""
        size = self.size
        across = -(-size.channels // self.gather_columns)
        return size.samples, -(-size.places // self.gather_rows), across

    def multiplying(self, columns: int) -> tuple[int, int]:
        """The programs of a product with so many columns."""
        return -(-self.size.samples // self.tile), -(-columns // self.units)

    def look(self, *, follows: bool = True) -> dict[str, int]:
        """The constants of a program that looks; it `follows` another one if it can be chained."""
        return {
            "PARTS": power_of_two(self.parts),
            "TILES": self.tiles,
            "ROWS": self.rows,
            "BLOCKS": self.blocks,
            "COLUMNS": self.columns,
            "STAGES": self.look_stages,
            "AHEAD": self.ahead,
            "num_warps": self.look_warps,
            **self._chain(follows),
        }

    def product(self, *, follows: bool = True) -> dict[str, int]:
        """The constants of a program that multiplies."""
        return {
            "TILE": self.tile,
            "UNITS": self.units,
            "DEPTH": self.depth,
            "STAGES": self.stages,
            "FETCHES": self.fetches,
            "num_warps": self.warps,
            **self._chain(follows),
        }

    def gather(self) -> dict[str, int]:
        """The constants of a program that gathers gradients."""
        return {
            "ROWS": self.gather_rows,
            "COLUMNS": self.gather_columns,
            "num_warps": self.gather_warps,
        }

    def _chain(self, follows: bool) -> dict[str, int]:
        if self.chained and follows:
            return {"CHAINED": True, "launch_pdl": True}
        return {"CHAINED": False}


def choose_cut(size: Sizes, *, chained: bool, value_bytes: int) -> Cut:
    """All programs that look should run at the same time, each as long as the others."""
    blocks = -(-size.channels // _COLUMNS)
    wanted = max(1, _LOOKING // max(1, size.samples))
    tiles = -(-size.places // (wanted * _ROWS))
    # All that is multiplied or looked at has rows of so many values, or of sums of them.
    widths = (size.channels, size.hidden)
    fetches = chained and all(width * value_bytes % _FETCHED_BYTES == 0 for width in widths)
    return Cut(
        size,
        parts=-(-size.places // (tiles * _ROWS)),
        tiles=tiles,
        ahead=_AHEAD if fetches else 0,
        look_stages=_stages(2 * _ROWS * blocks * _COLUMNS * value_bytes),
        look_warps=min(16, 4 * power_of_two(-(-blocks // _BLOCKS))),
        stages=_stages((Cut.tile + 4 * Cut.units) * Cut.depth * value_bytes),
        gather_columns=_NARROW if size.channels % _COLUMNS else _COLUMNS,
        chained=chained,
        fetches=fetches,
    )


def _stages(load_bytes: int) -> int:
    """How many loads of this size are worked on: the one that is there, and those on their way."""
    return min(_MOST_STAGES, 1 + _NEAR_BYTES // load_bytes)
