"""The figures of the pages, drawn when the site is built, by the functions that dashboards and reports draw with.

Each is kept as a script that holds its data for the light and for the dark page; all pages share one plotly.js.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dashboards.runview import RunView
    from dashboards.theme import Theme
    from pto_tune.explaining.explanation import Explanation

    Draw = Callable[[Theme], Any]
    Legend = Callable[[Theme], Sequence[tuple[str, str, str]]]

SHOWN_TABLES = ("flash_attention", "cross_core_stream", "gemm", "paged_attention", "tget")
"""Published tables in the figure of the page on accuracy: those that are predicted in a few seconds."""

STREAM = {"tiles": 64, "slot_bytes": 16384, "store_cycles": 2000, "load_cycles": 2000}
"""The stream of the page on concepts: filling and emptying a slot take the same time, nothing is computed."""

ATTENTION = {"s0": 1024, "s1": 2048}
"""The attention of the pages."""

_BARS = 120
_TILES = 24


@dataclass(frozen=True)
class Figure:
    """A figure of a page. `title` names it, `caption` says what is drawn and how to read it."""

    title: str
    caption: str
    draw: Draw
    legend: Legend | None = None

    def script(self, key: str) -> str:
        """The script that holds the figure's data."""
        from dashboards.report.fitting import as_json, difference
        from dashboards.theme import DARK, LIGHT

        light, dark = (as_json(self.draw(theme)) for theme in (LIGHT, DARK))
        data = json.dumps({"light": light, "dark": difference(light, dark)}, separators=(",", ":"))
        return f"(window.ptoFigures ??= {{}})[{json.dumps(key)}] = {data};\n"

    def html(self, key: str) -> str:
        """What stands in the page: an empty place of the figure's height, legend and caption."""
        from dashboards.theme import LIGHT

        height = int(self.draw(LIGHT).layout.height or 0)
        title, caption = escape(self.title), escape(self.caption)
        return "\n".join(
            [
                '<figure class="pto-figure" markdown="0">',
                f'<p class="pto-title">{title}</p>',
                *self._legend(),
                f'<div class="pto-plot" data-figure="{key}" style="height: {height}px" role="group" '
                f'aria-label="{title}. {caption}"></div>',
                f"<figcaption>{caption}</figcaption>",
                "</figure>",
            ]
        )

    def _legend(self) -> list[str]:
        from dashboards.theme import DARK, LIGHT

        if self.legend is None:
            return []
        entries = [
            f'<li><span class="pto-swatch {style}" style="--light: {light}; --dark: {dark}"></span>{escape(name)}</li>'
            for (name, light, style), (_, dark, _) in zip(self.legend(LIGHT), self.legend(DARK), strict=True)
        ]
        return ['<ul class="pto-legend" aria-hidden="true" data-search-exclude>', *entries, "</ul>"] if entries else []


@cache
def figure(key: str) -> Figure:
    """A figure by its name. KeyError for an unknown one."""
    return FIGURES[key]()


def stream(**tunables: int | str) -> Explanation:
    """The stream of the page on concepts, on ascend910b2."""
    return _explained("stream", tuple({**STREAM, **tunables}.items()))


@cache
def _explained(workload: str, configuration: tuple[tuple[str, int | str], ...]) -> Explanation:
    from pto_tune import api

    return api.explain(workload, dict(configuration))


@cache
def _run(
    workload: str, problem: tuple[tuple[str, int], ...], domains: tuple[tuple[str, tuple[int, ...]], ...]
) -> RunView:
    """A finished sweep as the pages have it."""
    import pto_tune
    from dashboards.runview import from_store
    from db import open_store

    with (
        tempfile.TemporaryDirectory() as folder,
        open_store(f"sqlite:///{Path(folder) / 'runs.db'}") as store,
    ):
        pto_tune.tune(workload, problem=dict(problem), domains=dict(domains), store=store)
        return from_store(store, "latest")


def _attention() -> RunView:
    domains = {"tile_s1": (128, 256, 512), "qk_preload": (1, 2, 4), "fifo_depth": (2, 4, 6, 8), "cube_s0": (64, 128)}
    return _run("flash_attention", tuple(ATTENTION.items()), tuple(domains.items()))


def _timeline(explanation: Explanation, title: str, words: str, bars: int = _BARS) -> Figure:
    import numpy as np

    from dashboards.figures.timeline import timeline_data, window
    from dashboards.figures.timeline_drawing import legend, timeline_figure
    from dashboards.text import microseconds

    data = timeline_data(explanation)
    end = data.cycles
    if len(data.spans) > bars:
        end = int(np.partition(data.spans.start, bars)[bars])
    part, mhz = window(data, 0, end), data.clock_mhz
    shown = f"{words} Drawn are the first {microseconds(end / mhz)} of {microseconds(data.cycles / mhz)} µs."

    def draw(theme: Theme) -> Any:
        drawn = timeline_figure(part, theme)
        drawn.update_layout(xaxis={"maxallowed": end / mhz})
        return drawn

    return Figure(title, shown, draw, lambda theme: legend(part, theme))


def _slots(explanation: Explanation, title: str, words: str) -> Figure:
    from dashboards.figures.occupancy import fifos_of
    from dashboards.figures.occupancy_drawing import legend, occupancy_figure

    tiles = fifos_of(explanation)[0]
    mhz = explanation.problem.clock_mhz
    end = tiles.end if len(tiles) <= _TILES else int(tiles.taken[_TILES])
    return Figure(
        title, words, lambda theme: occupancy_figure(tiles, mhz, 0, end, theme),
        lambda theme: legend(tiles.slot_num, theme),
    )  # fmt: skip


