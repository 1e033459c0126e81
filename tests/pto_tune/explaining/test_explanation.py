"""Explanations add up: the critical path to the makespan, the timeline to the account, the trace to the timeline."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cost_models import load_platform
from pto_tune.evaluation import Problem
from pto_tune.executor.engine import LaneResults
from pto_tune.explaining.critical import by_cause
from pto_tune.explaining.explanation import Explanation, explain_configuration
from pto_tune.explaining.tracefile import trace_events
from pto_tune.workloads import workload

B2 = load_platform("ascend910b2")


def explanation(name: str, **configuration: int | str) -> Explanation:
    return explain_configuration(Problem.of(workload(name), B2), configuration)


def lanes_of(x: Explanation) -> LaneResults:
    assert x.evaluation.execution is not None
    return x.evaluation.execution.lanes


CASES = [
    ("stream", {"tiles": 20}),
    ("stream", {"tiles": 33, "direction": "V2C", "fifo_depth": 2, "consumer_cycles": 4000}),
    ("flash_attention", {"s0": 4096, "s1": 2048}),
    ("flash_attention", {"s0": 4096, "s1": 2048, "split": "NO_SPLIT", "cube_s0": 64, "tile_s1": 128, "qk_preload": 1}),
    ("flash_attention", {"s0": 512, "s1": 2048, "causal": 1}),
    ("gemm", {"m": 1536, "k": 1536, "n": 1536}),
]


@pytest.mark.parametrize(("name", "configuration"), CASES)
def test_the_critical_path_adds_up_to_the_makespan(name: str, configuration: dict[str, int | str]) -> None:
    x = explanation(name, **configuration)
    lanes = lanes_of(x)
    wave = 0 if lanes.active[0, 0] else 1
    assert sum(s.cycles for s in x.path) == x.block.cycles == lanes.cycles[0, wave]
    assert all(s.cycles > 0 for s in x.path)
    assert sum(s.cycles for s in by_cause(x.path)) == x.block.cycles


@pytest.mark.parametrize(("name", "configuration"), CASES)
def test_events_of_a_pipe_do_not_overlap_and_add_up_to_its_busy_cycles(
    name: str, configuration: dict[str, int | str]
) -> None:
    x = explanation(name, **configuration)
    lanes = lanes_of(x)
    wave = 0 if lanes.active[0, 0] else 1
    for i, pipe in enumerate(x.problem.code.pipes):
        events = [e for e in x.timeline() if e.pipe == pipe and not x.block.is_signal(e.operation)]
        assert sum(e.end - e.start for e in events) == lanes.busy[0, wave, i]
        assert all(a.end <= b.start for a, b in pairwise(events))


def test_bounds_never_exceed_the_simulated_time() -> None:
    x = explanation("flash_attention", s0=4096, s1=4096)
    bounds = dict(x.bounds())
    assert bounds["AIV0.V"] == max(v for k, v in bounds.items() if "." in k)
    assert all(cycles <= int(x.evaluation.cycles[0]) for cycles in bounds.values())


def test_an_l2_bound_run_says_so_with_its_factor() -> None:
    slow = B2.with_values({"l2.bandwidth": B2["l2.bandwidth"] / 3})
    x = explain_configuration(Problem.of(workload("flash_attention"), slow), {"s0": 4096, "s1": 4096})
    summary = x.summary()
    assert summary["bound"].startswith("L2-bound, x")
    assert float(summary["bound"].split("x")[1]) > 1.2
    assert summary["segments"]


def test_a_hang_has_a_summary_and_no_timeline() -> None:
    x = explanation("flash_attention", fifo_depth=2, qk_preload=4, tile_s1=128)
    summary = x.summary()
    assert (summary["verdict"], summary["cycles"], summary["segments"]) == ("hang", None, [])
    with pytest.raises(ValueError, match="TALLOC"):
        x.timeline()


def test_the_trace_file_has_a_track_a_pipe_and_an_arrow_a_token(tmp_path: Path) -> None:
    x = explanation("stream", tiles=12, fifo_depth=4)
    target = tmp_path / "trace.json"
    x.write_trace(target)
    events = json.loads(target.read_text())["traceEvents"]
    assert events == json.loads(json.dumps(trace_events(x.block, x.problem.clock_mhz)))
    names = {e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert names == {"MTE2", "MTE1", "M", "FIX", "V", "MTE3", "S"}
    begins = [e for e in events if e["ph"] == "s"]
    ends = [e for e in events if e["ph"] == "f"]
    assert len(begins) == len(ends)
    # 12 tiles to two sub-cores, and credits that are waited for or drained, from both
    credits = 12 // 2
    assert len(begins) == 12 * 2 + credits * 2
    last = max(e["ts"] + e["dur"] for e in events if e["ph"] == "X")
    assert last <= x.block.cycles / x.problem.clock_mhz
    assert [p.name for p in tmp_path.iterdir()] == ["trace.json"]


@given(st.integers(1, 60), st.integers(1, 8), st.integers(0, 3000), st.integers(0, 3000))
@settings(max_examples=30, deadline=None)
def test_adding_up_holds_for_any_stream(tiles: int, depth: int, compute: int, consume: int) -> None:
    x = explanation("stream", tiles=tiles, fifo_depth=depth, producer_cycles=compute, consumer_cycles=consume)
    assert sum(s.cycles for s in x.path) == x.block.cycles
