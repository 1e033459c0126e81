"""Flag ids and widths of intervals, computed from the run's own workload."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from cost_models.platform import load_platform
from dashboards.figures.extra import FEW, Widths, few, flags_used, table_of
from dashboards.runview import RunView
from pto_tune.evaluation import Problem, evaluate_columns
from pto_tune.exporters.pipe_checks import flags_used as flags_of_pipe
from pto_tune.exporters.recommending import pipe_recommendations, row_environment
from pto_tune.space import space
from pto_tune.workloads import workload

MakeView = Callable[..., RunView]


@cache
def problem(name: str, platform: str) -> Problem:
    return Problem.of(workload(name), load_platform(platform))


def evaluated(make_view: MakeView, p: Problem, sizes: dict[str, int], domains: dict[str, list[int | str]]) -> RunView:
    """A view of all configurations of `domains`, the other tunables at their defaults."""
    s = space(p.workload, sizes, {**{t.name: [t.default] for t in p.workload.tunables}, **domains})
    rows = np.arange(s.size)
    table = s.table(rows)
    e = evaluate_columns(p, table)
    names = [name for name, _ in s.domains]
    return make_view(
        problem=dict(s.problem),
        tunables=[(name, tuple(values)) for name, values in s.domains],
        rows=rows,
        values={name: table[name] for name in names},
        verdict=e.verdict.astype(np.int64),
        rule=e.rule.astype(np.int64),
        rule_names=tuple(e.rules),
        cycles=np.where(e.timed, e.cycles, np.nan),
        bytes={"ub": e.bytes["UB"].astype(float), "l1": e.bytes["L1"].astype(float)},
        bound=np.full(s.size, -1),
        accounts={},
        best_row=None,
        clock_mhz=p.clock_mhz,
        launch_us=p.launch_us,
    )


@pytest.mark.parametrize(
    ("name", "platform", "domains"),
    [
        ("flash_attention", "ascend910b2", {"fifo_depth": [2, 4], "split": [0, 1]}),
        ("flash_attention_950", "ascend950pr", None),
    ],
)
def test_flag_ids_are_those_that_the_exporters_find(
    make_view: MakeView, name: str, platform: str, domains: dict[str, list[int | str]] | None
) -> None:
    p = problem(name, platform)
    if domains is None:
        # two values of every tunable that has them
        domains = {t.name: list(t.domain[:2]) for t in p.workload.tunables}
    s = space(p.workload, None, {**{t.name: [t.default] for t in p.workload.tunables}, **domains})
    rows = np.unique(np.linspace(0, s.size - 1, 24).astype(np.int64))
    table = s.table(rows)
    view = make_view(
        problem=dict(s.problem),
        tunables=[(n, tuple(v)) for n, v in s.domains],
        rows=rows,
        values={n: table[n] for n, _ in s.domains},
        verdict=np.zeros(len(rows), dtype=int),
        rule=np.full(len(rows), -1),
        cycles=np.full(len(rows), 1.0),
        bytes={},
        bound=np.full(len(rows), -1),
        accounts={},
        best_row=None,
    )
    found = flags_used(view, p)
    assert found is not None
    for i in range(len(rows)):
        env = row_environment(p.workload, {n: int(c[i]) for n, c in table.items()})
        pipes = pipe_recommendations(p.workload, p.rule_set, env)
        assert found[i] == len(set().union(*(flags_of_pipe(pipe, p.rule_set) for pipe in pipes)))


def test_a_workload_without_pipes_has_no_flags(make_view: MakeView) -> None:
    assert flags_used(make_view(tunables=[], values={}), problem("gemm", "ascend910b2")) is None


def test_few_are_the_front_and_the_fastest_of_what_passes(big_view: RunView) -> None:
    found = few(big_view, np.arange(0, len(big_view), 2))
    assert len(found) == FEW
    assert len(set(found.tolist())) == FEW
    assert (found % 2 == 0).all()
    fastest = big_view.ranked[big_view.ranked % 2 == 0][:3]
    assert set(fastest.tolist()) <= set(found.tolist())


def test_widths_are_computed_once_for_what_is_asked_and_nan_elsewhere(make_view: MakeView) -> None:
    p = problem("flash_attention", "ascend910b2")
    view = evaluated(make_view, p, {"s0": 256, "s1": 256}, {"fifo_depth": [4, 8], "sync_period": [0, 1]})
    wanted = few(view, np.arange(len(view)))[:2]
    widths = Widths()
    first, left = widths.of("store 1", view, wanted, p)
    assert left == ""
    assert (first[wanted] > 0).all()
    assert np.isnan(np.delete(first, wanted)).all()
    again, _ = widths.of("store 1", view, wanted[:1], p)
    assert again[wanted[0]] == first[wanted[0]]
    assert int(np.isfinite(again).sum()) == 1


def test_a_table_of_positions_has_labels_as_numbers(make_view: MakeView) -> None:
    p = problem("flash_attention", "ascend910b2")
    view = make_view(
        problem={"s0": 256},
        tunables=[("fifo_depth", (2, 4, 8)), ("split", ("NO_SPLIT", "UP_DOWN"))],
        values={
            "fifo_depth": np.array([2, 4, 4, 8, 8, 8]),
            "split": np.array(["UP_DOWN", "NO_SPLIT"] * 3, dtype=object),
        },
    )
    table = table_of(p, view, [1, 4])
    assert table["fifo_depth"].tolist() == [4, 8]
    assert table["split"].tolist() == [0, 1]
    assert table["s0"].tolist() == [256, 256]
