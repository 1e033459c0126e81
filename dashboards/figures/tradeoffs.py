"""Pareto fronts of several runs in one figure, and the times of chosen configurations side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dashboards.figures.bars import Bar, Look, bars_figure
from dashboards.figures.pareto import pareto_front
from dashboards.runview import RunView
from dashboards.text import byte_count, microseconds, plain
from dashboards.theme import (
    BLUE,
    BLUISH_GREEN,
    GREY,
    LIGHT,
    ORANGE,
    REDDISH_PURPLE,
    SKY_BLUE,
    VERMILLION,
    Theme,
    axis,
    layout,
    message_figure,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MOST_POINTS = 600
"""Points of one front that are drawn; of more, so many evenly spread ones."""

_COLOURS = (VERMILLION, SKY_BLUE, BLUISH_GREEN, ORANGE, REDDISH_PURPLE, GREY, BLUE)
_DASHES = ("solid", "dash", "dot", "dashdot")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x")
_LOG_FROM_RATIO = 30.0


@dataclass(frozen=True, eq=False)
class Front:
    """The Pareto front of a run, in order of bytes. `rows` as the store numbers them; `known` counts the ok
    configurations whose bytes are known, `size` the points of the front before any were left out."""

    label: str
    rows: NDArray[np.int64]
    time_us: Floats
    on_chip_bytes: Floats
    known: int
    size: int


def front_of(label: str, view: RunView) -> Front:
    """Time against on-chip bytes: what no other ok configuration of the run beats or equals in both."""
    at = np.flatnonzero(view.ok & np.isfinite(view.on_chip_bytes))
    found = at[pareto_front(view.time_us[at], view.on_chip_bytes[at])]
    size = len(found)
    if size > MOST_POINTS:
        found = found[np.unique(np.linspace(0, size - 1, MOST_POINTS).astype(np.int64))]
    return Front(label, view.rows[found], view.time_us[found], view.on_chip_bytes[found], len(at), size)


@dataclass(frozen=True)
class Mark:
    """A chosen configuration: microseconds and on-chip bytes, NaN where unknown; `front` is its run's place."""

    label: str
    time_us: float
    on_chip_bytes: float
    front: int


def fronts_figure(fronts: Sequence[Front], marks: Sequence[Mark] = (), theme: Theme = LIGHT) -> Any:
    """Fronts as stairs (SVG), in colour, dash and symbol of their own; chosen configurations as stars."""
    import plotly.graph_objects as go

    drawn = [f for f in fronts if len(f.rows)]
    if not drawn:
        return message_figure(theme, "None of the runs has an ok configuration whose on-chip bytes are known.")
    figure = go.Figure()
    for i, front in enumerate(fronts):
        if not len(front.rows):
            continue
        figure.add_scatter(
            x=(front.on_chip_bytes / 1024).astype(np.float32),
            y=front.time_us.astype(np.float32),
            name=plain(front.label, 48),
            mode="lines+markers",
            line={"color": _colour(i, theme), "width": 2, "shape": "hv", "dash": _DASHES[i % len(_DASHES)]},
            marker={"color": _colour(i, theme), "size": 8, "symbol": _SYMBOLS[i % len(_SYMBOLS)]},
            customdata=[
                [microseconds(float(t)), byte_count(float(b)), int(r)]
                for t, b, r in zip(front.time_us, front.on_chip_bytes, front.rows, strict=True)
            ],
            hovertemplate="<b>%{customdata[0]} µs</b>, %{customdata[1]} on chip<br>row %{customdata[2]}",
        )
    for mark in marks:
        if np.isfinite(mark.time_us) and np.isfinite(mark.on_chip_bytes):
            figure.add_scatter(
                x=[mark.on_chip_bytes / 1024],
                y=[mark.time_us],
                mode="markers",
                showlegend=False,
                name=plain(mark.label, 48),
                marker={"color": _colour(mark.front, theme), "size": 16, "symbol": "star",
                        "line": {"width": 1.5, "color": theme.bar_outline}},
                hovertemplate=f"%{{fullData.name}}<br><b>{microseconds(mark.time_us)} µs</b>, "
                              f"{byte_count(mark.on_chip_bytes)} on chip<extra></extra>",
            )  # fmt: skip
    slowest = max(float(f.time_us.max()) for f in drawn)
    fastest = min(float(f.time_us.min()) for f in drawn)
    wide = fastest > 0 and slowest / fastest > _LOG_FROM_RATIO
    scale: dict[str, Any] = {"type": "log", "dtick": "D2"} if wide else {"nticks": 8}
    figure.update_layout(
        layout(
            theme,
            440,
            xaxis=axis(theme, "On-chip memory (KiB)", tickformat=",~r", nticks=8),
            yaxis=axis(theme, "Predicted time (µs)", tickformat=",~r", **scale),
        )
    )
    return figure


def _colour(i: int, theme: Theme) -> str:
    colour = _COLOURS[i % len(_COLOURS)]
    # blue is too dark on a dark page
    return "#4F8FE0" if colour == BLUE and theme.name == "dark" else colour


def times_figure(named: Sequence[tuple[str, float]], theme: Theme = LIGHT) -> Any:
    """Bars of microseconds, each with what it is above the least; NaN shows as a name without a bar."""
    known = [time for _, time in named if np.isfinite(time)]
    if not known:
        return message_figure(theme, "None of the chosen configurations has a time.")
    least = min(known)
    bars = []
    for label, time in named:
        if not np.isfinite(time):
            bars.append(Bar("time", label, "no time", 0.0))
            continue
        more = "" if time == least else f" ({100 * (time / least - 1):+.1f} %)"
        bars.append(Bar("time", label, f"{microseconds(time)} µs{more}", time))
    figure = bars_figure(bars, {"time": Look(theme.mark)}, "Predicted time (µs)", theme)
    figure.update_layout(showlegend=False)
    return figure
