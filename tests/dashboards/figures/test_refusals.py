"""How many were ok, refused or unsafe, and by which rule."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dashboards.figures.refusals import Refusal, refusals_data, refusals_figure
from dashboards.runview import RunView

MakeView = Callable[..., RunView]


def test_counts_by_verdict_and_rule(make_view: MakeView) -> None:
    data = refusals_data(make_view(verdict=np.array([2, 0, 1, 1, 1, 1]), rule=np.array([-1, -1, 1, 0, 1, -1])))
    assert data.entries == (
        Refusal("ok", None, 1),
        Refusal("refused", "fifo.divisible", 2),
        Refusal("refused", None, 1),
        Refusal("refused", "l1_capacity", 1),
        Refusal("hang", None, 1),
    )
    assert data.total == 6
    assert data.by_verdict() == {"ok": 1, "refused": 4, "hang": 1}


def test_ok_comes_first_wherever_the_run_lists_it(make_view: MakeView) -> None:
    data = refusals_data(make_view(verdict_names=("refused", "hang", "ok"), verdict=np.array([0, 1, 2, 2, 2, 2])))
    assert data.entries[0].verdict == "ok"


def test_a_bar_a_kind_with_its_count_and_share(make_view: MakeView) -> None:
    figure = refusals_figure(refusals_data(make_view()))
    assert [(bar.name, list(bar.x)) for bar in figure.data] == [("ok", [4]), ("refused", [1]), ("hang", [1])]
    assert [note.text for note in figure.layout.annotations] == [
        "<b>4 (66.7 %)</b>  ok",
        "<b>1 (16.7 %)</b>  refused · l1_capacity",
        "<b>1 (16.7 %)</b>  hang",
    ]
    assert figure.layout.xaxis.title.text == "Configurations"


def test_many_rules_are_folded_without_losing_a_count(make_view: MakeView) -> None:
    rules = tuple(f"rule {i}" for i in range(60))
    counts = [60 - i for i in range(60)]
    n = sum(counts) + 5
    empty = np.full(n, np.nan)
    view = make_view(
        rows=np.arange(n),
        values={name: np.zeros(n, dtype=np.int64) for name in make_view().values},
        verdict=np.array([1] * (n - 5) + [2] * 5),
        rule=np.array([i for i, count in enumerate(counts) for _ in range(count)] + [-1] * 5),
        rule_names=rules,
        cycles=empty,
        bytes={},
        bound=np.full(n, -1),
    )
    figure = refusals_figure(refusals_data(view))
    assert len(figure.layout.annotations) <= 24
    assert sum(sum(bar.x) for bar in figure.data) == n
    assert any("other rules" in note.text for note in figure.layout.annotations)


def test_unknown_verdicts_and_strange_rule_names_are_shown_as_text(make_view: MakeView) -> None:
    view = make_view(verdict_names=("ok", "<i>new</i>", "hang"), rule_names=("<b>容量</b> 🚀", "b"))
    figure = refusals_figure(refusals_data(view))
    assert "&lt;i&gt;new&lt;/i&gt;" in [bar.name for bar in figure.data]
    assert figure.layout.annotations[1].text.endswith("&lt;i&gt;new&lt;/i&gt; · &lt;b&gt;容量&lt;/b&gt; 🚀")


def test_a_run_without_configurations_says_so(make_view: MakeView) -> None:
    none = np.zeros(0)
    codes = np.zeros(0, dtype=np.int64)
    view = make_view(
        rows=codes, values=dict.fromkeys(make_view().values, codes), verdict=codes, rule=codes, cycles=none,
        bytes={}, bound=codes,
    )  # fmt: skip
    figure = refusals_figure(refusals_data(view))
    assert "no configurations yet" in figure.layout.annotations[0].text.replace("<br>", " ")
