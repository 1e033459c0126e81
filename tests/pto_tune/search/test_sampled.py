"""Sampled searches: each row once, refused ones never run, seeded, and an end."""

import logging
import math
from collections import Counter
from collections.abc import Callable

import numpy as np
import optuna
import pytest

from pto_tune import evaluation, verdicts
from pto_tune.evaluation import Problem
from pto_tune.executor.engine import Execution, execute
from pto_tune.search import sampled
from pto_tune.search.batches import Batch, evaluated
from pto_tune.search.proposers import seen_of
from pto_tune.search.sampled import SampledSearch
from pto_tune.search.samplers import LEGAL, OptunaRows
from pto_tune.search.strategies import Plan
from pto_tune.space import Space, space

SAMPLED = ("tpe", "nsga2", "qmc", "random")
TIME, BOTH = ("time",), ("time", "memory")


def rows_of(problem: Problem, of: Space, plan: Plan) -> list[int]:
    return [row for batch in SampledSearch(problem, of, plan) for row in batch.rows.tolist()]


@pytest.mark.parametrize("strategy", SAMPLED)
@pytest.mark.parametrize("objectives", [TIME, BOTH])
def test_each_row_is_evaluated_at_most_once_and_the_budget_is_kept(
    problem: Problem,
    small: Space,
    seen: Callable[[Space], Counter[int]],
    strategy: str,
    objectives: tuple[str, ...],
) -> None:
    rows = rows_of(problem, small, Plan(strategy, objectives, 110, 1))
    assert len(rows) == len(set(rows)) == 110
    assert seen(small) == Counter(rows)


@pytest.mark.parametrize("strategy", SAMPLED)
def test_the_whole_space_is_a_budget_too(problem: Problem, small: Space, strategy: str) -> None:
    assert sorted(rows_of(problem, small, Plan(strategy, TIME, small.size, 0))) == list(range(small.size))


@pytest.mark.parametrize("strategy", SAMPLED)
def test_the_seed_decides_the_rows_and_their_order(problem: Problem, small: Space, strategy: str) -> None:
    first, again, other = (rows_of(problem, small, Plan(strategy, TIME, 90, seed)) for seed in (5, 5, 6))
    assert first == again
    assert first != other


def test_what_static_rules_refuse_is_never_executed(
    problem: Problem, small: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    run: list[int] = []

    def watched(code: object, platform: object, table: dict[str, np.ndarray], n: int, **options: object) -> Execution:
        run.extend(table["split"].tolist())
        return execute(code, platform, table, n, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(evaluation, "execute", watched)
    rows = rows_of(problem, small, Plan("tpe", TIME, small.size, 0))
    splits = small.table(np.array(rows))["split"].tolist()
    assert splits.count(0) == 45
    assert run == [split for split in splits if split != 0]


def test_the_search_learns(problem: Problem) -> None:
    # many equal rows and few good ones: the sampler has to come back to the deep FIFOs
    wide = space(
        problem.workload,
        {"tiles": 40, "producer_cycles": 900, "consumer_cycles": 900},
        {"fifo_depth": list(range(1, 61)), "sync_period": [0, *range(1, 16)], "split": [0, 1, 2]},
    )
    ok = {
        strategy: sum(
            int((b.evaluation.verdict == verdicts.OK).sum())
            for b in SampledSearch(problem, wide, Plan(strategy, TIME, 300, 0))
        )
        for strategy in ("tpe", "random")
    }
    assert ok["tpe"] > ok["random"]


def test_without_a_new_legal_row_it_goes_on_at_random_and_ends_and_says_so(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampled, "PATIENCE", 2)
    hopeless = space(problem.workload, {"slot_bytes": 2**24}, {"fifo_depth": list(range(1, 200))})
    search = SampledSearch(problem, hopeless, Plan("tpe", TIME, 1000, 0))
    sizes = [len(batch) for batch in search]
    assert sizes == [50, 50, 50, 50]
    assert search.message.startswith("ended after 200 of 1000 configurations: the last 4 batches")


def test_the_end_has_nothing_to_say_where_the_budget_is_used_up(problem: Problem, small: Space) -> None:
    search = SampledSearch(problem, small, Plan("qmc", TIME, 50, 0))
    assert sum(len(b) for b in search) == 50
    assert search.message == ""


def only(of: Problem, where: Space, rows: list[int]) -> Batch:
    (batch,) = evaluated(of, where, np.array(rows))
    return batch


@pytest.mark.parametrize("objectives", [TIME, BOTH])
def test_optuna_hears_the_cycles_of_ok_rows_and_infinity_with_a_margin_for_the_others(
    problem: Problem, small: Space, objectives: tuple[str, ...]
) -> None:
    rows = OptunaRows(small, "nsga2", objectives, 0)
    asked = rows.propose(30, set())
    batch = only(problem, small, asked)
    rows.learn(seen_of(batch))
    rows.learn(seen_of(only(problem, small, [r for r in range(small.size) if r not in asked][:5])))
    told = rows._study.get_trials()
    assert len(told) == 35
    assert all(t.state == optuna.trial.TrialState.COMPLETE for t in told)
    cycles = dict(zip(batch.rows.tolist(), batch.evaluation.cycles.tolist(), strict=True))
    ok = dict(zip(batch.rows.tolist(), (batch.evaluation.verdict == verdicts.OK).tolist(), strict=True))
    for trial in told[:30]:
        row = rows._row(trial.params)
        assert trial.values[0] == (cycles[row] if ok[row] else math.inf)
        assert (trial.constraints[LEGAL] <= 0) == ok[row]
        assert rows._params(row) == trial.params
    assert {ok[row] for row in asked} == {True, False}


def test_a_repeat_is_answered_from_what_is_known(problem: Problem, small: Space) -> None:
    rows = OptunaRows(small, "tpe", TIME, 0)
    rows.learn(seen_of(only(problem, small, list(range(small.size)))))
    assert rows.propose(10, set(range(small.size))) == []
    told = rows._study.get_trials()
    assert len(told) == small.size + 10
    assert all(t.state == optuna.trial.TrialState.COMPLETE for t in told)


def test_labelled_tunables_are_categories_and_numbers_are_ordered(problem: Problem) -> None:
    of = space(problem.workload, None, {"fifo_depth": [8, 2, 4], "split": [2, 1], "sync_period": [1]})
    rows = OptunaRows(of, "tpe", TIME, 0)
    kinds = {name: type(d).__name__ for name, d in rows._distributions.items()}
    assert kinds == {"fifo_depth": "IntDistribution", "split": "CategoricalDistribution"}
    row = rows._row({"fifo_depth": 0, "split": 0})
    table = of.table(np.array([row]))
    assert (int(table["fifo_depth"][0]), int(table["split"][0])) == (2, 1)


@pytest.mark.parametrize("strategy", ["tpe", "nsga2"])
def test_optuna_is_quiet_and_its_verbosity_stays_the_hosts(
    problem: Problem, small: Space, strategy: str, capfd: pytest.CaptureFixture[str]
) -> None:
    optuna.logging.set_verbosity(optuna.logging.INFO)
    rows_of(problem, small, Plan(strategy, TIME, 80, 0))
    assert capfd.readouterr() == ("", "")
    assert optuna.logging.get_verbosity() == logging.INFO
