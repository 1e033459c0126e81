"""Exhaustive searches of large spaces: refused configurations are counted and passed over."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from db import open_store
from pto_tune import verdicts
from pto_tune.evaluation import Evaluation, Problem, evaluate_columns
from pto_tune.search import exhaustive as module
from pto_tune.search import strategies
from pto_tune.search.exhaustive import exhaustive, plan_for
from pto_tune.search.sampled import SampledSearch
from pto_tune.search.strategies import EXHAUSTIVE_LIMIT, Plan, make_plan
from pto_tune.space import Space, space
from pto_tune.spaces.legal import LegalSpace
from pto_tune.tuning import resume, tune

DOMAINS: dict[str, list[int | str]] = {"fifo_depth": [1, 4, 8], "sync_period": [0, 2], "qk_preload": [1, 2, 4]}
SIZES: dict[str, int | str] = {"s0": 512, "s1": 512}


@pytest.fixture
def low_limit(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(strategies, "EXHAUSTIVE_LIMIT", 1_000)
    return 1_000


@pytest.fixture(scope="module")
def attention() -> Problem:
    from cost_models import load_platform
    from pto_tune.workloads import workload

    return Problem.of(workload("flash_attention"), load_platform("ascend910b2"))


@pytest.fixture(scope="module")
def large(attention: Problem) -> Space:
    return space(attention.workload, SIZES, DOMAINS)


@pytest.fixture(scope="module")
def whole(attention: Problem, large: Space) -> Evaluation:
    return evaluate_columns(attention, large.table(np.arange(large.size)))


def test_auto_goes_through_few_legal_ones_of_many() -> None:
    size = EXHAUSTIVE_LIMIT * 100
    assert make_plan(size, legal=EXHAUSTIVE_LIMIT) == Plan("exhaustive", ("time",), EXHAUSTIVE_LIMIT, 0)
    assert make_plan(size, legal=EXHAUSTIVE_LIMIT + 1).strategy == "bounds"
    assert make_plan(size, legal=900, budget=899).strategy == "bounds"
    assert make_plan(size, "exhaustive", legal=3_000_000).budget == 3_000_000
    assert make_plan(size, "exhaustive", legal=3_000_000, budget=10).budget == 10
    assert make_plan(size, "random", legal=900).budget == 20_000
    # a small space is looked at as a whole, so that a run shows what is refused and why
    assert make_plan(100, legal=40).budget == 100


@pytest.mark.usefixtures("low_limit")
def test_time_over_means_that_the_number_is_not_known(
    attention: Problem, large: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "COUNT_S", -1.0)
    plan, legal = plan_for(attention, large)
    assert (plan.strategy, legal) == ("bounds", None)
    plan, legal = plan_for(attention, large, "exhaustive")
    assert legal is not None
    assert plan.budget == legal.candidates < large.size


def test_rows_are_the_legal_ones_in_order(attention: Problem, large: Space) -> None:
    legal = LegalSpace.of(attention, large)
    every = np.concatenate(list(legal.chunks()))
    found = list(exhaustive(attention, large, 100, None, legal))
    assert np.concatenate([b.rows for b in found]).tolist() == every[100:].tolist()


def test_it_finds_and_counts_what_the_whole_space_has(large: Space, whole: Evaluation, low_limit: int) -> None:
    assert large.size > low_limit
    result = tune("flash_attention", problem=SIZES, domains=DOMAINS, strategy="exhaustive")
    assert result.counts == whole.counts()
    assert result.n_evaluated == result.n_candidates < large.size
    assert f"of {large.size:,} configurations, which static rules refuse" in result.message
    ok = whole.verdict == verdicts.OK
    assert result.best is not None
    assert result.best["cycles"] == int(whole.cycles[ok].min())


@pytest.mark.usefixtures("low_limit")
def test_the_first_legal_ones_as_the_budget_says() -> None:
    result = tune("flash_attention", problem=SIZES, domains=DOMAINS, strategy="exhaustive", budget=50)
    assert result.n_evaluated == 50
    assert result.message.startswith("looked at the first 50 of ")


@pytest.mark.usefixtures("low_limit")
def test_a_run_is_kept_resumed_and_answered(
    tmp_path: Path, large: Space, whole: Evaluation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST_ROWS", 200)
    monkeypatch.setattr(module, "CHUNK_ROWS", 200)
    how: dict[str, Any] = {"problem": SIZES, "domains": DOMAINS, "store": f"sqlite:///{tmp_path / 'a.db'}",
                           "strategy": "exhaustive"}  # fmt: skip
    without = tune("flash_attention", problem=SIZES, domains=DOMAINS, strategy="exhaustive")
    first = tune("flash_attention", **how, seconds=1e-9)
    assert first.n_evaluated == 200 < first.n_candidates
    again = resume(how["store"], "latest")
    assert again.n_evaluated == again.n_candidates == without.n_evaluated
    assert again.counts == without.counts == whole.counts()
    assert again.top == without.top
    answered = tune("flash_attention", **how, reuse=True)
    assert (answered.counts, answered.top) == (again.counts, again.top)
    with open_store(how["store"]) as store:
        run = store.find_run("latest")
        kept = store.configurations(run.id)
        assert run.n_candidates == run.n_evaluated == kept["row"].shape[0]
        assert kept["row"].tolist() == list(range(run.n_candidates))
        at = {f"t{i}": np.asarray(kept[f"t{i}"]) for i in range(len(large.domains))}
        rows = np.zeros(run.n_candidates, dtype=np.int64)
        for i, (_, values) in enumerate(large.domains):
            rows = rows * len(values) + at[f"t{i}"]
        assert (np.diff(rows) > 0).all()
        assert np.array_equal(np.ma.filled(kept["cycles"], 0), whole.cycles[rows])


@pytest.mark.parametrize("strategy", ["random", "qmc"])
def test_sampled_rows_are_legal_as_long_as_there_are_any(
    attention: Problem, large: Space, whole: Evaluation, strategy: str
) -> None:
    static = whole.broken[: len(whole.rules) - len(verdicts.STRUCTURE_RULES)].any(axis=0)
    legal = int((~static).sum())
    rows = [r for b in SampledSearch(attention, large, Plan(strategy, ("time",), legal, 4)) for r in b.rows.tolist()]
    assert len(rows) == len(set(rows)) == legal
    assert not static[rows].any()


def test_the_sequence_alone_gives_most_of_a_batch(attention: Problem) -> None:
    from pto_tune.search.proposers import HaltonRows

    wide = space(attention.workload, {"s0": 2048, "s1": 2048}, {"cube_s0": list(range(16, 257, 16)),
                 "cube_s1": list(range(16, 257, 16)), "qk_preload": list(range(1, 13)),
                 "sync_period": list(range(9))})  # fmt: skip
    legal = LegalSpace.of(attention, wide)
    assert legal.candidates < wide.size / 10
    rows = HaltonRows(wide, 1, legal).propose(500, set())
    assert len(rows) == 500
    assert legal.contains(np.array(rows)).all()
