"""Horizontal bars with the label above each bar, so that long names stay readable on a narrow screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dashboards.text import plain
from dashboards.theme import Theme, axis, layout

_ROW_PX = 46
_LABEL_CHARACTERS = 32


@dataclass(frozen=True)
class Bar:
    """One bar: `group` is its legend entry, `label` its name, `detail` the figure beside the name."""

    group: str
    label: str
    detail: str
    value: float


@dataclass(frozen=True)
class Look:
    """How the bars of one group look: a colour and, for those who cannot rely on colour, a pattern ('' for
    none).
    """

    colour: str
    pattern: str = ""


def bars_figure(
    bars: Sequence[Bar],
    looks: dict[str, Look],
    axis_title: str,
    theme: Theme,
    limit: tuple[float, str] | None = None,
) -> Any:
    """Bars from top to bottom in the order given; `limit` is a value marked by a dashed line, with its name.

    `axis_title` and the name of the limit are our own words; labels, details and groups may hold any
    characters.
    """
    import plotly.graph_objects as go

    figure = go.Figure()
    for group, look in looks.items():
        places = [place for place, bar in enumerate(bars) if bar.group == group]
        if not places:
            continue
        figure.add_bar(
            orientation="h",
            name=plain(group, 30),
            y=places,
            x=[bars[place].value for place in places],
            width=0.36,
            marker={
                "color": look.colour,
                "line": {"width": 0},
                "pattern": {
                    "shape": look.pattern,
                    "fillmode": "overlay",
                    "fgcolor": theme.paper,
                    "fgopacity": 0.75,
                },
            },
            customdata=[[plain(bars[place].label), plain(bars[place].detail)] for place in places],
            hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]}<extra></extra>",
            showlegend=True,
        )
    labels = [
        {
            "text": f"<b>{plain(bar.detail)}</b>  {plain(bar.label, _LABEL_CHARACTERS)}",
            "x": 0,
            "xref": "paper",
            "xanchor": "left",
            "y": place - 0.2,
            "yref": "y",
            "yanchor": "bottom",
            "showarrow": False,
            "align": "left",
        }
        for place, bar in enumerate(bars)
    ]
    reach = max([bar.value for bar in bars] + ([limit[0]] if limit else []), default=1.0) or 1.0
    figure.update_layout(
        layout(
            theme,
            110 + _ROW_PX * len(bars),
            annotations=labels,
            barmode="overlay",
            xaxis=axis(theme, axis_title, range=[0, reach * 1.04], tickformat=",~r", nticks=6),
            yaxis={"visible": False, "range": [len(bars) - 0.5, -0.85], "fixedrange": True},
        )
    )
    if limit is not None:
        figure.add_shape(
            type="line",
            x0=limit[0],
            x1=limit[0],
            y0=0,
            y1=1,
            yref="paper",
            line={"color": theme.muted, "width": 1.5, "dash": "dash"},
            name=limit[1],
            showlegend=True,
        )
    return figure
