"""Best time behind each pair of values, and why a cell is empty."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from dashboards.figures.heatmap import default_pair, heatmap_data, heatmap_figure
from dashboards.runview import RunView, ViewError

MakeView = Callable[..., RunView]


def test_each_cell_has_the_best_time_of_its_ok_configurations(make_view: MakeView) -> None:
    data = heatmap_data(make_view(), "fifo_depth", "sync_period")
    nan = np.nan
    np.testing.assert_array_equal(data.time_us, [[11.0, nan, nan], [nan, 9.0, nan], [nan, nan, 8.0]])
    assert data.position.tolist() == [[0, -1, -1], [-1, 1, -1], [-1, -1, 3]]
    assert data.tried.tolist() == [[1, 0, 1], [0, 2, 1], [0, 0, 1]]
    assert data.legal.tolist() == [[1, 0, 0], [0, 2, 0], [0, 0, 1]]
    assert data.best == (2, 2)


def test_an_empty_cell_says_why(make_view: MakeView) -> None:
    data = heatmap_data(make_view(), "fifo_depth", "sync_period")
    assert data.reason == [
        ["", "not tried", "none legal: hang × 1"],
        ["not tried", "", "none legal: refused × 1 (l1_capacity)"],
        ["not tried", "not tried", ""],
    ]


def test_the_most_frequent_reasons_come_first_and_the_rest_is_counted(make_view: MakeView) -> None:
    view = make_view(
        values={**make_view().values, "fifo_depth": np.full(6, 2), "sync_period": np.full(6, 1)},
        verdict=np.array([1, 1, 3, 4, 2, 1]),
        rule=np.array([1, 1, -1, -1, -1, 0]),
    )
    data = heatmap_data(view, "fifo_depth", "sync_period")
    expected = "none legal: refused × 2 (fifo.divisible), refused × 1 (l1_capacity), hang × 1, and 2 more kinds"
    assert data.reason[0][0] == expected


def test_an_ok_configuration_without_a_time_is_named(make_view: MakeView) -> None:
    view = make_view(cycles=np.array([np.nan, 7000, 8000, 6000, np.nan, np.nan]))
    assert heatmap_data(view, "fifo_depth", "sync_period").reason[0][0] == "none legal: ok, but no time × 1"


def test_texts_and_values_that_do_not_apply(make_view: MakeView) -> None:
    split = np.array(["UP_DOWN", "UP_DOWN", None, None, None, None], dtype=object)
    data = heatmap_data(make_view(values={**make_view().values, "split": split}), "split", "fifo_depth")
    np.testing.assert_array_equal(data.time_us, [[11.0], [9.0], [np.nan]])
    assert data.tried.tolist() == [[1], [1], [0]]
    assert data.best is None, "the split of the best does not apply, so it is in no cell"


def test_the_pair_shown_unless_told(make_view: MakeView) -> None:
    view = make_view()
    assert default_pair(view) == ("fifo_depth", "sync_period")
    others = [
        ("split", ("UP_DOWN",)),
        ("a", (1, 2)),
        ("b", (1, 2)),
        ("fifo_depth", (8,)),
        ("sync_period", (4,)),
    ]
    values = {name: np.ones(6, dtype=np.int64) for name, _ in others}
    assert default_pair(make_view(tunables=others, values=values)) == ("a", "b")
    assert default_pair(make_view(tunables=others[:2], values=values)) == ("a", "split")
    assert default_pair(make_view(tunables=others[:1], values=values)) is None


def test_a_misspelt_or_repeated_tunable_is_refused(make_view: MakeView) -> None:
    with pytest.raises(ViewError, match=r"no tunable 'fifo_dept'.*fifo_depth, sync_period, split"):
        heatmap_data(make_view(), "fifo_dept", "sync_period")
    with pytest.raises(ViewError, match="named twice"):
        heatmap_data(make_view(), "fifo_depth", "fifo_depth")


def test_the_figure_marks_empty_cells_and_outlines_the_best(make_view: MakeView) -> None:
    view = make_view()
    figure = heatmap_figure(view, heatmap_data(view, "fifo_depth", "sync_period"))
    cells, illegal, untried = figure.data
    assert cells.type == "heatmap"
    assert cells.text[2][2] == "8.000"
    assert (illegal.name, list(illegal.x), list(illegal.y)) == ("none legal", [2, 2], [0, 1])
    assert illegal.customdata[1].endswith("none legal: refused × 1 (l1_capacity)")
    assert (untried.name, len(untried.x)) == ("not tried", 4)
    assert (figure.layout.shapes[0].x0, figure.layout.shapes[0].y0) == (1.5, 1.5)
    assert list(figure.layout.xaxis.ticktext) == ["2", "4", "8"]
    assert "(µs)" in cells.colorbar.title.text


def test_names_are_text(make_view: MakeView) -> None:
    base = make_view()
    view = make_view(
        tunables=[("<b>d</b>", (2, 4, 8)), ("sync_period", (1, 2, 4))],
        values={"<b>d</b>": base.values["fifo_depth"], "sync_period": base.values["sync_period"]},
        rule_names=("<script>", "b"),
    )
    figure = heatmap_figure(view, heatmap_data(view, "<b>d</b>", "sync_period"))
    assert figure.layout.xaxis.title.text == "&lt;b&gt;d&lt;/b&gt;"
    cells, illegal, _ = figure.data
    assert cells.customdata[0][0].startswith("&lt;b&gt;d&lt;/b&gt; = 2<br>")
    assert illegal.customdata[1].endswith("refused × 1 (&lt;script&gt;)")


def test_without_an_ok_configuration_or_a_pair_the_figure_says_so(make_view: MakeView) -> None:
    view = make_view(verdict=np.full(6, 1))
    figure = heatmap_figure(view, heatmap_data(view, "fifo_depth", "sync_period"))
    assert not figure.data
    assert "has an ok" in figure.layout.annotations[0].text.replace("<br>", " ")
    assert "fewer than two tunables" in heatmap_figure(view, None).layout.annotations[0].text.replace("<br>", " ")


def test_200_000_configurations(big_view: RunView) -> None:
    data = heatmap_data(big_view, "fifo_depth", "sync_period")
    depth, period = big_view.values["fifo_depth"], big_view.values["sync_period"]
    for row, y in enumerate(data.y_values):
        for column, x in enumerate(data.x_values):
            assert data.time_us[row, column] == big_view.time_us[(depth == x) & (period == y)].min()
    assert int(data.tried.sum()) == 200_000
