"""The strategy "bounds": as good as looking at everything, with a proof, and nothing run that cannot be better."""

import numpy as np
import pytest

from cost_models import load_platform
from pto_tune import tuning
from pto_tune.evaluation import Problem
from pto_tune.search import bounds
from pto_tune.search.batches import evaluated
from pto_tune.search.bounds import BoundRows, Shared
from pto_tune.search.proposers import seen_of
from pto_tune.search.strategies import SearchError
from pto_tune.space import Space, space
from pto_tune.spaces.legal import LegalSpace
from pto_tune.workloads import workload

SPACES = {
    "flash_attention": {"s0": 2048, "s1": 2048},
    "gemm": {"m": 1536, "k": 1536, "n": 1536},
    "paged_attention": {"batch": 8},
    "stream": {"producer_cycles": 300, "consumer_cycles": 200},
}


def found_by(strategy: str, name: str, **more: object) -> tuning.TuneResult:
    return tuning.tune(name, problem=SPACES[name], strategy=strategy, top=1, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", SPACES)
@pytest.mark.parametrize("seed", [0, 1])
def test_its_best_is_that_of_looking_at_everything_ties_included(name: str, seed: int) -> None:
    one, every = found_by("bounds", name, seed=seed), found_by("exhaustive", name)
    assert one.best is not None
    assert every.best is not None
    places = ("configuration", "cycles", "exportable", "bytes")
    ordered = ("cycles", "exportable", "bytes")
    assert [one.best[p] for p in ordered] == [every.best[p] for p in ordered], places
    assert one.message.startswith("the best is the optimum: ")
    assert one.n_evaluated <= every.n_evaluated


def test_most_of_a_large_space_is_not_run() -> None:
    one, every = found_by("bounds", "gemm"), found_by("exhaustive", "gemm")
    assert 5 * one.n_evaluated < every.counts["ok"][""]


@pytest.fixture(scope="module")
def flash() -> tuple[Problem, Space, LegalSpace]:
    problem = Problem.of(workload("flash_attention"), load_platform("ascend910b2"))
    of = space(problem.workload, {"s0": 1024, "s1": 1024})
    return problem, of, LegalSpace.of(problem, of)


def test_nothing_is_proposed_whose_bound_exceeds_the_best_so_far(flash: tuple[Problem, Space, LegalSpace]) -> None:
    problem, of, legal = flash
    proposer, bound = BoundRows(problem, legal, 3), Shared(problem, of)
    known: set[int] = set()
    best = None
    while rows := proposer.propose(proposer.batch, known):
        assert not known & set(rows)
        at = np.array(rows, dtype=np.int64)
        assert legal.contains(at).all()
        if best is not None:
            assert (bound.of(at) <= best).all()
        known.update(rows)
        for batch in evaluated(problem, of, at):
            seen = seen_of(batch)
            proposer.learn(seen)
            times = seen.cycles[seen.ok]
            best = min([*times.tolist(), *([] if best is None else [best])], default=None)
    assert "the best is the optimum" in proposer.finished
    left = np.setdiff1d(np.concatenate(list(legal.chunks())), np.array(sorted(known)))
    assert left.shape[0]
    assert (bound.of(left) > best).all()


def test_the_seed_decides_the_rows(flash: tuple[Problem, Space, LegalSpace]) -> None:
    problem, _, legal = flash
    one, other, third = (BoundRows(problem, legal, seed).propose(32, set()) for seed in (5, 5, 6))
    assert one == other != third


def test_of_too_many_rows_some_are_drawn_and_nothing_is_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MOST_ROWS", 100)
    monkeypatch.setattr(bounds, "DRAWN_ROWS", 50)
    monkeypatch.setattr(bounds, "MOST_DRAWS", 3)
    found = found_by("bounds", "gemm")
    assert found.best is not None
    assert found.message.startswith("no proof that the best is the optimum: of ")
    assert "about 150 drawn at random" in found.message


def test_a_first_look_comes_before_the_bounds_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = found_by("bounds", "gemm")
    monkeypatch.setattr(bounds, "LOOK_ROWS", 64)
    looked = found_by("bounds", "gemm")
    assert whole.best is not None
    assert looked.best is not None
    assert looked.best["cycles"] == whole.best["cycles"]
    assert looked.message.startswith("the best is the optimum")


def test_a_budget_that_ends_it_leaves_no_proof() -> None:
    found = found_by("bounds", "flash_attention", budget=40)
    assert found.n_evaluated == 40
    assert found.message.startswith("no proof that the best is the optimum: as many configurations were run")


def test_where_nothing_is_ok_it_says_so() -> None:
    found = tuning.tune(
        "stream", problem={"flow": "TileData"}, domains={"split": "NO_SPLIT", "sync_period": 0, "fifo_depth": [2, 4]},
        platform="ascend950pr", strategy="bounds",
    )  # fmt: skip
    assert found.best is None
    assert found.message.endswith("and none is ok")


def test_it_searches_for_time_alone_and_not_with_ranks() -> None:
    with pytest.raises(SearchError, match="least time alone"):
        tuning.tune("gemm", strategy="bounds", objectives=("time", "memory"))
    with pytest.raises(SearchError, match="no bounds for a workload with ranks"):
        tuning.tune("tget_bandwidth", strategy="bounds")
