"""What it would take: single changes to the nearest ok value, counted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dashboards.figures.remedies import Change, other_changes, remedies_data, sentence
from dashboards.runview import RunView

MakeView = Callable[..., RunView]
DEPTHS, PERIODS = (1, 2, 4, 8), (1, 2)


def grid(make_view: MakeView, ok: list[list[int]], rules: tuple[str, ...] = ("capacity-UB",)) -> RunView:
    """A full table of depth x period; `ok` holds 1 where a configuration is ok, 0 where the first rule refuses it."""
    legal = np.array(ok).reshape(-1)
    depth, period = (axis.reshape(-1) for axis in np.indices((4, 2)))
    n = len(legal)
    return make_view(
        tunables=[("depth", DEPTHS), ("period", PERIODS)],
        rows=np.arange(n),
        values={"depth": np.array(DEPTHS)[depth], "period": np.array(PERIODS)[period]},
        verdict=np.where(legal, 0, 1),
        rule=np.where(legal, -1, 0),
        rule_names=rules,
        cycles=np.where(legal, 1000.0, np.nan),
        bytes={"ub": np.where(legal, 100.0, 1000 + 10.0 * depth)},
        bound=np.full(n, -1),
        accounts={},
        best_row=None,
    )


def test_the_nearest_ok_value_and_how_many_it_helps(make_view: MakeView) -> None:
    view = grid(make_view, [[0, 0], [1, 0], [1, 0], [0, 0]])
    (remedy,) = remedies_data(view).remedies
    assert (remedy.verdict, remedy.rule, remedy.count, remedy.example) == ("refused", "capacity-UB", 6, 0)
    # depth 1 -> 2 and 8 -> 4 with period 1; period 2 -> 1 with depths 2 and 4
    assert remedy.changes == (Change("period", 2, 1, 2, 2), Change("depth", 1, 2, 2, 1))
    assert remedy.curable == 4
    assert sentence(remedy).startswith("the change that helps most often: period 2 → 1 ")
    assert "for 2 of 6" in sentence(remedy)
    assert other_changes(remedy) == "depth 1 → 2 (33.3 %)"


def test_of_two_equally_near_the_lower_is_taken(make_view: MakeView) -> None:
    view = grid(make_view, [[1, 0], [0, 0], [1, 0], [0, 0]])
    (remedy,) = remedies_data(view, within=np.array([2])).remedies
    assert remedy.changes == (Change("depth", 2, 1, 1, 1),)


def test_a_capacity_says_by_how_much_it_is_exceeded(make_view: MakeView) -> None:
    view = grid(make_view, [[0, 0], [1, 1], [1, 1], [0, 0]])
    (remedy,) = remedies_data(view, limits_bytes={"UB": 990}).remedies
    assert remedy.over_bytes == (10, 25)
    assert sentence(remedy).startswith("UB is over by 10 B at least, 25 B at the median; ")
    assert remedies_data(view).remedies[0].over_bytes is None


def test_where_no_single_change_helps_it_says_so(make_view: MakeView) -> None:
    view = grid(make_view, [[1, 0], [0, 0], [0, 0], [0, 0]])
    (remedy,) = remedies_data(view, within=np.array([5, 7])).remedies
    assert (remedy.curable, remedy.changes) == (0, ())
    assert sentence(remedy) == "no single change leads to an ok configuration"


def test_verdicts_and_rules_stand_apart_the_most_frequent_first(make_view: MakeView) -> None:
    found = remedies_data(make_view())
    assert [(r.verdict, r.rule, r.count) for r in found.remedies] == [("refused", "l1_capacity", 1), ("hang", "", 1)]
    assert remedies_data(make_view(), within=np.array([0, 1])).remedies == ()


def test_a_sample_counts_what_was_not_looked_at_as_not_ok(make_view: MakeView) -> None:
    # of depth 8 only the periods 1, 2 and 4 were looked at, of depth 2 only period 1
    (refused, hangs) = remedies_data(make_view()).remedies
    assert [(c.tunable, c.old, c.new) for c in refused.changes] == [("fifo_depth", 8, 4), ("sync_period", 2, 4)]
    assert [(c.tunable, c.old, c.new) for c in hangs.changes] == [("fifo_depth", 8, 2), ("sync_period", 1, 4)]


def test_tunables_that_do_not_always_apply_leave_the_neighbours_out(make_view: MakeView) -> None:
    values = {**make_view().values, "fifo_depth": np.array([2, None, 4, 8, 8, 8], dtype=object)}
    found = remedies_data(make_view(values=values))
    assert "Not every tunable applies" in found.why_no_changes
    assert found.remedies[0].curable is None
    assert sentence(found.remedies[0]) == ""
