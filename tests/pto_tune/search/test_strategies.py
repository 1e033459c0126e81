"""Which strategy and budget a search gets."""

from typing import Any

import pytest

from pto_tune.search.strategies import EXHAUSTIVE_LIMIT, MAX_ROWS, SearchError, make_plan


@pytest.mark.parametrize(
    ("size", "request_", "strategy", "budget"),
    [
        (EXHAUSTIVE_LIMIT, {}, "exhaustive", EXHAUSTIVE_LIMIT),
        (EXHAUSTIVE_LIMIT + 1, {}, "bounds", EXHAUSTIVE_LIMIT),
        (EXHAUSTIVE_LIMIT + 1, {"objectives": ("time", "memory")}, "evolution", 20_000),
        (EXHAUSTIVE_LIMIT + 1, {"bounded": False}, "evolution", 20_000),
        (EXHAUSTIVE_LIMIT + 1, {"budget": 2_001}, "bounds", 2_001),
        (EXHAUSTIVE_LIMIT + 1, {"strategy": "bounds"}, "bounds", EXHAUSTIVE_LIMIT + 1),
        (10**12, {"strategy": "bounds"}, "bounds", MAX_ROWS),
        (100, {"budget": 100}, "exhaustive", 100),
        (100, {"budget": 99}, "bounds", 99),
        (100, {"strategy": "exhaustive", "budget": 7}, "exhaustive", 7),
        (100, {"strategy": "random"}, "random", 100),
        (10**9, {"strategy": "random"}, "random", 20_000),
    ],
)
def test_strategy_and_budget(size: int, request_: dict[str, Any], strategy: str, budget: int) -> None:
    plan = make_plan(size, **request_)
    assert (plan.strategy, plan.budget) == (strategy, budget)


def test_objectives_have_one_order() -> None:
    assert make_plan(10, objectives=("memory", "time")).objectives == ("time", "memory")
    assert make_plan(10, objectives="time").objectives == ("time",)


def test_everything_wrong_is_said_at_once() -> None:
    with pytest.raises(SearchError) as error:
        make_plan(2**63, "best", ("memory",), budget=0, seconds=-1.0, seed=-1)
    lines = str(error.value).split("\n")
    assert [line.split()[0] for line in lines] == ["unknown", "objectives", "budget", "seconds", "seed", "the"]
    assert "choose one of auto, exhaustive" in lines[0]


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), 0.0])
def test_a_time_has_to_be_a_time(seconds: float) -> None:
    with pytest.raises(SearchError, match="expected a time above 0"):
        make_plan(10, seconds=seconds)


def test_a_run_holds_so_many_and_no_more() -> None:
    assert make_plan(MAX_ROWS, "exhaustive").budget == MAX_ROWS
    with pytest.raises(SearchError, match="too many for one run"):
        make_plan(MAX_ROWS + 1, "exhaustive")
