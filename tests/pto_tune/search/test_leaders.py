"""What is kept of all batches."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pto_tune import verdicts
from pto_tune.evaluation import Evaluation, Problem
from pto_tune.search.batches import Batch, evaluated, on_chip_bytes
from pto_tune.search.leaders import Leaders
from pto_tune.search.tally import Tally
from pto_tune.space import Space


def ranked(e: Evaluation) -> list[int]:
    """All ok rows in the order of preference, the slow way."""
    memory = on_chip_bytes(e.bytes)
    ok = [i for i in range(len(e)) if e.verdict[i] == verdicts.OK]
    return sorted(ok, key=lambda i: (e.cycles[i], not e.derived_period[i], memory[i], e.bytes["GM_ring"][i], i))


def leaders_of(batches: list[Batch], top: int) -> Leaders:
    leaders, done = Leaders(top), 0
    for batch in batches:
        leaders.add(np.arange(done, done + len(batch)), batch)
        done += len(batch)
    return leaders


@pytest.mark.parametrize("top", [1, 5, 1000])
def test_the_best_in_order_equal_a_plain_sort(problem: Problem, small: Space, everything: Evaluation, top: int) -> None:
    whole = leaders_of(list(evaluated(problem, small, np.arange(small.size))), top)
    assert whole.best["number"].tolist() == ranked(everything)[:top]
    assert whole.best["busy"].tolist() == everything.busy[ranked(everything)[:top]].tolist()


def test_some_of_the_equal_times_are_not_exportable(everything: Evaluation) -> None:
    # otherwise the order by that would not be tested above
    ok = everything.verdict == verdicts.OK
    both = [set(everything.derived_period[ok & (everything.cycles == c)].tolist()) for c in everything.cycles[ok]]
    assert {True, False} in both


@settings(max_examples=15, deadline=None)
@given(cuts=st.sets(st.integers(1, 134), max_size=6))
def test_the_cutting_into_batches_changes_nothing(problem: Problem, small: Space, cuts: set[int]) -> None:
    ends = [0, *sorted(cuts), small.size]
    pieces = [batch for a, b in pairwise(ends) for batch in evaluated(problem, small, np.arange(a, b))]
    one = leaders_of(pieces, 7)
    other = leaders_of(list(evaluated(problem, small, np.arange(small.size))), 7)
    for mine, whole in ((one.best, other.best), (one.front, other.front)):
        assert {k: v.tolist() for k, v in mine.items()} == {k: v.tolist() for k, v in whole.items()}


def test_the_front_is_exact_and_prefers_what_is_preferred(
    problem: Problem, small: Space, everything: Evaluation
) -> None:
    leaders = leaders_of(list(evaluated(problem, small, np.arange(small.size))), 3)
    memory = on_chip_bytes(everything.bytes)
    order = ranked(everything)
    points = {(everything.cycles[i], memory[i]) for i in order}
    best = {p for p in points if not any(q[0] <= p[0] and q[1] <= p[1] and q != p for q in points)}
    expected = [next(i for i in order if (everything.cycles[i], memory[i]) == p) for p in sorted(best)]
    assert leaders.front["number"].tolist() == expected


def test_a_tally_counts_rules_of_one_name_together() -> None:
    tally = Tally(1)
    tally.count(np.array([0, 1, 1, 1]), np.array([-1, 0, 1, 2]), ("ok", "refused"), ["k", "n", "k"])
    tally.count(np.array([0]), np.array([-1]), ("ok", "refused"), ["k", "n", "k"])
    assert tally.counts == {"ok": {"": 2}, "refused": {"k": 2, "n": 1}}
    assert tally.legal == 2
