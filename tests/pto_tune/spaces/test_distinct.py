"""Which configurations are the same by construction."""

import numpy as np
import pytest

from cost_models import load_platform
from pto_tune.evaluation import Problem, evaluate_columns
from pto_tune.space import space
from pto_tune.spaces import distinct as module
from pto_tune.spaces.distinct import Signature, count_distinct
from pto_tune.spaces.legal import LegalSpace
from pto_tune.workloads import workload, workload_names

WITHOUT_RANKS = [n for n in workload_names() if not workload(n).has_ranks]


@pytest.mark.parametrize("which", WITHOUT_RANKS)
def test_the_same_configurations_have_the_same_results(which: str) -> None:
    platform = "ascend950pr" if which.endswith("950") else "ascend910b2"
    problem = Problem.of(workload(which), load_platform(platform))
    wider = {"pv_fifo_depth": [0, 1, 2, 8]} if which == "flash_attention" else {}
    sizes = {"s0": 1024, "s1": 1024, "causal": 1} if which == "flash_attention" else {}
    of = space(problem.workload, sizes, wider)
    legal = LegalSpace.of(problem, of)
    rows = legal.draw(3_000, np.random.default_rng(3))
    _, first, of_row = np.unique(Signature(problem, legal).keys(rows), axis=0, return_index=True, return_inverse=True)
    e = evaluate_columns(problem, of.table(rows))
    as_first = first[of_row.reshape(-1)]
    for column in (e.verdict, e.rule, e.cycles, e.bound, e.stretch, e.derived_period, *e.bytes.values(), *e.busy.T):
        assert np.array_equal(column, column[as_first])


def test_what_says_the_same_in_other_words_counts_once(attention: Problem) -> None:
    one: dict[str, list[int | str]] = {
        "cube_s0": [128], "cube_s1": [128], "tile_s1": [256], "qk_preload": [4], "split": [1]
    }  # fmt: skip
    of = space(attention.workload, {}, {**one, "fifo_depth": [4, 8], "sync_period": [0, 2], "pv_fifo_depth": [0, 4, 8]})
    legal = LegalSpace.of(attention, of)
    assert legal.candidates == 12
    # pv_fifo_depth 0 is fifo_depth; sync_period 0 derives 2 from a depth of 4 and 4 from 8, per pipe: with depths
    # (4, 4) both periods are one, with the other three pairs of depths they are two
    assert count_distinct(attention, legal).distinct == 7


def test_a_collision_of_the_first_words_is_no_equality() -> None:
    keys = np.array([[1, 5], [1, 6], [1, 5], [2, 5]], dtype=np.uint64)
    assert module._different(keys) == 3
    assert module._different(keys[:0]) == 0


def test_a_table_too_large_counts_by_the_values_themselves(attention: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CELLS", 1)
    legal = LegalSpace.of(attention, space(attention.workload, {}, {"sync_period": [0, 4]}))
    assert count_distinct(attention, legal).distinct == legal.candidates


def test_too_many_are_not_told_apart(attention: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    legal = LegalSpace.of(attention, space(attention.workload))
    assert count_distinct(attention, legal, seconds=-1.0).distinct is None
    monkeypatch.setattr(module, "MOST_ROWS", 10)
    assert count_distinct(attention, legal).distinct is None
