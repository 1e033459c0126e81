"""The scatter of two quantities: its points, its front, its axes, its mark."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from dashboards.figures.scatter import axes_with_data, scatter_data
from dashboards.figures.scatter_drawing import MARKED, marked, scatter_figure
from dashboards.runview import RunView, ViewError
from dashboards.theme import DARK, LIGHT

MakeView = Callable[..., RunView]


def test_points_stand_in_the_units_of_the_axes(make_view: MakeView) -> None:
    data = scatter_data(make_view())
    assert data.positions.tolist() == [0, 1, 2, 3]
    assert data.x.tolist() == [2, 4, 3, 8]
    assert data.y.tolist() == [11, 9, 10, 8]
    assert (data.best, data.total, data.thinned) == (3, 4, False)
    assert data.front.tolist() == [0, 2, 1, 3]


def test_only_what_passes_the_filter_is_drawn_and_makes_the_front(make_view: MakeView) -> None:
    data = scatter_data(make_view(), within=np.array([1, 2, 4]))
    assert data.positions.tolist() == [1, 2]
    assert data.best is None
    assert data.front.tolist() == [2, 1]


def test_other_axes_and_columns_that_the_run_does_not_keep(make_view: MakeView) -> None:
    flags = np.array([2.0, 4, 4, 6, 6, 6])
    data = scatter_data(make_view(), "flags", "ub", extra={"flags": flags})
    assert data.x.tolist() == [2, 4, 4, 6]
    assert data.y.tolist() == [1, 2, 2, 4]
    assert scatter_data(make_view(), "flags", "ub").total == 0
    with pytest.raises(ViewError, match="no axis 'speed'"):
        scatter_data(make_view(), "speed")


def test_axes_without_data_are_left_out_with_the_reason(make_view: MakeView) -> None:
    usable, left_out = axes_with_data(make_view(), {"flags": np.full(6, 4.0)})
    assert [a.name for a in usable] == ["time_us", "on_chip_bytes", "ub", "l1"]
    reasons = {a.name: why for a, why in left_out}
    assert reasons["l0a"] == "the run kept none"
    assert reasons["flags"] == "4 in all"
    assert "width_us" not in reasons


def test_a_million_would_be_thinned_but_every_one_is_stood_for(big_view: RunView) -> None:
    data = scatter_data(big_view, limit=500)
    assert data.thinned
    assert len(data.positions) <= 500 + len(data.front)
    assert int(data.stands_for.sum()) == data.total == 200_000
    assert set(data.front.tolist()) <= set(data.positions.tolist())
    assert data.best in data.positions.tolist()


def test_few_values_get_a_colour_and_a_shape_each_many_a_scale(make_view: MakeView) -> None:
    view = make_view()
    figure = scatter_figure(view, scatter_data(view, colour_by="fifo_depth"))
    names = [trace.name for trace in figure.data]
    assert names == ["selected", "fifo_depth = 2", "fifo_depth = 4", "fifo_depth = 8", "Pareto front", "best"]
    assert len({trace.marker.symbol for trace in figure.data[1:4]}) == 3
    domain = tuple(range(2, 20))
    many = make_view(tunables=[("fifo_depth", domain), *view.tunables[1:]])
    figure = scatter_figure(many, scatter_data(many, colour_by="fifo_depth"))
    assert figure.layout.coloraxis.cmax == len(domain) - 1
    with pytest.raises(ViewError, match="no tunable"):
        scatter_data(view, colour_by="speed")


def test_a_point_says_its_row_and_names_are_text(make_view: MakeView) -> None:
    base = make_view()
    view = make_view(
        tunables=[("<b>d</b>", (2, 4, 8)), ("s", (1, 2, 4))],
        values={"<b>d</b>": base.values["fifo_depth"], "s": base.values["sync_period"]},
    )
    points = scatter_figure(view, scatter_data(view)).data[1]
    assert list(points.customdata) == [10, 11, 12, 13]
    assert "&lt;b&gt;d&lt;/b&gt; = 2" in points.hovertext[0]


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_the_mark_has_its_place_even_where_nothing_is_drawn(make_view: MakeView, theme: object) -> None:
    view = make_view()
    figure = scatter_figure(view, scatter_data(view), theme, selected=3)  # type: ignore[arg-type]
    assert (list(figure.data[MARKED].x), list(figure.data[MARKED].y)) == ([8], [8])
    assert marked(view, ("on_chip_bytes", "time_us"), 4, LIGHT)["x"] == []
    empty = make_view(verdict=np.full(6, 1))
    figure = scatter_figure(empty, scatter_data(empty))
    assert figure.data[MARKED].name == "selected"
    assert "None of the 6" in figure.layout.annotations[0].text
