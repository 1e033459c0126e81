"""Draws a window of a timeline: bars by core and pipe, stalls low and light, flags between cores as arrows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dashboards.figures.timeline_spans import KINDS, STALLS
from dashboards.text import microseconds, plain
from dashboards.theme import (
    BLUISH_GREEN,
    DARK,
    GREY,
    LIGHT,
    ORANGE,
    REDDISH_PURPLE,
    VERMILLION,
    YELLOW,
    Theme,
    axis,
    layout,
    message_figure,
)  # fmt: skip

if TYPE_CHECKING:
    from dashboards.figures.timeline import Window

_TRACK_PX = 27
_REST_PX = 120
STALL_OPACITY = 0.45


def colours(theme: Theme) -> tuple[str, ...]:
    """The colour of every kind."""
    return (theme.mark, BLUISH_GREEN, REDDISH_PURPLE, GREY, ORANGE, VERMILLION, YELLOW, GREY)


def height_px(tracks: int) -> int:
    """Height of the figure of so many tracks."""
    return _REST_PX + _TRACK_PX * max(tracks, 3)


def timeline_figure(w: Window, theme: Theme = LIGHT, view: str = "timeline") -> Any:
    """`timeline_plot` as a figure of the plotting library, which checks it: for notebooks and reports."""
    import plotly.graph_objects as go

    return go.Figure(timeline_plot(w, theme, view))


def timeline_plot(w: Window, theme: Theme = LIGHT, view: str = "timeline") -> dict[str, Any]:
    """Horizontal bars over time in microseconds, with cycles above. Stalls are low and light. A stretch of time
    that the reader has chosen stays while `view` is the same text. Plain data: a page that changes at once has no time
    for the library's checks, which take longer than the prediction."""
    data, mhz = w.data, w.data.clock_mhz
    shown = sorted(set(np.unique(data.spans.track).tolist()) | set(np.unique(data.tokens.target).tolist()))
    if not shown:
        return dict(message_figure(theme, "Nothing takes time in this block.").to_plotly_json())
    place = np.full(len(data.tracks), -1)
    place[shown] = np.arange(len(shown))
    traces: list[dict[str, Any]] = []
    for kind, (name, colour) in enumerate(zip(KINDS, colours(theme), strict=True)):
        at = np.flatnonzero(w.kind == kind)
        if not at.shape[0]:
            continue
        stall = kind in STALLS
        traces.append(
            _trace(
                "bar",
                orientation="h",
                name=name,
                y=place[w.track[at]],
                base=w.start[at] / mhz,
                x=(w.stop[at] - w.start[at]) / mhz,
                # low and light, not hatched: patterns would double the time that browsers take to draw
                width=0.4 if stall else 0.78,
                marker={"color": colour, "opacity": STALL_OPACITY if stall else 1, "line": {"width": 0}},
                customdata=[
                    [
                        plain(w.texts[i]),
                        plain(data.tracks[w.track[i]]),
                        f"{w.start[i]:,} to {w.stop[i]:,}",
                        microseconds((w.stop[i] - w.start[i]) / mhz),
                    ]
                    for i in at.tolist()
                ],
                hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]}, %{customdata[3]} µs"
                "<br>cycles %{customdata[2]}<extra></extra>",
            )
        )
    traces += _token_traces(w, place, theme)
    # a trace of nothing, so that the axis of cycles is drawn
    traces.append(_trace("scatter", x=[None], y=[None], xaxis="x2", yaxis="y", showlegend=False, hoverinfo="skip"))
    low, high = w.begin / mhz, w.end / mhz
    height = height_px(len(shown))
    shape = layout(
        theme,
        height,
        barmode="overlay",
        bargap=0,
        uirevision=view,
        dragmode="zoom",
        margin={"l": 12, "r": 16, "t": 52, "b": 12},
        showlegend=False,
        xaxis=axis(
            theme, "Time (µs)", range=[low, high], tickformat=",~r", nticks=9, minallowed=0,
            maxallowed=data.cycles / mhz,
        ),
        xaxis2=axis(
            theme, "Cycles of the core clock", range=[w.begin, w.end], overlaying="x", side="top", fixedrange=True,
            tickformat=",d", nticks=9, showgrid=False,
        ),
        yaxis=axis(
            theme, "", range=[len(shown) - 0.5, -0.5], fixedrange=True, tickmode="array", showgrid=False,
            tickvals=list(range(len(shown))), ticktext=[plain(data.tracks[i]) for i in shown],
        ),
        shapes=[
            {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": i - 0.5, "y1": i - 0.5,
             "line": {"color": theme.muted, "width": 1}}
            for i in range(1, len(shown))
            if data.tracks[shown[i]].split(".")[0] != data.tracks[shown[i - 1]].split(".")[0]
        ],
    )  # fmt: skip
    return {"data": traces, "layout": shape}


def _trace(kind: str, **parts: Any) -> dict[str, Any]:
    return {"type": kind, **parts}


def legend(w: Window, theme: Theme = LIGHT) -> list[tuple[str, str, str]]:
    """Name, colour and style ("solid", "light" or "line") of what the figure shows: narrow screens have no room for a
    legend inside."""
    found = [
        (KINDS[kind], colours(theme)[kind], "light" if kind in STALLS else "solid")
        for kind in np.unique(w.kind).tolist()
    ]
    flags = [(name, colour, "line") for c, name, colour, _ in _tokens_look(w, theme) if (w.tokens.credit == c).any()]
    return found + flags


def _tokens_look(w: Window, theme: Theme) -> tuple[tuple[bool, str, str, str], ...]:
    return (
        (False, w.data.flags, theme.ink, "solid"),
        (True, "slots are free", VERMILLION if theme is not DARK else ORANGE, "dot"),
    )


def _token_traces(w: Window, place: Any, theme: Theme) -> list[dict[str, Any]]:
    """An arrow a flag: a line, and a mark where it is taken."""
    traces = []
    mhz, tokens = w.data.clock_mhz, w.tokens
    for credit, name, colour, dash in _tokens_look(w, theme):
        at = np.flatnonzero(tokens.credit == credit)
        if not at.shape[0]:
            continue
        x: list[float | None] = []
        y: list[int | None] = []
        for i in at.tolist():
            x += [tokens.sent[i] / mhz, tokens.taken[i] / mhz, None]
            y += [int(place[tokens.source[i]]), int(place[tokens.target[i]]), None]
        traces.append(
            _trace(
                "scatter",
                x=x,
                y=y,
                mode="lines",
                name=name,
                legendgroup=name,
                hoverinfo="skip",
                line={"color": colour, "width": 1, "dash": dash},
            )
        )
        traces.append(
            _trace(
                "scatter",
                x=tokens.taken[at] / mhz,
                y=place[tokens.target[at]],
                mode="markers",
                showlegend=False,
                legendgroup=name,
                marker={"symbol": "triangle-left" if credit else "triangle-right", "size": 8, "color": colour},
                customdata=[
                    [
                        plain(tokens.names[tokens.name[i]]),
                        int(tokens.number[i]),
                        plain(w.data.tracks[tokens.source[i]]),
                        plain(w.data.tracks[tokens.target[i]]),
                        f"{tokens.sent[i]:,}",
                        f"{tokens.taken[i]:,}",
                    ]
                    for i in at.tolist()
                ],
                hovertemplate="<b>%{customdata[0]}</b>, number %{customdata[1]}<br>set on %{customdata[2]} at cycle "
                "%{customdata[4]}<br>taken on %{customdata[3]} at cycle %{customdata[5]}<extra></extra>",
            )
        )
    return traces
