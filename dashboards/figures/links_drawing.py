"""Figures of transfers between ranks: lines on logarithmic axes, a colour a platform, a dash and symbol a kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dashboards.figures.links import Line
from dashboards.text import byte_count, microseconds, plain
from dashboards.theme import (
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

TIME, BANDWIDTH, DIFFERENCE = "time", "bandwidth", "difference"
_COLOURS = (VERMILLION, SKY_BLUE, BLUISH_GREEN, ORANGE, REDDISH_PURPLE, GREY)
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x")
_Y_TITLES = {TIME: "Time (µs)", BANDWIDTH: "Effective bandwidth (GB/s)", DIFFERENCE: "Difference (ns)"}
_TITLES = {"bytes": "Size of the buffer", "tile bytes": "Staging tile"}
_FEW_TICKS = 4
_LOG_FROM_RATIO = 2.5


def links_figure(lines: Sequence[Line], shows: str = TIME, theme: Theme = LIGHT) -> Any:
    """`shows`: "time" or "bandwidth" on a logarithmic axis, or "difference" in nanoseconds on a linear one.

    Values that differ by less than a factor of 2.5 stand on a linear axis: a logarithmic one has hardly a tick there.
    """
    import plotly.graph_objects as go

    values = [_values(line, shows) for line in lines]
    finite = [float(v) for column in values for v in column if np.isfinite(v)]
    if not finite:
        why = next((why for line in lines for why in line.why if why), "there is nothing to transfer")
        return message_figure(theme, f"No point has a value: {why}")
    figure = go.Figure()
    platforms = list(dict.fromkeys(line.platform for line in lines))
    kinds = list(dict.fromkeys(line.kind for line in lines))
    numeric = all(isinstance(x, int) and x > 0 for line in lines for x in line.x)
    for line, column in zip(lines, values, strict=True):
        by_kind = len(platforms) == 1
        colour = _COLOURS[(kinds.index(line.kind) if by_kind else platforms.index(line.platform)) % len(_COLOURS)]
        name = line.kind if by_kind else f"{line.platform}, {line.kind}"
        figure.add_scatter(
            x=list(line.x) if numeric else [plain(x) for x in line.x],
            y=column.astype(np.float32),
            name=plain(name, 48),
            mode="lines+markers",
            line={"color": colour, "width": 2, "dash": _DASHES[kinds.index(line.kind) % len(_DASHES)]},
            marker={"color": colour, "size": 7, "symbol": _SYMBOLS[kinds.index(line.kind) % len(_SYMBOLS)]},
            customdata=[_hover(line, i, shows) for i in range(len(line.x))],
            hovertemplate="%{customdata}",
            connectgaps=False,
        )
    y: dict[str, Any] = {"nticks": 7}
    if shows != DIFFERENCE and max(finite) / min(finite) > _LOG_FROM_RATIO:
        y = {"type": "log", "dtick": 1 if max(finite) / min(finite) > 60 else "D2"}
    figure.update_layout(
        layout(
            theme,
            420 + 14 * max(0, len(lines) - 6),
            xaxis=axis(theme, _TITLES.get(lines[0].x_name, plain(lines[0].x_name)), **_x_scale(lines, numeric)),
            yaxis=axis(theme, _Y_TITLES[shows], tickformat=",~r", **y),
        )
    )
    return figure


def _values(line: Line, shows: str) -> NDArray[np.float64]:
    if shows == BANDWIDTH:
        return line.bandwidth
    return line.time_us * 1e3 if shows == DIFFERENCE else line.time_us


def _x_scale(lines: Sequence[Line], numeric: bool) -> dict[str, Any]:
    if not numeric:
        return {"type": "category"}
    xs = sorted({int(x) for line in lines for x in line.x})
    shown = xs if len(xs) <= _FEW_TICKS + 3 else xs[::2]
    in_bytes = lines[0].x_name in _TITLES
    return {
        "type": "log",
        "tickvals": shown,
        "ticktext": [byte_count(x) if in_bytes else f"{x:,}" for x in shown],
    }


def _hover(line: Line, i: int, shows: str) -> str:
    x = line.x[i]
    place = byte_count(x) if line.x_name in _TITLES and isinstance(x, int) else f"{plain(line.x_name)} {plain(x)}"
    time = float(line.time_us[i])
    if not np.isfinite(time):
        return f"{place}: no time"
    if shows == DIFFERENCE:
        return f"{place}: {1e3 * time:+,.1f} ns"
    rate = float(line.bandwidth[i])
    return f"{place}: {microseconds(time)} µs" + (f", {rate:.3g} GB/s" if np.isfinite(rate) else "")
