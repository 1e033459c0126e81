"""Colours and the common layout of all figures, for a light and a dark page.

Marks use the colours of Okabe and Ito (Color Universal Design, 2008) and areas the cividis scale (Nunez,
Anderton and Renslow, PLoS ONE 2018), both made to be told apart with any of the usual colour-vision
deficiencies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dashboards.text import wrapped

ORANGE = "#E69F00"
SKY_BLUE = "#56B4E9"
BLUISH_GREEN = "#009E73"
YELLOW = "#F0E442"
BLUE = "#0072B2"
VERMILLION = "#D55E00"
REDDISH_PURPLE = "#CC79A7"
GREY = "#8A8F98"

AREA_SCALE = "Cividis"
FONT_FAMILY = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Noto Sans CJK SC', sans-serif"


@dataclass(frozen=True)
class Theme:
    """What differs between a light and a dark page; colours as CSS texts."""

    name: str
    ink: str
    muted: str
    grid: str
    paper: str
    mark: str
    bar_outline: str


LIGHT = Theme("light", "#1b1f24", "#57606a", "#e4e7eb", "#ffffff", BLUE, "#1b1f24")
DARK = Theme("dark", "#e8eaed", "#a9b1bb", "#343b44", "#191d22", SKY_BLUE, "#e8eaed")


def theme_named(name: str | None) -> Theme:
    """The theme of that name; light where it is none."""
    return DARK if name == "dark" else LIGHT


def axis(theme: Theme, title: str, **more: Any) -> dict[str, Any]:
    """An axis with its title in the theme's colours; `title` is plotly text (escape names before)."""
    return {
        "title": {"text": title, "standoff": 10},
        "gridcolor": theme.grid,
        "linecolor": theme.muted,
        "tickcolor": theme.muted,
        "zeroline": False,
        "automargin": True,
        **more,
    }


def layout(theme: Theme, height_px: int, **more: Any) -> dict[str, Any]:
    """The layout that all figures share; the width follows the page."""
    return {
        "template": "none",
        "height": height_px,
        "autosize": True,
        "paper_bgcolor": theme.paper,
        "plot_bgcolor": theme.paper,
        "font": {"family": FONT_FAMILY, "size": 13, "color": theme.ink},
        "margin": {"l": 12, "r": 16, "t": 16, "b": 12},
        "hovermode": "closest",
        "hoverlabel": {
            "bgcolor": theme.paper,
            "bordercolor": theme.muted,
            "font": {"family": FONT_FAMILY, "color": theme.ink},
            "align": "left",
        },
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "xanchor": "left", "yanchor": "bottom"},
        **more,
    }


def message_figure(theme: Theme, sentence: str) -> Any:
    """A figure that says why there is nothing to draw; `sentence` may hold any characters."""
    import plotly.graph_objects as go

    hidden = {"visible": False, "range": [0, 1], "fixedrange": True}
    note = {
        "text": wrapped(sentence, 40),
        "x": 0.5,
        "y": 0.5,
        "xref": "paper",
        "yref": "paper",
        "showarrow": False,
        "font": {"size": 14, "color": theme.muted},
    }
    return go.Figure(layout=layout(theme, 190, xaxis=hidden, yaxis=hidden, annotations=[note]))
