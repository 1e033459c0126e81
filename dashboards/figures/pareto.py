"""Time against on-chip memory: the Pareto front, and few points that stand for many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dashboards.runview import RunView
from dashboards.text import plain

if TYPE_CHECKING:
    from numpy.typing import NDArray

SVG_POINTS = 5_000
_VALUE_CHARACTERS = 16
_FINEST = 2_500


@dataclass(frozen=True, eq=False)
class ParetoData:
    """Points to draw.

    `time_us` and `on_chip_bytes` are (m,), `positions` their places in the view; `stands_for` says how many
    configurations each drawn point stands for (all ones unless thinned). `front` (ordered by bytes) and
    `best` are places in the view, always among the drawn points; `total` counts the ok configurations
    with known bytes.
    """

    positions: NDArray[np.int64]
    time_us: NDArray[np.float64]
    on_chip_bytes: NDArray[np.float64]
    stands_for: NDArray[np.int64]
    front: NDArray[np.int64]
    best: int | None
    total: int

    @property
    def thinned(self) -> bool:
        """Whether some ok configurations are not drawn as points of their own."""
        return len(self.positions) < self.total


def pareto_front(time_us: NDArray[np.float64], memory: NDArray[np.float64]) -> NDArray[np.int64]:
    """Places of the points that no other point beats or equals in both, in order of memory.

    Of several equal points the first is taken. Both arrays (m,), finite.
    """
    order = np.lexsort((np.arange(len(time_us)), time_us, memory))
    times = time_us[order]
    before = np.concatenate(([np.inf], np.minimum.accumulate(times)[:-1]))
    return order[times < before]


def pareto_data(view: RunView, limit: int = SVG_POINTS) -> ParetoData:
    """Points of `view`, at most about `limit` of them.

    Above `limit` the plane is cut into equal bins, and the fastest configuration of each bin stands for all
    in it; the front and the best are kept whatever their number.
    """
    positions = np.flatnonzero(view.ok & np.isfinite(view.on_chip_bytes))
    time_us, memory = view.time_us[positions], view.on_chip_bytes[positions]
    front = pareto_front(time_us, memory)
    best = view.best if view.best is not None and view.best in positions else None
    stands_for = np.ones(len(positions), dtype=np.int64)
    if len(positions) > limit:
        must = front if best is None else np.append(front, np.flatnonzero(positions == best))
        kept, stands_for = thin(time_us, memory, must, max(1, limit - len(must)))
    else:
        kept = np.arange(len(positions))
    return ParetoData(positions[kept], time_us[kept], memory[kept], stands_for, positions[front], best, len(positions))


def thin(
    time_us: NDArray[np.float64], memory: NDArray[np.float64], must: NDArray[np.int64], bins: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Places to draw, ascending, and how many points each stands for: one a bin, and all of `must`."""
    cell = _cells(time_us, memory, max(1, int(np.sqrt(bins))))
    # Points stand in clusters as a rule, so much finer bins may still be few that hold any.
    side = 2 * int(np.sqrt(bins))
    while 2 <= side <= _FINEST:
        finer = _cells(time_us, memory, side)
        occupied = np.zeros(side * side, dtype=bool)
        occupied[finer] = True
        if int(occupied.sum()) > bins:
            break
        cell, side = finer, 2 * side
    order = np.lexsort((np.arange(len(cell)), time_us, cell))
    first = np.concatenate(([True], np.diff(cell[order]) > 0))
    fastest = order[first]
    counts = np.diff(np.append(np.flatnonzero(first), len(order)))
    total = np.zeros(len(cell), dtype=np.int64)
    total[fastest] = counts
    # A point of the front that is not the fastest of its bin stands for itself and is taken off its bin's
    # count.
    extra = np.setdiff1d(must, fastest)
    total[extra] = 1
    owner = fastest[np.searchsorted(cell[fastest], cell[extra])]
    np.subtract.at(total, owner, 1)
    kept = np.union1d(fastest, extra)
    return kept, total[kept]


def _cells(time_us: NDArray[np.float64], memory: NDArray[np.float64], side: int) -> NDArray[np.int64]:
    return _bin(time_us, side) * side + _bin(memory, side)


def _bin(values: NDArray[np.float64], side: int) -> NDArray[np.int64]:
    low, high = float(values.min()), float(values.max())
    if high == low:
        return np.zeros(len(values), dtype=np.int64)
    return np.minimum(((values - low) / (high - low) * side).astype(np.int64), side - 1)


def point_value(value: Any) -> int | str:
    """A value of a tunable as a hover text shows it."""
    if value is None:
        return "–"
    return int(value) if isinstance(value, (int, np.integer)) else plain(value, _VALUE_CHARACTERS)
