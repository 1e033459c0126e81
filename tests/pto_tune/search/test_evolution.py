"""Evolution: legal children, the same for a seed, and better than chance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cost_models import load_platform
from pto_tune.evaluation import Problem
from pto_tune.search.evolution import EvolutionRows, fronts
from pto_tune.search.proposers import RandomRows, Seen
from pto_tune.search.sampled import SampledSearch
from pto_tune.search.strategies import Plan
from pto_tune.space import Space, space
from pto_tune.spaces.legal import LegalSpace
from pto_tune.workloads import workload

points = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=40)


@given(points)
def test_a_front_is_what_nothing_left_is_better_than(found: list[tuple[int, int]]) -> None:
    first, second = (np.array(column) for column in zip(*found, strict=True))
    rank = fronts(first, second)
    for i, one in enumerate(found):
        better = [
            int(rank[j]) for j, other in enumerate(found) if other != one and other[0] <= one[0] and other[1] <= one[1]
        ]
        assert int(rank[i]) >= max((r + 1 for r in better), default=0)
        if rank[i]:  # something of the front before keeps it out
            assert any(
                int(rank[j]) == rank[i] - 1 and other[0] <= one[0] and other[1] <= one[1]
                for j, other in enumerate(found)
            )


@pytest.fixture(scope="module")
def wide() -> tuple[Problem, Space, LegalSpace]:
    problem = Problem.of(workload("gemm"), load_platform("ascend910b2"))
    steps = list(range(16, 257, 16))
    of = space(problem.workload, {"m": 3072, "k": 3072, "n": 3072}, {"base_m": steps, "base_n": steps, "base_k": steps})
    return problem, of, LegalSpace.of(problem, of)


def answered(rows: list[int], cycles: np.ndarray, ok: np.ndarray | None = None) -> Seen:
    n = len(rows)
    fine = np.ones(n, dtype=bool) if ok is None else ok
    return Seen(np.array(rows), cycles, fine, np.zeros(n, dtype=np.int64), np.where(fine, 0.0, 1.0))


def test_children_are_new_legal_and_the_same_for_a_seed(wide: tuple[Problem, Space, LegalSpace]) -> None:
    _, _, legal = wide
    found = []
    for seed in (4, 4, 5):
        rows = EvolutionRows(legal, ("time",), seed)
        first = rows.propose(50, set())
        rows.learn(answered(first, np.arange(len(first))))
        second = rows.propose(200, set(first))
        assert len(set(second)) == 200
        assert not set(first) & set(second)
        assert legal.contains(np.array(first + second)).all()
        found.append((first, second))
    assert found[0] == found[1] != found[2]


def test_parents_are_the_fastest_and_unsafe_ones_come_last(wide: tuple[Problem, Space, LegalSpace]) -> None:
    _, _, legal = wide
    rows = EvolutionRows(legal, ("time",), 0)
    first = rows.propose(8, set())
    ok = np.array([True, False] * (len(first) // 2))
    rows.learn(answered(first, np.where(ok, np.arange(len(first))[::-1] + 1, 0), ok))
    fastest_first = [row for row, fine in reversed(list(zip(first, ok, strict=True))) if fine]
    assert rows._parents.rows[: len(fastest_first)].tolist() == fastest_first


def test_it_comes_closer_than_chance(wide: tuple[Problem, Space, LegalSpace]) -> None:
    problem, of, _ = wide

    def best(strategy: str, seed: int) -> int:
        search = SampledSearch(problem, of, Plan(strategy, ("time",), 600, seed))
        return min(int(b.evaluation.cycles[b.evaluation.timed].min()) for b in search)

    assert sum(best("evolution", seed) < best("random", seed) for seed in range(5)) >= 4


def test_a_space_with_one_configuration_has_no_children(wide: tuple[Problem, Space, LegalSpace]) -> None:
    problem, _, _ = wide
    single = {"base_m": 128, "base_k": 64, "base_n": 256, "step_k": 4, "grid_m": 4, "grid_n": 6}
    one = space(problem.workload, {"m": 3072, "k": 3072, "n": 3072}, single)
    legal = LegalSpace.of(problem, one)
    rows = EvolutionRows(legal, ("time",), 0)
    assert rows.propose(5, set()) == RandomRows(1, 0, legal).propose(1, set()) == [0]
    rows.learn(answered([0], np.array([7])))
    assert rows.propose(5, {0}) == []
