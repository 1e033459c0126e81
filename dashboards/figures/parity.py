"""Predicted against measured times of published cases: the points and the figure."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from dashboards.text import microseconds, plain
from dashboards.theme import (
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
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pto_tune.validating.running import Outcome

BAND = 0.15
"""Width of the band around equality that the figure draws."""

_COLOURS = (BLUE, VERMILLION, BLUISH_GREEN, ORANGE, REDDISH_PURPLE, SKY_BLUE, YELLOW, GREY)
_SYMBOLS = ("circle", "square", "diamond", "triangle-up")
_USED = {"validate": "never seen", "fit": "fitted to", "order": "for the order only"}


@dataclass(frozen=True)
class Points:
    """Cases of one table and use: microseconds, and what is shown for each."""

    table: str
    use: str
    measured_us: tuple[float, ...]
    predicted_us: tuple[float, ...]
    texts: tuple[str, ...]


def parity_data(unseen: Sequence[Outcome], shipped: Sequence[Outcome] = ()) -> list[Points]:
    """Points by table and use, of the times (those of pipes included) that have a prediction.

    Of cases predicted with numbers that never saw their table, and of those of `shipped`, predicted with the numbers as
    they are, that some number was fitted to.
    """
    groups: dict[tuple[str, str], list[Outcome]] = {}
    used = [(o, "order" if o.case.use == "order" else "validate") for o in unseen]
    used += [(o, "fit") for o in shipped if o.case.use == "fit"]
    for o, use in used:
        if o.case.quantity != "share" and isfinite(o.predicted):
            groups.setdefault((o.case.table, use), []).append(o)
    return [
        Points(
            table,
            use,
            tuple(o.case.measured for o in found),
            tuple(o.predicted for o in found),
            tuple(_text(o) for o in found),
        )
        for (table, use), found in groups.items()
    ]


def _text(o: Outcome) -> str:
    values = f"{microseconds(o.case.measured)} µs measured, {microseconds(o.predicted)} µs predicted"
    return f"<b>{plain(o.case.name)}</b><br>{values}: {100 * o.error:+.1f} %<br>{plain(o.bound, 40)}"


def parity_figure(data: Sequence[Points], theme: Theme = LIGHT) -> Any:
    """Scatter on logarithmic axes with the line of equality and a band of 15 % around it (SVG, no WebGL)."""
    import plotly.graph_objects as go

    if not data:
        return message_figure(theme, "None of the chosen cases has a time and a prediction.")
    low = 0.7 * min(min(*p.measured_us, *p.predicted_us) for p in data)
    high = 1.4 * max(max(*p.measured_us, *p.predicted_us) for p in data)
    figure = go.Figure()
    for factor, dash in ((1.0, "solid"), (1 - BAND, "dot"), (1 + BAND, "dot")):
        figure.add_scatter(
            x=[low, high],
            y=[low * factor, high * factor],
            mode="lines",
            line={"color": theme.muted, "width": 1, "dash": dash},
            hoverinfo="skip",
            showlegend=False,
        )
    tables = list(dict.fromkeys(p.table for p in data))
    for p in data:
        nth = tables.index(p.table)
        symbol = _SYMBOLS[nth // len(_COLOURS) % len(_SYMBOLS)]
        figure.add_scatter(
            x=list(p.measured_us),
            y=list(p.predicted_us),
            text=list(p.texts),
            name=plain(f"{p.table}, {_USED[p.use]}"),
            mode="markers",
            marker={
                "color": _COLOURS[nth % len(_COLOURS)],
                "size": 8,
                "symbol": symbol if p.use == "validate" else f"{symbol}-open",
            },
            hovertemplate="%{text}<extra></extra>",
        )
    figure.update_layout(
        layout(
            theme,
            720,
            xaxis=axis(theme, "Measured (µs)", type="log", tickformat=",~r", dtick=1),
            yaxis=axis(theme, "Predicted (µs)", type="log", tickformat=",~r", dtick=1),
        )
    )
    return figure
