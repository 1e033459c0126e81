"""What is equal is done once: durations, lanes and traces. Every configuration gets what it gets alone."""

import numpy as np
import pytest

from cost_models import load_platform
from pto_tune.evaluation import Problem, evaluate_columns
from pto_tune.executor import engine, jit, lanes
from pto_tune.executor.engine import execute
from pto_tune.lowering import columns as lowering
from pto_tune.lowering.columns import columns_of, environment
from pto_tune.space import Space, space
from pto_tune.workloads import workload

DOMAINS = {
    "cube_s0": [64, 128], "tile_s1": [128, 256], "qk_preload": [1, 2, 3], "fifo_depth": list(range(1, 17)),
    "sync_period": [0, 1, 2, 4, 8], "pv_fifo_depth": [0, 2, 9],
}  # fmt: skip


def flash_attention() -> tuple[Problem, Space]:
    problem = Problem.of(workload("flash_attention"), load_platform("ascend910b2"))
    return problem, space(problem.workload, {"s0": 1024, "s1": 1024}, DOMAINS)


def test_together_and_alone_give_the_same() -> None:
    problem, s = flash_attention()
    rows = np.arange(s.size)
    together = evaluate_columns(problem, s.table(rows), threads=1)
    assert len(together) > 5 * lowering.FEWEST_ROWS
    for row in np.random.default_rng(1).permutation(rows)[:150]:
        alone = evaluate_columns(problem, s.table(np.array([row])), threads=1)
        for column in ("verdict", "rule", "cycles", "timed", "stretch", "bound"):
            assert getattr(alone, column)[0] == getattr(together, column)[row], (row, column)
        assert np.array_equal(alone.busy[0], together.busy[row])
        assert np.array_equal(alone.broken[:, 0], together.broken[:, row])
        assert alone.reason(0) == together.reason(row)


@pytest.mark.parametrize("name", ["flash_attention", "paged_attention", "gemm", "matmul_epilogue", "dequant_matmul"])
@pytest.mark.parametrize("platform", ["ascend910b2", "ascend950pr"])
def test_columns_are_those_of_each_row(name: str, platform: str) -> None:
    problem = Problem.of(workload(name), load_platform(platform))
    s = space(problem.workload)
    n = min(s.size, 2000)
    table = s.table(np.linspace(0, s.size - 1, n).astype(np.int64))
    env = environment(problem.workload, {**table, "block": np.zeros(n, np.int64)})
    some = columns_of(problem.code, problem.platform, env, n)
    each = columns_of(problem.code, problem.platform, env, n, each_row=True)
    assert some.place is not None
    assert some.alike is not None
    assert (some.kinds.shape[1] < n) == (name != "gemm")  # every tunable of which makes a difference
    assert np.array_equal(some.structure, each.structure)
    assert np.array_equal(some.durations, each.durations)
    assert np.array_equal(some.bytes, each.bytes)
    assert np.array_equal(some.pipe, each.pipe)


def test_equal_lanes_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, s = flash_attention()
    e = evaluate_columns(problem, s.table(np.arange(s.size)))
    legal = np.flatnonzero(e.run_row >= 0)
    table = {name: np.repeat(column[legal[:200]], 3) for name, column in e.table.items()}
    ran = []
    call = jit.call

    def counting(function: object, *args: object) -> object:
        if function is lanes.evaluate_families:
            ran.append(args[8].shape[1])  # type: ignore[attr-defined]
        return call(function, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(engine, "call", counting)
    x = execute(problem.code, problem.platform, table, 600, threads=1)
    assert sum(ran) <= 200
    assert np.array_equal(x.cycles[::3], x.cycles[1::3])
    assert np.array_equal(x.cycles[::3], x.cycles[2::3])
    assert np.array_equal(np.where(x.hang, 0, x.cycles)[::3], e.cycles[legal[:200]])


def test_structures_share_a_trace_only_where_no_flag_and_no_slot_tells_them_apart() -> None:
    # track, core, producer, slots, period, first wait, shared track, unread
    ends = np.array([[0, 0, 1, 0, 1, 2, -1, 0], [0, 1, 0, 0, 1, 2, -1, 0]])
    nothing = np.array([[-1, 3, -1, -1]])
    early = np.array([[2, 3, -1, -1]])
    tiles = np.array([[6, -1], [6, -1]])

    def same(
        a: list[int], b: list[int], over: np.ndarray = nothing, ends: np.ndarray = ends, hung: bool = False
    ) -> bool:
        return bool(lanes._same_trace(ends, over, tiles, hung, np.array(a), np.array(b)))

    assert same([4, 2, 4], [4, 2, 4])
    assert same([4, 2, 4], [8, 2, 4])  # more slots than are ever in use
    assert not same([8, 2, 4], [4, 2, 4])  # fewer may be too few
    assert not same([4, 2, 4], [8, 2, 4], over=early)  # more may be enough where these were not
    assert same([4, 2, 4], [4, 2, 3])  # tile 3 is none that is waited for
    assert not same([4, 2, 4], [4, 2, 2])  # tile 2 is
    assert same([8, 7, 8], [9, 9, 9])  # neither period comes round
    assert not same([8, 7, 8], [8, 6, 8])  # the sixth tile is notified
    assert same([9, 3, 6], [9, 3, 9])  # no seventh tile is sent ...
    assert not same([9, 3, 6], [9, 3, 9], hung=True)  # ... unless that is where it hangs
    assert not same([9, 6, 9], [9, 7, 9])  # the consumer notifies when it has done the sixth
    other = np.array([[0, 0, 1, 0, 1, 2, -1, 0], [1, 0, 1, 3, 1, 2, -1, 0]])
    late = np.array([[-1, 3, -1, -1], [2, 3, -1, -1]])
    assert same([4, 2, 4, 2], [8, 2, 4, 2], over=late, ends=other)  # its own track is in order
    assert not same([4, 2, 4, 2], [4, 2, 4, 8], over=late, ends=other)
    shared = ends.copy()
    shared[:, 6] = 1
    assert not same([4, 2, 4], [8, 2, 4], ends=shared)  # where two rings meet depends on the number of slots
