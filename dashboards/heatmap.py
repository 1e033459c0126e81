"""Best time behind each pair of values of two tunables, and why a pair has none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dashboards.runview import RunView, ViewError
from dashboards.text import microseconds, plain
from dashboards.theme import AREA_SCALE, GREY, LIGHT, VERMILLION, Theme, axis, layout, message_figure

if TYPE_CHECKING:
    from numpy.typing import NDArray

PREFERRED = ("fifo_depth", "sync_period")
_REASONS_SHOWN = 3
_TICKS = 24


@dataclass(frozen=True, eq=False)
class HeatmapData:
    """A grid of cells, y down the first axis. All arrays (len(y_values), len(x_values)).

    `time_us` is the least time of the ok configurations in a cell (NaN: none), `position` the place in the
    view that has it (-1: none), `tried` and `legal` count all and the ok configurations; `reason` is '' where
    there is a time. `best` is the (y, x) cell of the view's best configuration.
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


def heatmap_data(view: RunView, x_name: str, y_name: str) -> HeatmapData:
    """Best time behind each pair of values of the tunables `x_name` and `y_name`.

    Configurations to which one of the two does not apply are left out. Errors: ViewError for an unknown
    tunable or the same one twice.
    """
    domains = dict(view.tunables)
    unknown = [name for name in (x_name, y_name) if name not in domains]
    if unknown or x_name == y_name:
        what = f"no tunable {unknown[0]!r}" if unknown else f"{x_name!r} named twice"
        raise ViewError(f"heatmap of run {view.name!r}: {what}; name two different ones of {', '.join(domains)}")
    x_values, y_values = domains[x_name], domains[y_name]
    shape = (len(y_values), len(x_values))
    x, y = _codes(view.values[x_name], x_values), _codes(view.values[y_name], y_values)
    cell = np.where((x >= 0) & (y >= 0), y * shape[1] + x, -1)

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
    )


def _codes(column: NDArray[Any], domain: Sequence[int | str]) -> NDArray[np.int64]:
    """Place of each value in the domain, -1 for a value outside it; a loop over the domain, not over the
    column.
    """
    codes = np.full(len(column), -1, dtype=np.int64)
    for code, value in enumerate(domain):
        codes[column == value] = code
    return codes


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


def heatmap_figure(view: RunView, data: HeatmapData | None, theme: Theme = LIGHT) -> Any:
    """The grid as coloured cells, the time in each, a cross where none is legal; the best's cell is outlined.

    `data` is None where the run has fewer than two tunables.
    """
    import plotly.graph_objects as go

    if data is None:
        return message_figure(theme, "The run has fewer than two tunables, so there is no pair to compare.")
    if not np.isfinite(data.time_us).any():
        return message_figure(theme, f"No pair of {data.x_name} and {data.y_name} has an ok configuration.")
    figure = go.Figure()
    figure.add_heatmap(
        z=[[None if np.isnan(t) else float(t) for t in row] for row in data.time_us],
        text=[["" if np.isnan(t) else microseconds(float(t)) for t in row] for row in data.time_us],
        customdata=[
            [_cell_hover(view, data, r, c) for c in range(data.time_us.shape[1])] for r in range(len(data.y_values))
        ],
        texttemplate="%{text}",
        hovertemplate="%{customdata}<extra></extra>",
        hoverongaps=False,
        colorscale=AREA_SCALE,
        reversescale=True,
        xgap=2,
        ygap=2,
        # Upright: beside a lying one plotly puts the title of the x axis over its labels.
        colorbar={
            "title": {"text": "Best time (µs)", "side": "right"},
            "thickness": 10,
            "outlinewidth": 0,
            "nticks": 6,
            "tickformat": ",~r",
            "xpad": 6,
        },
    )
    for name, symbol, wanted in (("none legal", "x-thin", True), ("not tried", "circle-open", False)):
        cells = [(int(r), int(c)) for r, c in np.argwhere(data.legal == 0) if bool(data.tried[r, c]) is wanted]
        if cells:
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
    if data.best is not None:
        row, column = data.best
        figure.add_shape(
            type="rect",
            x0=column - 0.5,
            x1=column + 0.5,
            y0=row - 0.5,
            y1=row + 0.5,
            line={"color": VERMILLION, "width": 3},
        )
    return figure


def _cell_hover(view: RunView, data: HeatmapData, row: int, column: int) -> str:
    head = f"{plain(data.x_name, 24)} = {plain(data.x_values[column], 24)}"
    head += f"<br>{plain(data.y_name, 24)} = {plain(data.y_values[row], 24)}<br>"
    if data.reason[row][column]:
        return head + "<br>".join(plain(part, 60) for part in data.reason[row][column].split(", "))
    best = microseconds(float(data.time_us[row, column]))
    found = f"{int(data.legal[row, column]):,} ok of {int(data.tried[row, column]):,}"
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
