"""Time against on-chip memory: every ok configuration, the Pareto front and the best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dashboards.runview import RunView
from dashboards.text import byte_count, microseconds, plain, plain_in_template
from dashboards.theme import LIGHT, VERMILLION, YELLOW, Theme, axis, layout, message_figure

if TYPE_CHECKING:
    from numpy.typing import NDArray

SVG_POINTS = 5_000
_VALUE_CHARACTERS = 16
_LOG_FROM_RATIO = 30.0


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
        kept, stands_for = _thin(time_us, memory, must, max(1, limit - len(must)))
    else:
        kept = np.arange(len(positions))
    return ParetoData(positions[kept], time_us[kept], memory[kept], stands_for, positions[front], best, len(positions))


def _thin(
    time_us: NDArray[np.float64], memory: NDArray[np.float64], must: NDArray[np.int64], bins: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Places to draw, ascending, and how many points each stands for: one a bin, and all of `must`."""
    side = max(1, int(np.sqrt(bins)))
    cell = _bin(time_us, side) * side + _bin(memory, side)
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


def _bin(values: NDArray[np.float64], side: int) -> NDArray[np.int64]:
    low, high = float(values.min()), float(values.max())
    if high == low:
        return np.zeros(len(values), dtype=np.int64)
    return np.minimum(((values - low) / (high - low) * side).astype(np.int64), side - 1)


def pareto_figure(view: RunView, data: ParetoData, theme: Theme = LIGHT) -> Any:
    """Scatter of `data` (SVG, no WebGL): x on-chip KiB, y microseconds (logarithmic above a ratio of 30)."""
    import plotly.graph_objects as go

    if not data.total:
        return message_figure(theme, _why_empty(view))
    place = {int(position): i for i, position in enumerate(data.positions)}
    figure = go.Figure()
    figure.add_scatter(
        **_points(view, data, np.arange(len(data.positions))),
        name="ok configurations",
        mode="markers",
        marker={"color": theme.mark, "size": 7, "opacity": 0.5, "line": {"width": 0}},
    )
    front = np.array([place[int(p)] for p in data.front])
    figure.add_scatter(
        **_points(view, data, front),
        name="Pareto front",
        mode="lines+markers",
        line={"color": VERMILLION, "width": 2, "shape": "hv"},
        marker={"color": VERMILLION, "size": 9, "symbol": "diamond"},
    )
    if data.best is not None:
        figure.add_scatter(
            **_points(view, data, np.array([place[data.best]])),
            name="best",
            mode="markers",
            marker={
                "color": YELLOW,
                "size": 17,
                "symbol": "star",
                "line": {"width": 1.5, "color": theme.bar_outline},
            },
        )
    slowest, fastest = float(data.time_us.max()), float(data.time_us.min())
    wide = fastest > 0 and slowest / fastest > _LOG_FROM_RATIO
    figure.update_layout(
        layout(
            theme,
            460,
            xaxis=axis(theme, "On-chip memory (KiB)", tickformat=",~r", nticks=8),
            yaxis=axis(theme, "Predicted time (µs)", type="log" if wide else "linear", tickformat=",~r"),
        )
    )
    return figure


def _points(view: RunView, data: ParetoData, places: NDArray[np.int64]) -> dict[str, Any]:
    names = [name for name, _ in view.varied]
    hover = "<b>%{customdata[0]} µs</b>, %{customdata[1]} on chip<br>bound by %{customdata[3]}<br>"
    hover += "<br>".join(f"{plain_in_template(name, 24)} = %{{customdata[{4 + i}]}}" for i, name in enumerate(names))
    hover += "<br>row %{customdata[2]}%{text}<extra></extra>"
    columns = [view.values[name] for name in names]
    details, more = [], []
    for i in places:
        p = int(data.positions[i])
        details.append(
            [
                microseconds(float(data.time_us[i])),
                byte_count(float(data.on_chip_bytes[i])),
                int(view.rows[p]),
                plain(view.bound_name(p), _VALUE_CHARACTERS),
                *(_value(column[p]) for column in columns),
            ]
        )
        others = int(data.stands_for[i]) - 1
        more.append(f"<br>stands for {others:,} more nearby" if others > 0 else "")
    return {
        "x": (data.on_chip_bytes[places] / 1024).astype(np.float32),
        "y": data.time_us[places].astype(np.float32),
        "customdata": details,
        "text": more,
        "hovertemplate": hover,
    }


def _value(value: Any) -> int | str:
    if value is None:
        return "–"
    return int(value) if isinstance(value, (int, np.integer)) else plain(value, _VALUE_CHARACTERS)


def _why_empty(view: RunView) -> str:
    if view.ok.any():
        return "The run kept no byte counts, so there is no memory to set the times against."
    if not len(view):
        return "The run holds no configurations yet."
    return f"None of the {len(view):,} configurations is ok: the refusals say why."
