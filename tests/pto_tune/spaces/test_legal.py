"""Legal configurations: counted, gone through in order, drawn fairly."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from pto_tune import verdicts
from pto_tune.evaluation import Problem, evaluate_columns
from pto_tune.space import Space, space
from pto_tune.spaces import tables
from pto_tune.spaces.legal import MEMORY_BYTES, LegalError, LegalSpace
from pto_tune.spaces.tables import TimeOver

FirstRefusal = Callable[[Problem, Space], NDArray[np.int64]]


@pytest.fixture(scope="module")
def middle(attention: Problem) -> Space:
    return space(attention.workload, {"s0": 2048, "s1": 2048}, {"fifo_depth": [1, 3, 8, 12], "sync_period": [0, 2]})


@pytest.mark.parametrize("memory_bytes", [MEMORY_BYTES, 1_500])
def test_counts_and_rows_are_those_of_the_whole_table(
    attention: Problem,
    middle: Space,
    first_refusal: FirstRefusal,
    refused_by_rule: Callable[[Problem, Space], dict[str, int]],
    memory_bytes: int,
) -> None:
    legal = LegalSpace.of(attention, middle, memory_bytes=memory_bytes)
    assert (legal.blocks > 1) == (memory_bytes < MEMORY_BYTES)
    wanted = np.flatnonzero(first_refusal(attention, middle) < 0)
    count = legal.count()
    assert count.exact
    assert count.low == wanted.shape[0]
    assert count.refused == refused_by_rule(attention, middle)
    assert np.concatenate(list(legal.chunks(100))).tolist() == wanted.tolist()
    some = np.array([5, 0, wanted.shape[0] - 1, 17])
    assert legal.rows(some).tolist() == wanted[some].tolist()
    assert np.flatnonzero(legal.contains(np.arange(middle.size))).tolist() == wanted.tolist()


def test_late_rules_are_part_of_it(
    attention: Problem, middle: Space, first_refusal: FirstRefusal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "MOST_CELLS", 60)
    monkeypatch.setattr(tables, "TOGETHER", 20)
    legal = LegalSpace.of(attention, middle)
    wanted = np.flatnonzero(first_refusal(attention, middle) < 0)
    assert "capacity-UB" in legal.late
    assert legal.candidates > wanted.shape[0]
    seen: list[tuple[int, int]] = []
    count = legal.count(progress=lambda done, of: seen.append((done, of)))
    assert (count.low, count.high, count.refused) == (wanted.shape[0], wanted.shape[0], None)
    assert seen == [(legal.candidates, legal.candidates)]
    assert np.concatenate(list(legal.chunks())).tolist() == wanted.tolist()
    assert set(legal.draw(500, np.random.default_rng(0)).tolist()) <= set(wanted.tolist())
    in_no_time = legal.count(seconds=0.0)
    assert (in_no_time.low, in_no_time.high) == (0, legal.candidates)
    assert not in_no_time.exact


def test_every_legal_row_is_drawn_alike(attention: Problem) -> None:
    domains: dict[str, list[int | str]] = {"fifo_depth": [8], "sync_period": [0], "qk_preload": [1, 4]}
    of = space(attention.workload, {"s0": 2048, "s1": 2048}, domains)
    legal = LegalSpace.of(attention, of)
    every = np.concatenate(list(legal.chunks()))
    n = 200 * every.shape[0]
    drawn = legal.draw(n, np.random.default_rng(7))
    rows, often = np.unique(drawn, return_counts=True)
    assert rows.tolist() == every.tolist()
    chi2 = float(((often - 200) ** 2 / 200).sum())
    free = every.shape[0] - 1
    assert abs(chi2 - free) < 5 * np.sqrt(2 * free)  # mean and spread of chi-squared
    assert drawn.tolist() == legal.draw(n, np.random.default_rng(7)).tolist()


def test_nothing_legal(attention: Problem) -> None:
    of = space(attention.workload, {}, {"cube_s0": [256], "cube_s1": [256]})
    legal = LegalSpace.of(attention, of)
    assert legal.count().low == 0
    assert sum(legal.refused().values()) == of.size
    assert list(legal.chunks()) == []
    assert not legal.contains(np.arange(of.size)).any()
    with pytest.raises(LegalError, match="nothing to draw"):
        legal.draw(1, np.random.default_rng(0))
    with pytest.raises(LegalError, match="numbers of candidates"):
        legal.rows(np.array([0]))


def test_a_hundred_million_candidates_are_counted_exactly(attention: Problem) -> None:
    """Independently: the tunables that only capacity-UB ties together are counted apart from those that nothing
    reads."""
    wide = {
        "cube_s0": list(range(16, 257, 16)),
        "cube_s1": list(range(16, 257, 16)),
        "tile_s1": list(range(64, 1025, 64)),
        "qk_preload": list(range(1, 13)),
        "fifo_depth": list(range(1, 17)),
    }
    sizes = {"s0": 2048, "s1": 2048}
    narrow = space(attention.workload, sizes, {**wide, "sync_period": [0], "pv_fifo_depth": [0]})
    large = space(attention.workload, sizes, {**wide, "sync_period": list(range(9)), "pv_fifo_depth": list(range(8))})
    assert large.size > 100_000_000
    few = sum(rows.shape[0] for rows in LegalSpace.of(attention, narrow).chunks())
    legal = LegalSpace.of(attention, large)
    assert legal.count().low == 72 * few  # no rule reads sync_period or pv_fifo_depth
    assert sum(legal.refused().values()) == large.size - legal.candidates
    rows = legal.draw(2_000, np.random.default_rng(1))
    assert legal.contains(rows).all()
    evaluated = evaluate_columns(attention, large.table(rows))
    refused = evaluated.verdict == verdicts.REFUSED
    static = len(evaluated.rules) - len(verdicts.STRUCTURE_RULES)
    assert not evaluated.broken[:static].any()
    assert (evaluated.rule[refused] >= static).all()  # what executing finds, such as too many flags


def test_limits(attention: Problem) -> None:
    tens = {name: list(range(16, 4016)) for name in ("cube_s0", "cube_s1", "tile_s1")}
    more = {"fifo_depth": list(range(1, 256)), "sync_period": list(range(256)), "pv_fifo_depth": list(range(256)),
            "qk_preload": list(range(1, 65))}  # fmt: skip
    huge = space(attention.workload, {}, {**tens, **more})
    assert huge.size > 2**63 - 1
    with pytest.raises(LegalError, match="can be numbered"):
        LegalSpace.of(attention, huge)
    with pytest.raises(TimeOver):
        LegalSpace.of(attention, space(attention.workload), seconds=-1.0)
