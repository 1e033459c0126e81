"""`pto_tune.bench_search`: what strategies take to come near the optimum, counted against searches that really run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pto_tune import bench_search
from pto_tune.bench_search import CASES, STRATEGIES, Case, cases_named
from pto_tune.search import strategies
from pto_tune.spaces.legal import LegalSpace
from pto_tune.tuning import tune

SMALL = Case(
    "stream 64", "stream", "ascend910b2", {"tiles": 64, "slot_bytes": 8192},
    {"fifo_depth": list(range(1, 17)), "sync_period": [0, 1, 2, 4, 8]}, "none",
)  # fmt: skip
README = Path(__file__).parents[2] / "README.md"


def test_the_optimum_and_who_is_near_it_are_those_of_a_whole_search() -> None:
    (row,) = bench_search.search(2, ("bounds", "random"), (SMALL,))
    whole = tune(SMALL.workload, problem=SMALL.sizes, domains=SMALL.domains, strategy="exhaustive", top=1000)
    assert whole.best is not None
    assert row["best_us"] == whole.best["time_us"]
    assert row["legal"] == LegalSpace.of(whole.problem, whole.space).candidates
    best = whole.best["cycles"]
    assert row["good"] == sum(c["cycles"] <= 1.01 * best for c in whole.top)
    assert row["strategies"]["bounds"]["reached"] == row["strategies"]["random"]["reached"] == 2
    assert row["strategies"]["bounds"]["proof_evaluations"] >= row["strategies"]["bounds"]["evaluations"]


def test_evaluations_are_counted_up_to_the_first_good_one() -> None:
    known = bench_search._Known.of(SMALL)
    answers = bench_search._Answers(known)
    bad, good = known.rows[~known.good], known.rows[known.good]
    list(answers.answers(bad[:5]))
    assert answers.first is None
    list(answers.answers(np.concatenate([bad[5:8], good[:1], bad[8:10]])))
    assert (answers.first, answers.evaluations, answers.calls) == (9, 11, 2)


def test_a_problem_is_chosen_by_words_of_its_name() -> None:
    assert [case.name for case in cases_named(["mxfp8"])] == ["gemm mxfp8 6144"]
    assert cases_named(()) == CASES
    with pytest.raises(ValueError, match="no problem is named 'conv'"):
        cases_named(["conv"])
    with pytest.raises(ValueError, match="unknown strategy 'luck'"):
        bench_search.search(1, ("luck",), (SMALL,))


def test_every_strategy_but_the_exhaustive_is_compared() -> None:
    assert set(STRATEGIES) == set(strategies.STRATEGIES) - {"auto", "exhaustive"}


def test_the_table_of_the_readme_has_these_problems_and_strategies() -> None:
    table = README.read_text("utf-8").split("<!-- bench search -->")[1].split("<!-- /bench search -->")[0]
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.strip().splitlines()]
    lines = [line for line in lines if len(line) > 1]
    assert lines[0] == ["problem", "legal", "within 1 %", *STRATEGIES, "proof by bounds", "all of them"]
    assert [line[0] for line in lines[2:]] == [case.name for case in CASES]
