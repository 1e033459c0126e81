"""Rules as tables: the same legal set as the whole table has, for every workload."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from cost_models import load_platform
from pto_tune import legality
from pto_tune.evaluation import Problem
from pto_tune.model.expr import expr, name, where
from pto_tune.model.nodes import Rule
from pto_tune.space import Space, space
from pto_tune.spaces import parts as parts_module
from pto_tune.spaces import tables
from pto_tune.spaces.parts import parts
from pto_tune.spaces.reading import Reader
from pto_tune.spaces.tables import TimeOver, merged, tabulate
from pto_tune.workloads import workload, workload_names

FirstRefusal = Callable[[Problem, Space], NDArray[np.int64]]
PLATFORMS = ("ascend910b2", "ascend950pr")
MOST_ROWS, MOST_ROWS_RANKS = 3_000, 400


def legal_by_tables(problem: Problem, of: Space) -> NDArray[np.bool_]:
    rules = tabulate(problem, of)
    rows = np.arange(of.size)
    columns = list(of.indices(rows).values())
    legal = np.ones(of.size, dtype=bool)
    for table in merged(rules.tables):
        legal &= table.of(columns)
    return legal & rules.kept_late(rows)


@st.composite
def some_space(draw: st.DrawFn, problem: Problem) -> Space:
    """Sub-domains of a workload, widened a little, in any order of values."""
    w = problem.workload
    most = MOST_ROWS_RANKS if w.has_ranks else MOST_ROWS
    domains = {}
    size = 1
    for t in draw(st.permutations(w.tunables)):
        near = [v + d for v in t.domain for d in (0, 1, -1, 16) if t.minimum <= v + d <= t.maximum]
        values = draw(st.lists(st.sampled_from(near), min_size=1, max_size=max(1, min(5, most // size)), unique=True))
        domains[t.name] = values
        size *= len(values)
    sizes = {"causal": draw(st.sampled_from([0, 1]))} if any(p.name == "causal" for p in w.problem) else {}
    return space(w, sizes, domains)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("which", workload_names())
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_the_legal_set_is_that_of_the_whole_table(
    which: str, platform: str, first_refusal: FirstRefusal, data: st.DataObject
) -> None:
    problem = Problem.of(workload(which), load_platform(platform))
    of = data.draw(some_space(problem))
    try:
        first = first_refusal(problem, of)
    except ValueError:  # sizes beyond 64 bits
        assume(False)
    assert np.array_equal(legal_by_tables(problem, of), first < 0)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("which", workload_names())
def test_the_parts_have_all_rules_in_order(which: str, platform: str) -> None:
    problem = Problem.of(workload(which), load_platform(platform))
    of = space(problem.workload)
    reader = Reader(problem.workload, of.table(np.array([0])), 1, parts_module.facts_of(problem))
    found = [r.name for part in parts(problem) for r in part.rules(reader)]
    assert found == legality.rule_names(problem.workload, problem.platform, problem.rule_set)


def test_a_rule_reads_what_its_expressions_name(attention: Problem) -> None:
    of = space(attention.workload)
    reader = Reader(attention.workload, of.table(np.arange(7)), 7, parts_module.facts_of(attention))
    names = {r.name: set(r.names) for part in parts(attention) for r in part.rules(reader)}
    assert names["s0-divisible"] == {"s0", "cube_s0"}
    assert names["slice-rows"] == {"split", "cube_s0", "tile_s1", "cube_s1"}  # through rows and subtiles
    assert names["capacity-L0B"] == {"cube_s1", "head"}
    assert names["qk-slot-num"] == {"fifo_depth"}
    assert names["align-q_l1"] == {"cube_s0", "head"}
    assert not {"sync_period", "pv_fifo_depth"} & names["capacity-UB"]


def test_a_copy_of_an_environment_reads_nothing(attention: Problem) -> None:
    reader = Reader(attention.workload, space(attention.workload).table(np.arange(3)), 3)
    copy = {**reader.env}
    assert reader.take() == set()
    assert np.asarray(copy["pv_depth"]).shape == (3,)
    assert reader.take() == {"pv_fifo_depth", "fifo_depth"}
    assert np.asarray(copy["cube_s0"][1:]).shape == (2,)
    assert reader.take() == {"cube_s0"}


def test_what_is_read_for_some_rows_only_is_found_too(attention: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that looks at a second tunable only where the first one is large."""

    def run(reader: Reader):  # type: ignore[no-untyped-def]
        depth = np.asarray(reader.env["fifo_depth"])
        broken = depth > 6
        if broken.any():
            broken = broken & (np.asarray(reader.env["sync_period"]) > 1)
        yield legality.RuleColumn("deep", broken, str)

    monkeypatch.setattr(tables, "parts", lambda _: [parts_module.Part(run)])
    monkeypatch.setattr(legality, "rule_names", lambda *_: ["deep"])
    of = space(attention.workload, {}, {"fifo_depth": [1, 8], "sync_period": [0, 1, 2]})
    (table,) = tabulate(attention, of).tables
    assert [of.domains[a][0] for a in table.axes] == ["fifo_depth", "sync_period"]
    assert table.ok.tolist() == [[True, True, True], [True, True, False]]


def test_parts_that_lack_a_rule_are_not_used(
    attention: Problem, first_refusal: FirstRefusal, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = space(attention.workload, {}, {"fifo_depth": [8], "sync_period": [0]})
    monkeypatch.setattr(tables, "parts", lambda p: parts(p)[1:])
    assert np.array_equal(legal_by_tables(attention, of), first_refusal(attention, of) < 0)


def test_rules_that_depend_on_too_much_are_looked_at_row_by_row(
    attention: Problem, first_refusal: FirstRefusal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "MOST_CELLS", 60)
    monkeypatch.setattr(tables, "TOGETHER", 20)
    monkeypatch.setattr(tables, "CHUNK", 999)
    of = space(attention.workload, {"causal": 1}, {"sync_period": [0], "qk_preload": [1, 4]})
    assert "capacity-UB" in [n for late in tabulate(attention, of).late for n in late.names]
    assert np.array_equal(legal_by_tables(attention, of), first_refusal(attention, of) < 0)


def test_few_places_at_a_time_give_the_same(
    attention: Problem, first_refusal: FirstRefusal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "MOST_PLACES", 100)
    of = space(attention.workload, {"causal": 1, "s0": 512}, {"sync_period": [0], "fifo_depth": [1, 8]})
    assert np.array_equal(legal_by_tables(attention, of), first_refusal(attention, of) < 0)


def test_a_rule_that_refuses_everything_has_a_table_without_axes(attention: Problem) -> None:
    never = Rule("never", expr(0), "no", expr(0), expr(0))
    problem = replace(attention, workload=replace(attention.workload, rules=(never,)))
    rules = tabulate(problem, space(problem.workload))
    assert [t.axes for t in rules.tables if t.rule == "never"] == [()]
    assert not legal_by_tables(problem, space(problem.workload)).any()


def test_an_axis_along_which_nothing_changes_goes(attention: Problem) -> None:
    odd = where(name("fifo_depth").gt(0), name("split").eq(1), name("sync_period"))
    rule = Rule("odd", odd, "no", expr(0), expr(0))
    problem = replace(attention, workload=replace(attention.workload, rules=(rule,)))
    (table,) = (t for t in tabulate(problem, space(problem.workload)).tables if t.rule == "odd")
    assert [space(problem.workload).domains[a][0] for a in table.axes] == ["split"]


def test_the_time_may_be_over(attention: Problem) -> None:
    with pytest.raises(TimeOver):
        tabulate(attention, space(attention.workload), until=0.0)
