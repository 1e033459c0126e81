"""What outcomes come to, worked out by hand."""

from collections.abc import Callable
from math import isnan, nan

import pytest

from pto_tune.validating.running import Outcome
from pto_tune.validating.summary import summarise

Make = Callable[..., Outcome]


def test_errors_are_shares_of_what_was_measured(outcome: Make) -> None:
    assert outcome("a", 100, 110).error == pytest.approx(0.1)
    assert outcome("a", 100, 60).error == pytest.approx(-0.4)
    assert outcome("a", 0.5, 0.6, quantity="share", unit="ratio").error == pytest.approx(0.1)


def test_sizes_of_errors_and_the_worst_with_its_sign(outcome: Make) -> None:
    times = summarise("t", [outcome("a", 100, 110), outcome("b", 100, 60), outcome("c", 10, 12)]).times
    assert times.n == 3
    assert times.median == pytest.approx(0.2)
    assert times.p90 == pytest.approx(0.2 + 0.8 * 0.2)
    assert times.worst is not None
    assert (times.worst.case.id, times.worst.error) == ("b", pytest.approx(-0.4))


def test_all_cases_count_where_no_number_saw_them_and_fitted_ones_apart_where_some_did(outcome: Make) -> None:
    share = {"quantity": "share", "pipe": "AIC.M", "unit": "ratio"}
    unseen = [
        outcome("a", 100, 150),
        outcome("b", 100, 130, use="fit"),
        outcome("c", 0.5, 0.7, **share),
        outcome("d", 0.5, 0.6, use="fit", **share),
        outcome("e", 100, 900, use="order", why="rings"),
        outcome("f", 100, nan),
    ]
    shipped = [outcome("a", 100, 110), outcome("b", 100, 101, use="fit"), outcome("f", 100, nan)]
    s = summarise("t", unseen, shipped)
    assert (s.times.n, s.shares.n, s.shipped.n, s.fitted.n, s.ordered) == (2, 2, 1, 1, 1)
    assert s.times.median == pytest.approx(0.4)
    assert s.shares.median == pytest.approx(0.15)
    assert s.shipped.median == pytest.approx(0.1)
    assert s.fitted.median == pytest.approx(0.01)
    assert [o.case.id for o in s.untimed] == ["f"]


def test_the_order_is_that_of_a_series(outcome: Make) -> None:
    first = [outcome(f"a{i}", i, i, size=i) for i in (1, 2, 3)]
    second = [outcome(f"b{i}", i, -i, size=i, series="other", use="order", why="w") for i in (1, 2, 3)]
    s = summarise("t", [*first, *second])
    assert [(x.name, x.n, x.tau) for x in s.series] == [("t: s", 3, 1.0), ("t: other", 3, -1.0)]
    assert s.tau == pytest.approx(0)


def test_a_repeated_run_is_no_order(outcome: Make) -> None:
    s = summarise("t", [outcome(f"a{i}", i, 5) for i in (1, 2, 3)])
    assert s.series == ()
    assert isnan(s.tau)


def test_a_tuner_chooses_among_tunables_of_one_problem(outcome: Make) -> None:
    s = summarise(
        "t",
        [
            outcome("small-1", 10, 12, size=1, depth=1),
            outcome("small-2", 8, 13, size=1, depth=2),
            outcome("large-1", 100, 120, size=9, depth=1),
            outcome("large-2", 80, 110, size=9, depth=2),
            outcome("alone", 1, 1, size=5),
        ],
    )
    assert [g.cases for g in s.groups] == [("small-1", "small-2"), ("large-1", "large-2")]
    assert s.recall == 0.5
    assert s.regret == pytest.approx((0.25 + 0) / 2)


@pytest.mark.parametrize("other", [{"timing": "event"}, {"platform": "ascend910b1"}, {"rules": "a2a3-rendezvous"}])
def test_what_was_run_otherwise_is_no_choice(outcome: Make, other: dict[str, str]) -> None:
    assert summarise("t", [outcome("a", 10, 12, depth=1), outcome("b", 8, 13, depth=2, **other)]).groups == ()


def test_a_configuration_measured_twice_is_one_choice_with_the_mean(outcome: Make) -> None:
    twice = [outcome("a", 8, 9, depth=1), outcome("b", 12, 9, depth=1)]
    assert summarise("t", twice).groups == ()
    (group,) = summarise("t", [*twice, outcome("c", 9, 10, depth=2)]).groups
    assert group.choice.n == 2
    assert group.choice.regret == pytest.approx(1 / 9)


def test_nothing_comes_to_nothing() -> None:
    s = summarise("t", [])
    assert s.times.n == 0
    assert s.times.worst is None
    assert all(map(isnan, (s.times.median, s.tau, s.recall, s.regret)))
