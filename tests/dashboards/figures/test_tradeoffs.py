"""Pareto fronts of several runs and times side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dashboards.figures.tradeoffs import MOST_POINTS, Mark, front_of, fronts_figure, times_figure
from dashboards.theme import DARK, LIGHT

NAN = float("nan")


def test_a_front_holds_what_nothing_beats_in_both(make_view: Callable[..., Any]) -> None:
    front = front_of("a", make_view())
    # by bytes: 2 KiB 11 us; 3 KiB 10 us; 4 KiB 9 us; 8 KiB 8 us
    assert front.rows.tolist() == [10, 12, 11, 13]
    assert front.time_us.tolist() == [11.0, 10.0, 9.0, 8.0]
    assert front.on_chip_bytes.tolist() == [2048.0, 3072.0, 4096.0, 8192.0]
    assert (front.known, front.size) == (4, 4)


def test_a_long_front_is_drawn_with_its_ends(make_view: Callable[..., Any]) -> None:
    n = 5000
    view = make_view(
        rows=np.arange(n),
        values={name: np.resize(column, n) for name, column in make_view().values.items()},
        verdict=np.zeros(n, dtype=np.int64),
        rule=np.full(n, -1),
        cycles=np.arange(n, 0, -1).astype(float),
        bytes={"ub": np.arange(n).astype(float)},
        bound=np.zeros(n, dtype=np.int64),
        accounts={},
        best_row=None,
    )
    front = front_of("a", view)
    assert front.size == n
    assert len(front.rows) <= MOST_POINTS
    assert (front.rows[0], front.rows[-1]) == (0, n - 1)


def test_each_front_has_dash_and_symbol_of_its_own_and_names_show_as_text(make_view: Callable[..., Any]) -> None:
    fronts = [front_of("<b>x</b> & 管道", make_view()), front_of("y", make_view())]
    figure = fronts_figure(fronts, [Mark("y", 8.0, 8192.0, 1), Mark("none", NAN, NAN, 0)], DARK)
    assert [t.name for t in figure.data] == ["&lt;b&gt;x&lt;/b&gt; &amp; 管道", "y", "y"]
    lines = figure.data[:2]
    assert len({t.line.dash for t in lines}) == len({t.marker.symbol for t in lines}) == 2
    assert figure.data[2].marker.symbol == "star"


def test_no_front_says_so(make_view: Callable[..., Any]) -> None:
    figure = fronts_figure([front_of("a", make_view(bytes={}))], (), LIGHT)
    assert "on-chip bytes" in figure.layout.annotations[0].text.replace("<br>", " ")


def test_times_say_what_they_are_above_the_least() -> None:
    figure = times_figure([("a", 10.0), ("b", 15.0), ("c", NAN)], LIGHT)
    texts = [note.text for note in figure.layout.annotations]
    assert texts == ["<b>10.00 µs</b>  a", "<b>15.00 µs (+50.0 %)</b>  b", "<b>no time</b>  c"]


def test_without_any_time_the_figure_says_so() -> None:
    assert "time" in times_figure([("a", NAN)], LIGHT).layout.annotations[0].text
