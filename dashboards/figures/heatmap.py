"""Best or median time, or share of legal, behind each pair of values of two tunables, and why a pair has none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dashboards.filtering import codes
from dashboards.runview import RunView, ViewError
from dashboards.text import microseconds, plain
from dashboards.theme import AREA_SCALE, GREY, LIGHT, VERMILLION, Theme, axis, layout, message_figure

if TYPE_CHECKING:
    from numpy.typing import NDArray

PREFERRED = ("fifo_depth", "sync_period")
BEST, MEDIAN, LEGAL = MEASURES = ("best", "median", "legal")
"""What a cell may show: least or median time of its ok configurations, or the share of them in all that were tried."""

_TITLES = {BEST: "Best time (µs)", MEDIAN: "Median time (µs)", LEGAL: "Ok configurations (%)"}
_REASONS_SHOWN = 3
_TICKS = 24
_CELLS_WITH_TEXT = 400


@dataclass(frozen=True, eq=False)
class HeatmapData:
    """A grid of cells, y down the first axis. All arrays (len(y_values), len(x_values)).

    `time_us` is the least time of the ok configurations in a cell (NaN: none), `position` the place in the
    view that has it (-1: none), `tried` and `legal` count all and the ok configurations; `reason` is '' where
    there is a time. `best` is the (y, x) cell of the view's best configuration. `shown` is what `measure` says:
    a time in microseconds or a share in percent, NaN where there is none.
    """

    x_name: str
    y_name: str
    x_values: Sequence[int | str]
    y_values: Sequence[int | str]
    time_us: NDArray[np.float64]
    position: NDArray[np.int64]
    tried: NDArray[np.int64]
    legal: NDArray[np.int64]
    reason: list[list[str]]
    best: tuple[int, int] | None
    measure: str
    shown: NDArray[np.float64]


def default_pair(view: RunView) -> tuple[str, str] | None:
    """The two tunables to show unless told: FifoDepth and SyncPeriod if the run varies either, else the first
    two.
    """
    names = [name for name, _ in view.tunables]
    varied = [name for name, _ in view.varied]
    if all(name in names for name in PREFERRED) and any(name in varied for name in PREFERRED):
        return PREFERRED
    chosen = (varied + [name for name in names if name not in varied])[:2]
    return (chosen[0], chosen[1]) if len(chosen) == 2 else None


def heatmap_data(
    view: RunView, x_name: str, y_name: str, measure: str = BEST, within: NDArray[np.int64] | None = None
) -> HeatmapData:
    """What stands behind each pair of values of the tunables `x_name` and `y_name`, of the positions in `within` (None:
    all configurations).

    Configurations to which one of the two does not apply are left out. Errors: ViewError for an unknown
    tunable, the same one twice or an unknown measure.
    """
    if measure not in MEASURES:
        raise ViewError(f"heatmap of run {view.name!r}: no measure {measure!r}; there are {', '.join(MEASURES)}")
    domains = dict(view.tunables)
    unknown = [name for name in (x_name, y_name) if name not in domains]
    if unknown or x_name == y_name:
        what = f"no tunable {unknown[0]!r}" if unknown else f"{x_name!r} named twice"
        raise ViewError(f"heatmap of run {view.name!r}: {what}; name two different ones of {', '.join(domains)}")
    x_values, y_values = domains[x_name], domains[y_name]
    shape = (len(y_values), len(x_values))
    x, y = codes(view, x_name).astype(np.int64), codes(view, y_name).astype(np.int64)
    cell = np.where((x >= 0) & (y >= 0), y * shape[1] + x, -1)
    if within is not None:
        inside = np.zeros(len(view), dtype=bool)
        inside[within] = True
        cell[~inside] = -1

    size = shape[0] * shape[1]
    tried = np.bincount(cell[cell >= 0], minlength=size)
    ranked = view.ranked[cell[view.ranked] >= 0]
    legal = np.bincount(cell[ranked], minlength=size)
    position = np.full(size, -1, dtype=np.int64)
    filled, first = np.unique(cell[ranked], return_index=True)
    position[filled] = ranked[first]
    time_us = np.where(position >= 0, view.time_us[position] if len(view) else np.nan, np.nan)

    reasons = _reasons(view, cell, tried, legal)
    best = None
    if view.best is not None and cell[view.best] >= 0:
        best = (int(y[view.best]), int(x[view.best]))
    return HeatmapData(
        x_name,
        y_name,
        x_values,
        y_values,
        time_us.reshape(shape),
        position.reshape(shape),
        tried.reshape(shape),
        legal.reshape(shape),
        [reasons[row * shape[1] : (row + 1) * shape[1]] for row in range(shape[0])],
        best,
        measure,
        _shown(view, measure, time_us, cell[ranked], ranked, tried, legal).reshape(shape),
    )


def _shown(
    view: RunView,
    measure: str,
    best_us: NDArray[np.float64],
    cell: NDArray[np.int64],
    ranked: NDArray[np.int64],
    tried: NDArray[np.int64],
    legal: NDArray[np.int64],
) -> NDArray[np.float64]:
    """What each cell shows; `cell` is that of the `ranked` positions, which stand fastest first."""
    if measure == BEST:
        return best_us
    if measure == LEGAL:
        return np.where(tried > 0, 100.0 * legal / np.maximum(tried, 1), np.nan)
    times = view.time_us[ranked[np.argsort(cell, kind="stable")]]
    out = np.full(len(tried), np.nan)
    start = np.cumsum(legal) - legal
    full = np.flatnonzero(legal)
    out[full] = (times[start[full] + (legal[full] - 1) // 2] + times[start[full] + legal[full] // 2]) / 2
    return out


def _reasons(view: RunView, cell: NDArray[np.int64], tried: NDArray[np.int64], legal: NDArray[np.int64]) -> list[str]:
    """One text a cell: '' where something is legal, else the verdicts and rules met there, most frequent
    first.
    """
    out = ["" if legal[c] else "not tried" if not tried[c] else "none legal" for c in range(len(tried))]
    # 'cell' is -1 outside the grid; the appended True hides those, since index -1 finds it.
    hidden = np.append(legal > 0, True)
    inside = np.flatnonzero(~hidden[cell])
    width = len(view.rule_names) + 1
    kinds = len(view.verdict_names) * width
    key = cell[inside] * kinds + view.verdict[inside].astype(np.int64) * width + view.rule[inside] + 1
    found: dict[int, list[tuple[int, int]]] = {}
    for k, count in zip(*np.unique(key, return_counts=True), strict=True):
        found.setdefault(int(k) // kinds, []).append((-int(count), int(k) % kinds))
    for c, entries in found.items():
        parts = []
        for count, kind in sorted(entries)[:_REASONS_SHOWN]:
            verdict, rule = view.verdict_names[kind // width], kind % width - 1
            if verdict == "ok":
                verdict = "ok, but no time"
            parts.append(f"{verdict} × {-count:,}" + (f" ({view.rule_names[rule]})" if rule >= 0 else ""))
        if len(entries) > _REASONS_SHOWN:
            parts.append(f"and {len(entries) - _REASONS_SHOWN} more kinds")
        out[c] += ": " + ", ".join(parts)
    return out


def heatmap_figure(view: RunView, data: HeatmapData | None, theme: Theme = LIGHT, selected: int | None = None) -> Any:
    """The grid as coloured cells, the number in each, a cross where none is legal; the best's cell is outlined, that of
    the position `selected` with dots.

    `data` is None where the run has fewer than two tunables.
    """
    import plotly.graph_objects as go

    if data is None:
        return message_figure(theme, "The run has fewer than two tunables, so there is no pair to compare.")
    if not np.isfinite(data.shown).any():
        return message_figure(theme, f"No pair of {data.x_name} and {data.y_name} has an ok configuration.")
    figure = go.Figure()
    small = data.shown.size <= _CELLS_WITH_TEXT
    figure.add_heatmap(
        z=[[None if np.isnan(t) else float(t) for t in row] for row in data.shown],
        text=[["" if np.isnan(t) or not small else _number(data, float(t)) for t in row] for row in data.shown],
        customdata=[
            [_cell_hover(view, data, r, c) for c in range(len(data.x_values))] for r in range(len(data.y_values))
        ],
        texttemplate="%{text}",
        hovertemplate="%{customdata}<extra></extra>",
        hoverongaps=False,
        colorscale=AREA_SCALE,
        reversescale=data.measure != LEGAL,
        xgap=2 if small else 0,
        ygap=2 if small else 0,
        # Upright: beside a lying one plotly puts the title of the x axis over its labels.
        colorbar={
            "title": {"text": _TITLES[data.measure], "side": "right"},
            "thickness": 10,
            "outlinewidth": 0,
            "nticks": 6,
            "tickformat": ",~r",
            "xpad": 6,
        },
    )
    for name, symbol, wanted in (("none legal", "x-thin", True), ("not tried", "circle-open", False)):
        cells = [(int(r), int(c)) for r, c in np.argwhere(data.legal == 0) if bool(data.tried[r, c]) is wanted]
        # where shares are shown, "none" is a number of its own
        if cells and not (wanted and data.measure == LEGAL):
            figure.add_scatter(
                x=[c for _, c in cells],
                y=[r for r, _ in cells],
                name=name,
                mode="markers",
                marker={"symbol": symbol, "size": 8, "color": GREY, "line": {"width": 1.5, "color": GREY}},
                customdata=[_cell_hover(view, data, r, c) for r, c in cells],
                hovertemplate="%{customdata}<extra></extra>",
                showlegend=True,
            )
    side = min(620, max(300, 130 + 44 * len(data.y_values)))
    figure.update_layout(
        layout(
            theme,
            side + 60,
            margin={"l": 12, "r": 16, "t": 36, "b": 12},
            xaxis=_grid_axis(theme, data.x_name, data.x_values),
            yaxis=_grid_axis(theme, data.y_name, data.y_values),
            legend={"orientation": "h", "x": 0, "y": -0.16, "xanchor": "left", "yanchor": "top"},
        )
    )
    figure.update_layout(shapes=outlines(view, data.x_name, data.y_name, data.best, selected, theme))
    return figure


def outlines(
    view: RunView, x_name: str, y_name: str, best: tuple[int, int] | None, selected: int | None, theme: Theme
) -> list[dict[str, Any]]:
    """Shapes around the (y, x) cell `best` and around that of the position `selected`, where there are such."""
    out = []
    if best is not None:
        out.append(_outline(best[1], best[0], 0.5, {"color": VERMILLION, "width": 3}))
    if selected is not None:
        x, y = int(codes(view, x_name)[selected]), int(codes(view, y_name)[selected])
        if x >= 0 and y >= 0:
            out.append(_outline(x, y, 0.42, {"color": theme.ink, "width": 3, "dash": "dot"}))
    return out


def _outline(x: int, y: int, reach: float, line: dict[str, Any]) -> dict[str, Any]:
    return {"type": "rect", "x0": x - reach, "x1": x + reach, "y0": y - reach, "y1": y + reach, "line": line}


def _number(data: HeatmapData, value: float) -> str:
    return f"{value:.0f}" if data.measure == LEGAL else microseconds(value)


def _cell_hover(view: RunView, data: HeatmapData, row: int, column: int) -> str:
    head = f"{plain(data.x_name, 24)} = {plain(data.x_values[column], 24)}"
    head += f"<br>{plain(data.y_name, 24)} = {plain(data.y_values[row], 24)}<br>"
    if data.reason[row][column]:
        return head + "<br>".join(plain(part, 60) for part in data.reason[row][column].split(", "))
    best = microseconds(float(data.time_us[row, column]))
    found = f"{int(data.legal[row, column]):,} ok of {int(data.tried[row, column]):,}"
    if data.measure == MEDIAN:
        found = f"median {microseconds(float(data.shown[row, column]))} µs<br>{found}"
    return f"{head}<b>{best} µs</b><br>{found}<br>row {int(view.rows[data.position[row, column]])}"


def _grid_axis(theme: Theme, name: str, values: Sequence[int | str]) -> dict[str, Any]:
    step = -(-len(values) // _TICKS) or 1
    places = list(range(0, len(values), step))
    return axis(
        theme,
        plain(name, 40),
        tickvals=places,
        ticktext=[plain(values[place], 14) for place in places],
        range=[-0.5, len(values) - 0.5],
        showgrid=False,
    )
