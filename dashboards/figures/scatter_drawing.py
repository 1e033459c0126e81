"""Drawing of the scatter: groups by colour, front, best, and the mark of the selected configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dashboards.figures.pareto import point_value
from dashboards.figures.scatter import Axis, ScatterData, axis_named, quantity
from dashboards.runview import RunView
from dashboards.text import byte_count, microseconds, plain
from dashboards.theme import (
    AREA_SCALE,
    BLUE,
    BLUISH_GREEN,
    GREY,
    LIGHT,
    ORANGE,
    REDDISH_PURPLE,
    SKY_BLUE,
    VERMILLION,
    YELLOW,
    Theme,
    axis,
    layout,
    message_figure,
)  # fmt: skip

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MARKED = 0
"""Place of the trace with the selected configuration."""

_COLOURS = (BLUE, ORANGE, BLUISH_GREEN, REDDISH_PURPLE, SKY_BLUE, GREY)
_DARK_COLOURS = (SKY_BLUE, ORANGE, BLUISH_GREEN, REDDISH_PURPLE, "#4F8FE0", GREY)
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x")
_LOG_FROM_RATIO = 30.0


def scatter_figure(
    view: RunView,
    data: ScatterData,
    theme: Theme = LIGHT,
    selected: int | None = None,
    extra: Mapping[str, Floats] | None = None,
) -> Any:
    """`data` in SVG; `selected` is a position to mark, `extra` as in `scatter_data`.

    Points carry the row number as their custom value.
    """
    import plotly.graph_objects as go

    if not data.total:
        figure = message_figure(theme, why_empty(view, data))
        # the place of the mark stays the same, so that a page can set it without knowing what is drawn
        figure.add_scatter(**marked(view, None, None, theme))
        return figure
    figure = go.Figure()
    figure.add_scatter(**marked(view, (data.x_axis.name, data.y_axis.name), selected, theme, extra))
    for name, places, marker in _groups(view, data, theme):
        figure.add_scatter(
            **_points(view, data, places),
            name=name,
            mode="markers",
            marker={"size": 7, "opacity": 0.6, "line": {"width": 0}, **marker},
            showlegend="coloraxis" not in marker,
        )
    place = {int(position): i for i, position in enumerate(data.positions)}
    front = np.array([place[int(p)] for p in data.front], dtype=np.int64)
    figure.add_scatter(
        **_points(view, data, front),
        name="Pareto front",
        mode="lines+markers",
        line={"color": VERMILLION, "width": 1.5, "shape": "hv"},
        marker={"color": VERMILLION, "size": 10, "symbol": "diamond-open", "line": {"width": 1.5}},
    )
    if data.best is not None:
        figure.add_scatter(
            **_points(view, data, np.array([place[data.best]])),
            name="best",
            mode="markers",
            marker={"color": YELLOW, "size": 17, "symbol": "star", "line": {"width": 1.5, "color": theme.bar_outline}},
        )
    figure.update_layout(
        layout(
            theme,
            440,
            xaxis=_scale(theme, data.x_axis, data.x),
            yaxis=_scale(theme, data.y_axis, data.y),
            dragmode="select",
            uirevision=f"{data.x_axis.name} {data.y_axis.name}",
            # a box stays only as long as what it says is what is shown
            selectionrevision=f"{data.total}",
            **_colour_axis(view, data),
        )
    )
    return figure


def marked(
    view: RunView,
    axes: tuple[str, str] | None,
    selected: int | None,
    theme: Theme,
    extra: Mapping[str, Floats] | None = None,
) -> dict[str, Any]:
    """The trace that marks the selected position on the axes named, empty where it has no place in the figure."""
    x: list[float] = []
    y: list[float] = []
    if axes is not None and selected is not None:
        for name, out in zip(axes, (x, y), strict=True):
            column = quantity(view, name, extra)
            if column is not None and np.isfinite(column[selected]):
                out.append(float(column[selected]) / axis_named(name).divisor)
    if not (x and y):
        x, y = [], []
    return {
        "x": x,
        "y": y,
        "name": "selected",
        "mode": "markers",
        "hoverinfo": "skip",
        "marker": {"symbol": "circle-open", "size": 22, "color": theme.ink, "line": {"width": 2.5, "color": theme.ink}},
    }


def why_empty(view: RunView, data: ScatterData) -> str:
    """Why there is no point."""
    if not len(view):
        return "The run holds no configurations yet."
    if not view.ok.any():
        return f"None of the {len(view):,} configurations is ok: the refusals say why."
    return f"No ok configuration that passes the filter has both: {data.x_axis.title} and {data.y_axis.title}."


def _groups(view: RunView, data: ScatterData, theme: Theme) -> list[tuple[str, NDArray[np.int64], dict[str, Any]]]:
    """Traces: one where nothing is coloured or the values form a scale, else one a value of the tunable."""
    every = np.arange(len(data.positions))
    if data.colour_by is None:
        return [("ok configurations", every, {"color": theme.mark})]
    domain = dict(view.tunables)[data.colour_by]
    if len(domain) > len(_COLOURS):
        return [("ok configurations", every, {"color": data.colours.astype(np.float32), "coloraxis": "coloraxis"})]
    palette = _DARK_COLOURS if theme.name == "dark" else _COLOURS
    out = []
    for code, value in enumerate(domain):
        places = np.flatnonzero(data.colours == code)
        if len(places):
            name = f"{plain(data.colour_by, 20)} = {plain(value, 20)}"
            out.append((name, places, {"color": palette[code], "symbol": _SYMBOLS[code]}))
    rest = np.flatnonzero(data.colours < 0)
    if len(rest):
        out.append((f"{plain(data.colour_by, 20)} does not apply", rest, {"color": theme.muted, "symbol": "star-open"}))
    return out


def _colour_axis(view: RunView, data: ScatterData) -> dict[str, Any]:
    if data.colour_by is None or len(dict(view.tunables)[data.colour_by]) <= len(_COLOURS):
        return {}
    domain = dict(view.tunables)[data.colour_by]
    ticks = sorted(set(np.linspace(0, len(domain) - 1, min(8, len(domain))).round().astype(int).tolist()))
    bar = {
        "title": {"text": plain(data.colour_by, 24), "side": "right"},
        "thickness": 10,
        "outlinewidth": 0,
        "tickvals": ticks,
        "ticktext": [plain(domain[t], 14) for t in ticks],
    }
    return {"coloraxis": {"colorscale": AREA_SCALE, "cmin": 0, "cmax": len(domain) - 1, "colorbar": bar}}


def _scale(theme: Theme, a: Axis, values: Floats) -> dict[str, Any]:
    low, high = float(values.min()), float(values.max())
    wide = low > 0 and high / low > _LOG_FROM_RATIO
    # ticks of a logarithmic axis as numbers, not as powers
    return axis(
        theme, a.title, type="log" if wide else "linear", **({"dtick": "D2", "tickformat": ",~r"} if wide else {})
    )


def _points(view: RunView, data: ScatterData, places: NDArray[np.int64]) -> dict[str, Any]:
    at = data.positions[places]
    columns = [(plain(name, 24), view.values[name][at].tolist()) for name, _ in view.varied]
    texts = []
    # one text a point: a list of values a point takes the library ten times as long
    for i, p in enumerate(at.tolist()):
        memory = float(view.on_chip_bytes[p])
        others = int(data.stands_for[places[i]]) - 1
        lines = [
            f"<b>{microseconds(float(view.time_us[p]))} µs</b>"
            + (f", {byte_count(memory)} on chip" if np.isfinite(memory) else ""),
            f"bound by {plain(view.bound_name(p), 16)}",
            *(f"{name} = {point_value(column[i])}" for name, column in columns),
            f"row {int(view.rows[p])}",
            *([f"stands for {others:,} more nearby"] if others > 0 else []),
        ]
        texts.append("<br>".join(lines))
    return {
        "x": data.x[places].astype(np.float32),
        "y": data.y[places].astype(np.float32),
        "customdata": view.rows[at].tolist(),
        "hovertext": texts,
        "hovertemplate": "%{hovertext}<extra></extra>",
    }
