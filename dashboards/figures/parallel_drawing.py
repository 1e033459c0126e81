"""Drawing of parallel coordinates in SVG: bands, lines, nodes, and the mark of the selected configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dashboards.figures.parallel import TIME, ParallelData, height_of
from dashboards.filtering import codes
from dashboards.text import microseconds, plain, shorten
from dashboards.theme import LIGHT, VERMILLION, Theme, layout, message_figure

if TYPE_CHECKING:
    from dashboards.runview import RunView

MARKED = 0
"""Place of the trace with the selected configuration."""

_SHADES = 6
_TICKS = 14


def parallel_figure(view: RunView, data: ParallelData, theme: Theme = LIGHT, selected: int | None = None) -> Any:
    """`data` in SVG: nodes of the axes can be marked with a box, lines and nodes clicked."""
    import plotly.graph_objects as go

    if not data.total:
        why = "No ok configuration passes the filter." if view.ok.any() else "None of the configurations is ok."
        figure = message_figure(theme, why)
        # the place of the mark stays the same, so that a page can set it without knowing what is drawn
        figure.add_scatter(**marked(view, None, None))
        return figure
    figure = go.Figure()
    figure.add_scatter(**marked(view, data, selected))
    for shade, (x, y, width, opacity) in enumerate(_shades(data)):
        figure.add_scatter(
            x=x, y=y, mode="lines", hoverinfo="skip", showlegend=False, name=f"bands {shade}",
            line={"color": theme.mark, "width": width}, opacity=opacity,
        )  # fmt: skip
    places = list(range(len(data.names)))
    for k in range(len(data.lines) - 1, -1, -1):
        p = int(data.lines[k])
        figure.add_scatter(
            x=places,
            y=data.line_heights[k].astype(np.float32),
            customdata=[int(view.rows[p])] * len(places),
            mode="lines",
            line={"color": _line_colour(k, len(data.lines), theme), "width": 1.6 if k else 3},
            opacity=0.75 if k else 1,
            name="fastest" if k == 0 else f"no. {k + 1}",
            showlegend=k == 0,
            hovertemplate=f"<b>{microseconds(float(view.time_us[p]))} µs</b>, no. {k + 1}, row {int(view.rows[p])}"
            "<extra></extra>",
        )
    figure.add_scatter(**_nodes(view, data, theme))
    figure.update_layout(
        layout(
            theme,
            430,
            margin={"l": 12, "r": 40, "t": 30, "b": 12},
            dragmode="select",
            selectdirection="any",
            selectionrevision=f"{data.total}",
            xaxis={
                "tickvals": places,
                "ticktext": [_title(name) for name in data.names],
                "range": [-0.45, len(places) - 0.4],
                "showgrid": True,
                "gridcolor": theme.muted,
                "zeroline": False,
                "fixedrange": True,
                "automargin": True,
            },
            yaxis={"visible": False, "range": [-0.06, 1.06], "fixedrange": True},
            legend={"orientation": "h", "x": 0, "y": 1.04, "xanchor": "left", "yanchor": "bottom"},
        )
    )
    return figure


def _title(name: str) -> str:
    return "time (µs)" if name == TIME else plain(name, 22)


def _shades(data: ParallelData) -> list[tuple[list[float | None], list[float | None], float, float]]:
    """Bands by how many they stand for, few traces in all: coordinates, width in px and opacity."""
    most = max((band.count for band in data.bands), default=1)
    out: list[tuple[list[float | None], list[float | None], float, float]] = [
        ([], [], 1.0 + 1.6 * s, 0.10 + 0.05 * s) for s in range(_SHADES)
    ]
    for band in data.bands:
        share = band.count / most
        s = min(_SHADES - 1, int(_SHADES * share**0.5))
        x, y, _, _ = out[s]
        x += [band.axis, band.axis + 1, None]
        y += [data.heights[band.axis][band.start], data.heights[band.axis + 1][band.end], None]
    return [shade for shade in out if shade[0]]


def _line_colour(k: int, n: int, theme: Theme) -> str:
    if k == 0:
        return VERMILLION
    # from the middle of the scale to its light end: the fastest stand out on either paper
    low, high = ((0, 32, 77), (124, 123, 120)) if theme.name == "light" else ((255, 234, 70), (124, 123, 120))
    share = k / max(1, n - 1)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(low, high, strict=True))


def _nodes(view: RunView, data: ParallelData, theme: Theme) -> dict[str, Any]:
    x, y, text, custom, hover = [], [], [], [], []
    for i, (name, labels) in enumerate(zip(data.names, data.labels, strict=True)):
        step = 2 if name == TIME else -(-len(labels) // _TICKS)
        for code, label in enumerate(labels):
            p = data.fastest[i][code]
            x.append(i)
            y.append(data.heights[i][code])
            text.append(plain(label, 12) if code % step == 0 else "")
            custom.append(["node", i, code, int(view.rows[p]) if p >= 0 else None])
            best = (
                f"fastest {microseconds(float(view.time_us[p]))} µs, row {int(view.rows[p])}" if p >= 0 else "no ok one"
            )
            what = f"around {label} µs" if name == TIME else f"{shorten(name, 24)} = {shorten(label, 24)}"
            hover.append(f"{plain(what)}<br>{best}")
    return {
        "x": x,
        "y": np.array(y, dtype=np.float32),
        "mode": "markers+text",
        "cliponaxis": False,
        "text": text,
        "textposition": "middle right",
        "textfont": {"color": theme.ink, "size": 12},
        "customdata": custom,
        "hovertext": hover,
        "hovertemplate": "%{hovertext}<extra></extra>",
        "marker": {"color": theme.paper, "size": 8, "line": {"color": theme.ink, "width": 1.2}},
        "name": "values",
        "showlegend": False,
        "selected": {"marker": {"color": VERMILLION}},
        "unselected": {"marker": {"opacity": 1}, "textfont": {"color": theme.muted}},
    }


def marked(view: RunView, data: ParallelData | None, selected: int | None, theme: Theme = LIGHT) -> dict[str, Any]:
    """The trace of the selected position, empty where it has no line."""
    x: list[int] = []
    y: list[float] = []
    if data is not None and selected is not None and data.total:
        for i, name in enumerate(data.names):
            h = _height(view, data, i, name, selected)
            if h is not None:
                x.append(i)
                y.append(h)
    return {
        "x": x,
        "y": y,
        "mode": "lines+markers",
        "line": {"color": theme.ink, "width": 3, "dash": "dot"},
        "marker": {"color": theme.ink, "size": 11, "symbol": "circle-open", "line": {"width": 2.5, "color": theme.ink}},
        "name": "selected",
        "hoverinfo": "skip",
    }


def _height(view: RunView, data: ParallelData, i: int, name: str, position: int) -> float | None:
    if name == TIME:
        time_us = float(view.time_us[position])
        if not np.isfinite(time_us):
            return None
        return float(np.clip(height_of(time_us, data.span_us), 0, 1))
    code = int(codes(view, name)[position]) + (1 if data.labels[i] and data.labels[i][0] == "–" else 0)
    return data.heights[i][code] if 0 <= code < len(data.heights[i]) else None
