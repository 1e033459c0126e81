"""Parallel coordinates: bands that stand for all, lines for the fastest, nodes to mark and click."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dashboards.figures.parallel import brushed, height_of, parallel_data, time_at
from dashboards.figures.parallel_drawing import MARKED, marked, parallel_figure
from dashboards.runview import RunView

MakeView = Callable[..., RunView]


def test_axes_are_the_varied_tunables_and_time(make_view: MakeView) -> None:
    data = parallel_data(make_view())
    assert data.names == ("fifo_depth", "sync_period", "time_us")
    assert data.labels[:2] == (("2", "4", "8"), ("1", "2", "4"))
    assert data.span_us == (8, 11)
    assert data.total == 4


def test_bands_count_what_runs_between_two_values(make_view: MakeView) -> None:
    first = [b for b in parallel_data(make_view()).bands if b.axis == 0]
    assert [(b.start, b.end, b.count, b.best_us) for b in first] == [(0, 0, 1, 11), (1, 1, 2, 9), (2, 2, 1, 8)]


def test_every_configuration_is_in_one_band_between_any_two_axes(big_view: RunView) -> None:
    data = parallel_data(big_view)
    for axis in range(len(data.names) - 1):
        assert sum(b.count for b in data.bands if b.axis == axis) == 200_000
    assert len(data.lines) == 60
    assert data.lines.tolist() == big_view.ranked[:60].tolist()


def test_each_value_knows_its_fastest(make_view: MakeView) -> None:
    data = parallel_data(make_view())
    assert data.fastest[0] == (0, 1, 3)
    assert data.fastest[1] == (0, 1, 3)
    assert data.fastest[2][0] == 3
    assert data.fastest[2][-1] == 0


def test_a_filter_leaves_out_the_others(make_view: MakeView) -> None:
    data = parallel_data(make_view(), within=np.array([0, 2, 5]))
    assert data.total == 2
    assert data.lines.tolist() == [2, 0]


def test_a_value_that_does_not_apply_stands_at_the_foot(make_view: MakeView) -> None:
    values = {**make_view().values, "fifo_depth": np.array([None, 4, 4, 8, 8, 8], dtype=object)}
    view = make_view(values=values)
    data = parallel_data(view)
    assert data.labels[0] == ("–", "2", "4", "8")
    assert data.fastest[0] == (0, -1, 1, 3)
    assert marked(view, data, 0)["y"][0] == 0
    assert marked(view, data, 3)["y"][0] == 1


@pytest.mark.parametrize("span", [(8.0, 11.0), (0.0, 10.0), (-1.0, 5.0)])
def test_heights_of_times_and_back(span: tuple[float, float]) -> None:
    for height in (0.0, 0.25, 1.0):
        assert float(height_of(time_at(height, span), span)) == pytest.approx(height)
    assert float(height_of(5.0, (5.0, 5.0))) == 0.5


def test_a_box_holds_the_values_of_the_nodes_in_it(make_view: MakeView) -> None:
    data = parallel_data(make_view())
    points: list[dict[str, Any]] = [
        {"customdata": ["node", 0, 1, 11]},
        {"customdata": ["node", 0, 2, 13]},
        {"customdata": ["node", 2, 0, None]},
        {"customdata": 13},
        {"customdata": ["node", 9, 0, 1]},
        {},
    ]
    assert brushed(data, points) == {"fifo_depth": [1, 2], "time_us": [0]}


def test_the_figure_marks_the_selected_and_is_drawn_in_svg(make_view: MakeView) -> None:
    view = make_view()
    figure = parallel_figure(view, parallel_data(view), selected=1)
    assert list(figure.data[MARKED].y) == pytest.approx([0.5, 0.5, float(height_of(9.0, (8.0, 11.0)))])
    assert {trace.type for trace in figure.data} == {"scatter"}
    assert next(iter(figure.data[-1].customdata))[:3] == ["node", 0, 0]
    refused = parallel_figure(view, parallel_data(view), selected=4)
    assert list(refused.data[MARKED].x) == [0, 1]


def test_without_ok_configurations_it_says_so(make_view: MakeView) -> None:
    view = make_view(verdict=np.full(6, 1))
    figure = parallel_figure(view, parallel_data(view))
    assert "None of the configurations is ok" in figure.layout.annotations[0].text
    assert figure.data[MARKED].name == "selected"
    one = make_view()
    text = parallel_figure(one, parallel_data(one, np.array([4]))).layout.annotations[0].text
    assert "passes the filter" in text.replace("<br>", " ")