def _shallow() -> Figure:
    words = "stream, FifoDepth 1: the store of a tile waits until the load of the one before it is over."
    return _timeline(stream(fifo_depth=1), "One slot: producer and consumer take turns", words, 40)


def _deep() -> Figure:
    words = "stream, FifoDepth 4 (SyncPeriod 2): the cube core stores the next tile while the sub-cores load this one."
    return _timeline(stream(fifo_depth=4), "Four slots: they work at the same time", words, 60)


def _credits() -> Figure:
    words = (
        "stream, FifoDepth 8, SyncPeriod 4: a slot is taken when its tile is allocated and comes back with the "
        "credit of its group of four."
    )
    return _slots(stream(fifo_depth=8), "Slots of the ring over time", words)


def _depth_period() -> Figure:
    from dashboards.figures.heatmap import heatmap_data, heatmap_figure

    domains = {"fifo_depth": (1, 2, 3, 4, 5, 6, 8, 16), "sync_period": (1, 2, 4, 8), "split": (1,)}
    view = _run("stream", tuple(STREAM.items()), tuple(domains.items()))
    data = heatmap_data(view, "fifo_depth", "sync_period")
    words = (
        "The stream above over FifoDepth and SyncPeriod. A pair without a colour has no ok configuration; point at it "
        "for the reason. A period as long as the ring stops the producer once a turn."
    )
    return Figure("Time by FifoDepth and SyncPeriod", words, lambda theme: heatmap_figure(view, data, theme))


def _splits() -> Figure:
    import pto_tune
    from dashboards.figures.tradeoffs import times_figure
    from pto_tune.model.nodes import SPLITS

    table = {"split": list(SPLITS[:3]), "store_cycles": 0}
    found = pto_tune.evaluate("stream", table, accounts=False)
    named = list(zip(found["split"], found["time_us"], strict=True))
    words = (
        "stream at its defaults, store_cycles 0: with NO_SPLIT each sub-core loads the whole tile; halves by columns "
        "come in shorter bursts than halves by rows."
    )
    return Figure("Time by TileSplitAxis", words, lambda theme: times_figure(named, theme))


def _waits() -> Figure:
    from dashboards.figures.causes import causes_data, causes_figure, legend

    depths = (1, 2, 4)
    found = [causes_data(stream(fifo_depth=d), f"FifoDepth {d}") for d in depths]
    shown = [data for data in found if data is not None]
    words = "stream with 1, 2 and 4 slots: the parts of the critical path, which add up to the time of the block."
    return Figure(
        "Where the time goes", words, lambda theme: causes_figure(shown, theme), lambda theme: legend(shown, theme)
    )


def _best_attention() -> Explanation:
    view = _attention()
    assert view.best is not None, "the sweep of the pages has an ok configuration"
    values: Mapping[str, Any] = {**view.problem, **view.configuration(view.best)}
    return _explained("flash_attention", tuple((n, v) for n, v in values.items() if v != "–"))


def _attention_timeline() -> Figure:
    words = "The best of a small sweep of flash_attention, S0 = 1024, S1 = 2048, head 128."
    return _timeline(_best_attention(), "A block of Flash Attention", words, 220)


def _overlap() -> Figure:
    from dashboards.figures.bounds import bounds_data, bounds_figure

    data = bounds_data(_best_attention())
    return Figure("If only this limited it", data.sentence(), lambda theme: bounds_figure(data, theme))


def _scatter() -> Figure:
    from dashboards.figures.scatter import scatter_data
    from dashboards.figures.scatter_drawing import scatter_figure

    view = _attention()
    data = scatter_data(view, colour_by="tile_s1")
    words = (
        "Every ok configuration of the sweep; lower left is better. The line joins those that nothing beats in both."
    )
    return Figure("Time against on-chip memory", words, lambda theme: scatter_figure(view, data, theme))


def _refusals() -> Figure:
    from dashboards.figures.refusals import refusals_data, refusals_figure

    view = _attention()
    data = refusals_data(view)
    words = f"The {len(view):,} configurations of the same sweep by verdict and rule."
    return Figure("What was ok, refused or unsafe", words, lambda theme: refusals_figure(data, theme))


def _parity() -> Figure:
    from dashboards.figures.parity import parity_data, parity_figure
    from pto_tune.validating.report import validate

    report = validate(SHOWN_TABLES)
    points = parity_data(report.unseen, report.outcomes)
    words = (
        f"Cases of the tables {', '.join(SHOWN_TABLES)}; `pto-tune validate -o parity.html` draws all. On the diagonal "
        "the prediction is what was measured; the band is 15 % on either side."
    )
    return Figure("Predicted against measured", words.replace("`", ""), lambda theme: parity_figure(points, theme))


FIGURES: Mapping[str, Callable[[], Figure]] = {
    "one-slot": _shallow,
    "four-slots": _deep,
    "credits": _credits,
    "depth-and-period": _depth_period,
    "splits": _splits,
    "waits": _waits,
    "attention-timeline": _attention_timeline,
    "overlap": _overlap,
    "trade-offs": _scatter,
    "refusals": _refusals,
    "parity": _parity,
}
"""How each figure is made, by the name that pages call it by."""
