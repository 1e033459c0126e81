"""Where the best configuration spends its time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dashboards.figures.stalls import StallsData, stalls_data, stalls_figure
from dashboards.runview import RunView

MakeView = Callable[..., RunView]


def test_the_account_of_the_best_largest_first(make_view: MakeView) -> None:
    assert stalls_data(make_view()) == StallsData(
        13, 6000, 1000.0, (("AIV0.V", 5000), ("AIC.M", 3000)), (("qk.ready", 1500),)
    )


def test_bars_with_time_and_share_of_the_whole_run(make_view: MakeView) -> None:
    figure = stalls_figure(stalls_data(make_view()))
    assert [(bar.name, list(bar.x)) for bar in figure.data] == [("busy", [5000, 3000]), ("wait", [1500])]
    assert [note.text for note in figure.layout.annotations] == [
        "<b>5.000 µs (83.3 %)</b>  busy · AIV0.V",
        "<b>3.000 µs (50 %)</b>  busy · AIC.M",
        "<b>1.500 µs (25 %)</b>  wait · qk.ready",
    ]
    assert figure.layout.shapes[0].x0 == 6000
    assert "Cycles" in figure.layout.xaxis.title.text


def test_what_never_waits_is_not_drawn(make_view: MakeView) -> None:
    view = make_view(accounts={13: [("busy", "AIC.M", 10), ("wait", "p.free", 0)]})
    assert stalls_data(view).waits == (("p.free", 0),)
    assert [bar.name for bar in stalls_figure(stalls_data(view)).data] == ["busy"]


def test_names_are_text(make_view: MakeView) -> None:
    view = make_view(accounts={13: [("wait", "<a href='x'>q</a> 等待", 10)]})
    figure = stalls_figure(stalls_data(view))
    assert figure.layout.annotations[0].text.endswith("&lt;a href='x'&gt;q&lt;/a&gt; 等待")


def test_no_best_and_no_account_are_said(make_view: MakeView) -> None:
    nothing = stalls_figure(stalls_data(make_view(verdict=np.full(6, 1))))
    assert "No configuration is ok" in nothing.layout.annotations[0].text.replace("<br>", " ")
    unkept = stalls_figure(stalls_data(make_view(accounts={})))
    assert "kept no stall account" in unkept.layout.annotations[0].text.replace("<br>", " ")
