"""A sub-core that does what its twin does is left out, and nothing that is found changes."""

from dataclasses import fields

import numpy as np
import pytest

from cost_models import load_platform
from pto_tune.evaluation import Evaluation, Problem, evaluate_columns
from pto_tune.executor import folding
from pto_tune.executor.layout import I_LEFT, I_STATUS
from pto_tune.space import space
from pto_tune.workloads import workload

TWINS = ("flash_attention", "paged_attention", "matmul_epilogue", "dequant_matmul",
         "bidirectional", "stream")  # fmt: skip


def problem(name: str, platform: str = "ascend910b2") -> Problem:
    return Problem.of(workload(name), load_platform(platform))


def evaluated(given: Problem, rows: int = 400) -> Evaluation:
    s = space(given.workload)
    return evaluate_columns(given, s.table(np.unique(np.linspace(0, s.size - 1, rows).astype(np.int64))))


def unfolded(monkeypatch: pytest.MonkeyPatch, given: Problem) -> Evaluation:
    with monkeypatch.context() as patch:
        patch.setattr(folding, "fold", lambda _: None)
        return evaluated(given)


@pytest.mark.parametrize("name", TWINS)
def test_what_is_found_is_what_the_whole_program_gives(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    given = problem(name)
    assert folding.fold(given.code) is not None
    one, other = evaluated(given), unfolded(monkeypatch, given)
    for column in ("verdict", "rule", "cycles", "timed", "busy", "stretch", "bound", "broken"):
        assert np.array_equal(getattr(one, column), getattr(other, column)), column
    for memory, size in one.bytes.items():
        assert np.array_equal(size, other.bytes[memory]), memory
    bad = [row for row in range(len(one)) if one.run_row[row] >= 0 and one.verdict[row] != 0]
    assert [one.reason(row) for row in bad] == [other.reason(row) for row in bad]
    x, y = one.execution, other.execution
    assert x is not None
    assert y is not None
    assert np.array_equal(x.lanes.demand, y.lanes.demand)
    assert np.array_equal(x.lanes.busy, y.lanes.busy)


def test_a_hang_is_told_of_both_sub_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    given = problem("flash_attention")
    one, other = evaluated(given).execution, unfolded(monkeypatch, given).execution
    assert one is not None
    assert other is not None
    assert one.hang.any()
    x, y = one.lanes, other.lanes
    for lane in np.flatnonzero(one.hang):
        s, t = int(x.schedule[lane]), int(y.schedule[lane])
        assert x.schedules.info[s, I_STATUS] == y.schedules.info[t, I_STATUS] != 0
        assert x.schedules.info[s, I_LEFT] == y.schedules.info[t, I_LEFT]
        for found in ("blocked", "over", "flight", "end_count", "taken"):
            assert np.array_equal(getattr(x.schedules, found)[s], getattr(y.schedules, found)[t]), found


@pytest.mark.parametrize("name", ["gemm", "datacopy"])
def test_a_program_without_twins_is_run_whole(name: str) -> None:
    assert folding.fold(problem(name).code) is None


def test_sub_cores_that_differ_in_one_lane_are_run_both() -> None:
    given = problem("flash_attention")
    x = evaluated(given).execution
    folded = folding.fold(given.code)
    assert x is not None
    assert folded is not None
    columns = x.lanes.columns
    assert folded.fits(columns, columns.structure)
    for field in ("structure", "kinds", "kinds_bytes"):
        values = getattr(columns, field).copy()
        if field == "structure":
            values[-1, folded.structure[0, 1]] += 1
        else:
            values[..., folded.durations[0, 1], -1] += 1
        changed = type(columns)(**{f.name: getattr(columns, f.name) for f in fields(columns)} | {field: values})
        assert not folded.fits(changed, changed.structure), field


def test_the_code_is_folded_once() -> None:
    given = problem("stream")
    assert folding.fold(given.code) is folding.fold(given.code)
    assert folding.fold(problem("stream").code) is not folding.fold(given.code)
