"""Draws how full a FIFO is: a step line under its SlotNum, and below it which tile is in which slot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dashboards.figures.occupancy import NEVER, FifoTiles, Steps, filled, held
from dashboards.text import microseconds, plain
from dashboards.theme import BLUISH_GREEN, GREY, LIGHT, ORANGE, VERMILLION, Theme, axis, layout, message_figure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

WRITTEN, HOLDS, READ = "being written", "holds a tile, up to its last read", "read, its credit not sent yet"

MOST_TILES = 300
"""Tiles drawn in their slots at once, the first of the stretch."""

MOST_STEPS = 4000
"""Points of a step line; beyond that the highest count of each of half so many pieces of time is drawn."""


def visible(tiles: FifoTiles, begin: int, end: int) -> tuple[Ints, int]:
    """Tiles whose slots are drawn between two times (cycles), and how many more there would be."""
    freed = np.where(tiles.freed == NEVER, tiles.end, tiles.freed)
    at = np.flatnonzero((tiles.taken != NEVER) & (tiles.taken < end) & (freed > begin))
    return at[:MOST_TILES], max(0, int(at.shape[0]) - MOST_TILES)


def thinned(steps: Steps, begin: int, end: int) -> Steps:
    """The part of a step line between two times, no more than `MOST_STEPS` points; never lower than the whole one."""
    first = max(0, int(np.searchsorted(steps.time, begin, side="right")) - 1)
    last = int(np.searchsorted(steps.time, end, side="left"))
    time, count = np.maximum(steps.time[first:last], begin), steps.count[first:last]
    if len(time) <= MOST_STEPS:
        return Steps(np.append(time, end), np.append(count, count[-1:]))
    edges = np.linspace(begin, end, MOST_STEPS // 2, endpoint=False).astype(np.int64)
    places = np.searchsorted(time, edges)
    # what holds at the beginning of a piece counts too
    before = count[np.maximum(np.searchsorted(time, edges, side="right") - 1, 0)]
    highest = np.maximum.reduceat(count, np.minimum(places, len(count) - 1))
    return Steps(np.append(edges, end), np.append(np.maximum(before, highest), count[-1]))


def occupancy_figure(tiles: FifoTiles | None, clock_mhz: float, begin: int, end: int, theme: Theme = LIGHT) -> Any:
    """Step lines above, slots below, from `begin` to `end` (cycles), over microseconds."""
    import plotly.graph_objects as go

    if tiles is None:
        return message_figure(theme, "No FIFO between cores holds a tile in this block.")
    figure = go.Figure()
    for steps, name, colour, fill in (
        (held(tiles), "slots not free", ORANGE, True), (filled(tiles), "slots with an unread tile", theme.mark, False),
    ):  # fmt: skip
        line = thinned(steps, begin, end)
        figure.add_scatter(
            x=line.time / clock_mhz, y=line.count, mode="lines", name=name, line={"shape": "hv", "color": colour,
            "width": 1.6}, fill="tozeroy" if fill else None, fillcolor="rgba(230,159,0,0.18)" if fill else None,
            hovertemplate=f"%{{y}} {name}<br>from %{{x:,.3f}} µs<extra></extra>", yaxis="y",
        )  # fmt: skip
    figure.add_scatter(
        x=[begin / clock_mhz, end / clock_mhz], y=[tiles.slot_num] * 2, mode="lines", yaxis="y", hoverinfo="skip",
        name=f"SlotNum {tiles.slot_num}", line={"color": VERMILLION, "dash": "dash", "width": 1.5},
    )  # fmt: skip
    at, _ = visible(tiles, begin, end)
    _add_slots(figure, tiles, at, clock_mhz, theme)
    rows = max(tiles.slot_num, 2)
    slots_px = min(24 * rows, 520)
    height = 240 + slots_px
    split = (slots_px + 10) / (height - 70)
    most = max(tiles.slot_num, int(held(tiles).count.max()))
    figure.update_layout(
        layout(
            theme,
            height,
            barmode="overlay",
            bargap=0,
            showlegend=False,
            xaxis=axis(theme, "Time (µs)", range=[begin / clock_mhz, end / clock_mhz], tickformat=",~r", nticks=9,
                       anchor="y2"),
            yaxis=axis(theme, "Slots", domain=[split + 0.06, 1], range=[0, most * 1.12 + 0.2], fixedrange=True,
                       tickformat="d", nticks=6),
            yaxis2=axis(theme, "Slot", domain=[0, split], range=[rows - 0.5, -0.5], fixedrange=True, showgrid=False,
                        tickformat="d", nticks=min(rows + 1, 17), anchor="x"),
        )
    )  # fmt: skip
    return figure


def legend(slot_num: int, theme: Theme = LIGHT) -> list[tuple[str, str, str]]:
    """Name, colour and style ("line", "solid" or "hatched") of what the figure shows."""
    return [
        ("slots not free", ORANGE, "line"),
        ("slots with an unread tile", theme.mark, "line"),
        (f"SlotNum, {slot_num}", VERMILLION, "line"),
        (WRITTEN, BLUISH_GREEN, "solid"),
        (HOLDS, theme.mark, "solid"),
        (READ, GREY, "hatched"),
    ]


def _add_slots(figure: Any, tiles: FifoTiles, at: Ints, clock_mhz: float, theme: Theme) -> None:
    """Three bars a tile: it is written, it waits for and is read, and its slot waits for a credit."""
    freed = np.where(tiles.freed == NEVER, tiles.end, tiles.freed)
    done = np.where(tiles.done == NEVER, freed, np.minimum(tiles.done, freed))
    full = np.minimum(np.where(tiles.full == NEVER, done, tiles.full), done)
    crowded = len(at) > 60
    parts = (
        (WRITTEN, tiles.taken, full, BLUISH_GREEN, "", False),
        (HOLDS, full, done, theme.mark, "", True),
        (READ, done, freed, GREY, "/", False),
    )
    for name, begin, end, colour, pattern, labelled in parts:
        some = at[end[at] > begin[at]]
        if not some.shape[0]:
            continue
        figure.add_bar(
            orientation="h",
            yaxis="y2",
            name=name,
            y=some % tiles.slot_num,
            base=begin[some] / clock_mhz,
            x=(end[some] - begin[some]) / clock_mhz,
            width=0.8,
            text=[str(tile) for tile in some.tolist()] if labelled and not crowded else None,
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            textfont={"color": theme.paper, "size": 11},
            constraintext="none",
            marker={
                "color": colour,
                "line": {"width": 0.5, "color": theme.paper},
                "pattern": {"shape": pattern, "fillmode": "replace", "size": 6, "solidity": 0.25, "fgcolor": colour,
                            "bgcolor": theme.paper} if pattern else {},
            },
            customdata=[
                [plain(_times(tiles, tile)), microseconds((end[tile] - begin[tile]) / clock_mhz)]
                for tile in some.tolist()
            ],
            hovertemplate=f"<b>%{{customdata[0]}}</b><br>{name}: %{{customdata[1]}} µs<extra></extra>",
        )  # fmt: skip


def _times(tiles: FifoTiles, tile: int) -> str:
    return f"tile {tile} in slot {tile % tiles.slot_num}"


def occupancy_note(tiles: FifoTiles, begin: int, end: int) -> str:
    """What to see, in a sentence or two."""
    most_held, most_filled = int(held(tiles).count.max()), int(filled(tiles).count.max())
    _, more = visible(tiles, begin, end)
    words = (
        f"{tiles.name}: SlotNum {tiles.slot_num}, SyncPeriod {tiles.period}, {len(tiles):,} tiles. At most {most_held} "
        f"slots were not free at once, and at most {most_filled} held a tile that was still to be read."
    )
    if most_held < tiles.slot_num:
        words += f" {tiles.slot_num - most_held} of the slots were never needed at the predicted times."
    if more:
        words += f" The slots show the first {MOST_TILES} tiles of this stretch of time, {more:,} more are not drawn."
    return words
