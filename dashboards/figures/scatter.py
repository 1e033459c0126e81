"""Any two quantities of a run against each other, coloured by a tunable: points, their Pareto front, the best."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dashboards.figures.pareto import SVG_POINTS, pareto_front, thin
from dashboards.filtering import codes
from dashboards.runview import RunView, ViewError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

THINNED = 3_000
"""Points that are drawn where there are more than the limit: their texts are most of what a page weighs."""

_TITLES = {
    "time_us": "Time (µs)",
    "on_chip_bytes": "On-chip memory (KiB)",
    "ub": "UB of one AIV (KiB)",
    "l1": "L1 (KiB)",
    "l0a": "L0A (KiB)",
    "l0b": "L0B (KiB)",
    "l0c": "L0C (KiB)",
    "gm_ring": "Rings in GM (MiB)",
    "gm_traffic": "GM traffic (MiB)",
    "flags": "Flag ids used",
    "width_us": "Width of the 90 % interval (µs)",
}
_DIVISOR = {"gm_ring": 1024.0**2, "gm_traffic": 1024.0**2, "time_us": 1.0, "flags": 1.0, "width_us": 1.0}


@dataclass(frozen=True)
class Axis:
    """A quantity that a run has data for: its name, its title with unit, and what its values are divided by to be in
    that unit."""

    name: str
    title: str
    divisor: float


@dataclass(frozen=True, eq=False)
class ScatterData:
    """Points to draw: (m,) `positions` in the view, `x` and `y` in the units of the axes; `stands_for` says how many
    configurations each stands for. `front` (in order of x) and `best` are positions, always among the drawn;
    `total` counts the ok configurations that have both. `colours`: (m,) place in the domain of `colour_by`.
    """

    x_axis: Axis
    y_axis: Axis
    positions: NDArray[np.int64]
    x: Floats
    y: Floats
    stands_for: NDArray[np.int64]
    front: NDArray[np.int64]
    best: int | None
    total: int
    colour_by: str | None
    colours: NDArray[np.int64]

    @property
    def thinned(self) -> bool:
        """Whether some configurations are not drawn as points of their own."""
        return len(self.positions) < self.total


def axis_named(name: str) -> Axis:
    """The axis `name`. Errors: ViewError for a name that is none."""
    if name not in _TITLES:
        raise ViewError(f"no axis {name!r}; there are {', '.join(_TITLES)}")
    return Axis(name, _TITLES[name], _DIVISOR.get(name, 1024.0))


def quantity(view: RunView, name: str, extra: Mapping[str, Floats] | None = None) -> Floats | None:
    """(n,) values of an axis in base units, None where the view has no such column; `extra` adds columns."""
    if extra is not None and name in extra:
        return extra[name]
    if name in ("time_us", "on_chip_bytes"):
        column: Floats = getattr(view, name)
        return column
    return view.bytes.get(name)


def axes_with_data(
    view: RunView, extra: Mapping[str, Floats] | None = None
) -> tuple[list[Axis], list[tuple[Axis, str]]]:
    """Axes that tell the ok configurations of `view` apart, and those that do not with the reason in a few words."""
    usable, left_out = [], []
    for name in _TITLES:
        column = quantity(view, name, extra)
        if column is None:
            if name not in ("flags", "width_us"):
                left_out.append((axis_named(name), "the run kept none"))
            continue
        known = column[view.ok]
        known = known[np.isfinite(known)]
        if not len(known):
            left_out.append((axis_named(name), "no ok configuration has one"))
        elif name not in ("time_us", "on_chip_bytes") and known.min() == known.max():
            a = axis_named(name)
            left_out.append((a, f"{known[0] / a.divisor:,.4g} in all"))
        else:
            usable.append(axis_named(name))
    return usable, left_out


def scatter_data(
    view: RunView,
    x: str = "on_chip_bytes",
    y: str = "time_us",
    colour_by: str | None = None,
    within: NDArray[np.int64] | None = None,
    extra: Mapping[str, Floats] | None = None,
    limit: int = SVG_POINTS,
) -> ScatterData:
    """The ok configurations among the positions `within` (None: all) that have both `x` and `y`, at most about `limit`.

    Above `limit` the plane is cut into equal bins, and the configuration with the least y in each stands for all in
    it; the front (less is better in both) and the best stay. Errors: ViewError for unknown axes or tunables.
    """
    x_axis, y_axis = axis_named(x), axis_named(y)
    x_column, y_column = quantity(view, x, extra), quantity(view, y, extra)
    if colour_by is not None and colour_by not in dict(view.tunables):
        raise ViewError(f"no tunable {colour_by!r} to colour by; there are {', '.join(dict(view.tunables))}")
    nothing = np.zeros(0, dtype=np.int64)
    if x_column is None or y_column is None:
        return ScatterData(
            x_axis, y_axis, nothing, np.zeros(0), np.zeros(0), nothing, nothing, None, 0, colour_by, nothing
        )
    mask = view.ok & np.isfinite(x_column) & np.isfinite(y_column)
    positions = np.flatnonzero(mask) if within is None else np.sort(within[mask[within]])
    xs, ys = x_column[positions], y_column[positions]
    front = pareto_front(ys, xs)
    best_place = nothing
    if view.best is not None:
        best_place = np.flatnonzero(positions == view.best)
    stands_for = np.ones(len(positions), dtype=np.int64)
    kept = np.arange(len(positions))
    if len(positions) > limit:
        room = min(limit, THINNED)
        # a front may have thousands of points where the axes pull apart: its own thinning keeps the figure drawable
        most = room // 2
        shown = front if len(front) <= most else front[np.linspace(0, len(front) - 1, most).astype(np.int64)]
        must = np.union1d(shown, best_place)
        kept, stands_for = thin(ys, xs, must, max(1, room - len(must)))
        front = shown
    colours = nothing if colour_by is None else codes(view, colour_by)[positions[kept]].astype(np.int64)
    return ScatterData(
        x_axis,
        y_axis,
        positions[kept],
        xs[kept] / x_axis.divisor,
        ys[kept] / y_axis.divisor,
        stands_for,
        positions[front],
        int(view.best) if len(best_place) and view.best is not None else None,
        len(positions),
        colour_by,
        colours,
    )
