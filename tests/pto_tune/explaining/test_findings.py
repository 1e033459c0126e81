"""Whether the predicted timing reaches what a verdict warns of: as the oracle sees it at the same durations."""

import pytest
from simulate import simulate

from cost_models import load_platform
from pto_tune.evaluation import Problem, evaluate_columns
from pto_tune.explaining.findings import findings
from pto_tune.model.expr import expr
from pto_tune.model.nodes import Fifo, Launch, Workload
from pto_tune.model.vocabulary import cycles, instr, talloc, tfree, tpop, tpush
from pto_tune.workloads import workload

PLATFORMS = ("ascend910b2", "ascend950pr")


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("flow", [0, 1])
@pytest.mark.parametrize("load", [-1, 500, 5_000, 20_000])
@pytest.mark.parametrize("depth", [5, 7])
def test_an_overwrite_is_reached_where_the_oracle_sees_a_clash(platform: str, flow: int, load: int, depth: int) -> None:
    row = {"fifo_depth": depth, "flow": flow, "load_cycles": load, "tiles": 24, "slot_bytes": 8192}
    problem = Problem.of(workload("stream"), load_platform(platform))
    found = {f.rule: f for f in findings(evaluate_columns(problem, row))}
    seen = simulate(problem.workload, problem.platform, problem.rule_set, row)
    assert found["slot-reuse"].reached == bool(seen.clashes)
    assert found["slot-reuse"].tile == depth


@pytest.mark.parametrize("reads", [(), ("pipe",)])
@pytest.mark.parametrize("store", [10, 1_000, 5_000])
def test_an_early_read_is_reached_where_the_oracle_sees_it(reads: tuple[str, ...], store: int) -> None:
    """The store stands behind the TPUSH of its tile; a tile that nothing reads is read when it is popped."""
    pipe = Fifo("pipe", "C2V", expr(64), expr(4), expr(0), expr(2), expr(1), 0, expr(64))
    cube = (talloc("pipe"), tpush("pipe"), instr("TSTORE", "FIX", cycles(store), writes=["pipe"]))
    vec = (tpop("pipe"), instr("TLOAD", "MTE2", cycles(10), reads=reads), tfree("pipe"))
    w = Workload("late", "", (), (), (), (pipe,), (("AIC", cube), ("AIV", vec)), Launch(expr(1)))
    problem = Problem.of(w, load_platform("ascend910b2"))
    found = {f.rule: f for f in findings(evaluate_columns(problem, {}))}
    seen = simulate(w, problem.platform, problem.rule_set, {})
    assert found["early-read"].reached == bool(seen.torn)
