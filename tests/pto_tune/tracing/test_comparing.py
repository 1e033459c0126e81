"""A run beside its prediction: its own trace differs in nothing, and changes show where they were made."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pto_tune
from pto_tune.explaining.explanation import Explanation
from pto_tune.tracing.comparing import Comparison, compare, covered
from pto_tune.tracing.naming import TraceError
from pto_tune.tracing.text import sentences, table

Write = Callable[..., Path]
Work = list[tuple[str, str, str, float, float]]
FIELDS = ("busy", "start", "end", "gap", "share", "events")
SIMULATOR = {"M": "CUBE", "V": "VECTOR", "FIX": "FIXP"}


def differences(c: Comparison) -> set[float | None]:
    return {row.difference(what) for row in c.rows for what in FIELDS}


@pytest.mark.parametrize("method", ["start", "least-squares"])
@pytest.mark.parametrize(
    ("workload", "configuration", "platform"),
    [
        ("flash_attention", {"s0": 1024, "s1": 1024}, "ascend910b2"),
        ("flash_attention", {"s0": 4096, "s1": 1024, "causal": 1}, "ascend910b4"),
        ("stream", {"tiles": 9, "direction": "V2C"}, "ascend910b2"),
        ("gemm", {"m": 1536, "k": 1536, "n": 1536}, "ascend910b1"),
        ("flash_attention_950", {}, "ascend950pr"),
        ("tput_pingpong", {}, "ascend910b2"),
    ],
)
def test_a_trace_of_our_own_differs_in_nothing(
    workload: str, configuration: dict[str, Any], platform: str, method: str, tmp_path: Path
) -> None:
    x = pto_tune.explain(workload, configuration, platform)
    x.write_trace(tmp_path / "trace.json")
    found = compare(tmp_path / "trace.json", x, method=method)
    assert differences(found) == {0}
    assert found.alignment is not None
    assert (found.alignment.scale, found.alignment.rms_cycles) == (pytest.approx(1), 0)
    assert found.measured_cycles == found.predicted_cycles


def test_busy_times_are_those_of_the_prediction(attention: Explanation, own: Path) -> None:
    found = compare(own, attention)
    busy = dict(zip(attention.problem.code.pipes, attention.evaluation.busy[0].tolist(), strict=True))
    assert {row.pipe: row.measured.busy for row in found.rows if row.measured} == {p: v for p, v in busy.items() if v}


def simulated(work: Work, change: Callable[..., tuple[float, float]] = lambda c, p, s, d: (s, d)) -> list[Any]:  # noqa: ARG005
    """The same work as the simulator of msprof op would write it, 7 us later."""
    out = []
    for core, pipe, name, start, length in work:
        start, length = change(core, pipe, start, length)
        process = "core3.cubecore0" if core == "AIC" else f"core3.veccore{core[-1]}"
        event = {"ph": "X", "pid": process, "tid": SIMULATOR.get(pipe, pipe), "name": name}
        out.append({**event, "ts": 7 + start, "dur": length})
    return out


def test_the_same_work_in_the_simulators_words(attention: Explanation, work: Work, write: Write) -> None:
    noise = [{"ph": "X", "pid": "core3.cubecore0", "tid": "SCALAR", "ts": 0, "dur": 90, "name": "MOVK"}]
    found = compare(write(simulated(work) + noise), attention)
    assert all(abs(d or 0) < 0.01 for d in differences(found))
    assert found.group == "core3"


def test_the_same_work_as_instruction_profiling_says_it(attention: Explanation, work: Work, write: Write) -> None:
    lanes = {"AIC": 0, "AIV0": 1, "AIV1": 2}
    events: list[Any] = [{"ph": "M", "name": "process_name", "pid": 9, "args": {"name": "Biu Perf"}}]
    for core, tid in lanes.items():
        lane = {"ph": "M", "name": "thread_name", "pid": 9, "tid": tid, "args": {"name": f"Group0-{core.lower()}"}}
        events.append(lane)
    base = Decimal("1718180918999104.250")
    end = max(start + length for *_, start, length in work)
    events.append({"ph": "X", "pid": 1, "tid": 3, "name": "fa_kernel", "ts": str(base), "dur": end + 1})
    for core, pipe, _, start, length in work:
        name = {"V": "VEC", "M": "CUBE", "FIX": "FIXP"}.get(pipe, pipe)
        event = {"ph": "X", "pid": 9, "tid": lanes[core], "name": name, "dur": length}
        events.append({**event, "ts": str(base + Decimal(start))})
    found = compare(write(events), attention, op="fa_*")
    assert found.op_us == pytest.approx(end + 1)
    assert found.group == "group0"
    assert all(abs(d or 0) < 0.01 for d in differences(found))
    assert f"the op took {found.op_us:.2f} us" in sentences(found)[0]


def test_a_slower_pipe_and_a_later_core_show_where_they_are(attention: Explanation, work: Work, write: Write) -> None:
    def change(core: str, pipe: str, start: float, length: float) -> tuple[float, float]:
        return start + (0.5 if core == "AIV1" else 0), length * (1.1 if pipe == "FIX" else 1)

    before = {row.pipe: row.predicted for row in compare(write(simulated(work)), attention).rows}
    found = compare(write(simulated(work, change)), attention)
    mhz = attention.problem.clock_mhz
    for row in found.rows:
        assert row.measured is not None
        assert row.predicted == before[row.pipe]
        late = row.difference("start")
        assert late == pytest.approx(0.5 * mhz if row.pipe.startswith("AIV1") else 0, abs=0.01)
        if row.pipe == "AIC.FIX":
            assert row.predicted is not None
            assert row.measured.busy > 1.01 * row.predicted.busy
        else:
            assert row.difference("busy") == pytest.approx(0, abs=0.01)
    titles, rows = table(found)
    assert all(len(row) == len(titles) for row in rows)
    assert [row[0] for row in rows if row[3] not in ("+0.0 %", "-0.0 %")] == ["AIC.FIX"]


def test_pipes_of_one_side_alone_are_shown_with_nothing_beside(
    attention: Explanation, work: Work, write: Write
) -> None:
    events = [e for e in simulated(work) if e["tid"] != "CUBE"]
    events.append({"ph": "X", "pid": "core3.veccore0", "tid": "MTE1", "ts": 8, "dur": 1, "name": "x"})
    by_pipe = {row.pipe: row for row in compare(write(events), attention).rows}
    assert by_pipe["AIC.M"].measured is None
    assert by_pipe["AIV0.MTE1"].predicted is None
    assert by_pipe["AIC.M"].difference("busy") is None
    rows = {row[0]: row for row in table(compare(write(events), attention))[1]}
    assert rows["AIC.M"][1] == rows["AIC.M"][3] == "-"


def test_events_of_no_pipe_are_counted(attention: Explanation, work: Work, write: Write) -> None:
    other = {"ph": "X", "pid": "Host", "tid": "main", "ts": 0, "dur": 1, "name": "launch"}
    found = compare(write([*simulated(work), other, other]), attention)
    assert found.others == {"Host main: launch": 2}
    assert "2 events on no pipe that is known left out ('Host main: launch')" in found.notes


def test_an_op_that_has_no_pipes_is_compared_by_its_duration(attention: Explanation, write: Write) -> None:
    found = compare(write([{"ph": "X", "name": "fa", "ts": 0, "dur": 33}]), attention, op="fa")
    assert (found.op_us, found.measured, found.alignment) == (33, None, None)
    assert found.predicted_us == pytest.approx(float(attention.evaluation.time_us[0]))
    assert "instruction profiling" in found.notes[0]
    assert all(row.measured is None for row in found.rows)


def test_where_a_core_runs_several_blocks_all_can_be_laid_out(write: Write) -> None:
    x = pto_tune.explain("flash_attention", {"s0": 8192, "s1": 1024})
    full, blocks = int(x.evaluation.execution.full_waves[0]), int(x.evaluation.execution.blocks[0])  # type: ignore[union-attr]
    assert blocks > x.evaluation.execution.cores  # type: ignore[union-attr]
    x.write_trace(write("").with_name("one.json"))
    path = write("").with_name("one.json")
    one = compare(path, x)
    assert any("blocks one after the other" in note for note in one.notes)
    assert differences(one) == {0}
    every = compare(path, x, all_blocks=True)
    assert not any("blocks one after the other" in note for note in every.notes)
    busy = dict(zip(x.problem.code.pipes, x.evaluation.busy[0].tolist(), strict=True))
    # the evaluation's busy cycles are of all blocks of a core
    assert {r.pipe: r.predicted.busy for r in every.rows if r.predicted} == {p: v for p, v in busy.items() if v}
    assert full >= 1


def test_unequal_blocks_cannot_be_laid_out(write: Write) -> None:
    x = pto_tune.explain("flash_attention", {"s0": 8192, "s1": 8192, "causal": 1})
    x.write_trace(write("").with_name("one.json"))
    with pytest.raises(TraceError, match="unequal"):
        compare(write("").with_name("one.json"), x, all_blocks=True)


def test_with_ranks_the_group_chooses_the_block(tmp_path: Path) -> None:
    x = pto_tune.explain("tput_pingpong", {})
    x.write_trace(tmp_path / "trace.json")
    for group in ("rank 0 block 0", "rank 1 block 0"):
        found = compare(tmp_path / "trace.json", x, group=group)
        assert (found.group, differences(found)) == (group, {0})
    with pytest.raises(TraceError, match="run side by side"):
        compare(tmp_path / "trace.json", x, all_blocks=True)


def test_a_summary_has_busy_times_and_shares(attention: Explanation, write: Write) -> None:
    mhz = attention.problem.clock_mhz
    busy = dict(zip(attention.problem.code.pipes, (attention.evaluation.busy[0] / mhz).tolist(), strict=True))
    vector = (busy["AIV0.V"] + busy["AIV1.V"]) / 2
    text = (
        "Op Name,Task Duration(us),aic_mac_time(us),aic_mte2_time(us),aiv_vec_time(us)\n"
        f"fa,{float(attention.evaluation.time_us[0])},{busy['AIC.M'] * 2},{busy['AIC.MTE2']},{vector}\n"
    )
    found = compare(write(text, "op_summary.csv"), attention, op="fa")
    by_pipe = {row.pipe: row for row in found.rows}
    assert by_pipe["AIC.M"].measured is not None
    assert by_pipe["AIC.M"].measured.busy == pytest.approx(2 * busy["AIC.M"] * mhz)
    for pipe in ("AIC.MTE2", "AIV.V"):
        assert by_pipe[pipe].difference("busy") == pytest.approx(0, abs=1e-6)
        assert by_pipe[pipe].difference("share") == pytest.approx(0, abs=1e-9)
    assert by_pipe["AIC.FIX"].measured is None
    assert "AIV0.V" not in by_pipe
    titles, rows = table(found)
    assert titles == ["pipe", "busy, run", "predicted", "difference", "share, run", "predicted"]
    assert {row[0]: row[3] for row in rows}["AIC.M"] == "+100.0 %"
    with pytest.raises(TraceError, match="is a summary: mappings, groups and repeats are of traces"):
        compare(write(text, "op_summary.csv"), attention, maps=["x=AIC.M"])


def test_plain_data_is_json_without_a_loss(attention: Explanation, own: Path) -> None:
    found = compare(own, attention)
    plain = found.as_plain()
    assert json.loads(json.dumps(plain)) == plain
    row = {r["pipe"]: r for r in plain["pipes"]}["AIC.M"]
    assert row["difference"] == {
        "busy_us": 0, "start_us": 0, "end_us": 0, "gap_us": 0, "share": 0, "events": 0
    }  # fmt: skip
    assert row["measured"]["share"] == pytest.approx(row["measured"]["busy_us"] / plain["measured_us"])


def test_without_times_there_is_nothing_to_compare_with(own: Path) -> None:
    hanging = pto_tune.explain("flash_attention", {"fifo_depth": 2, "qk_preload": 4, "tile_s1": 128})
    with pytest.raises(TraceError, match=r"there is nothing to compare with: .*TALLOC"):
        compare(own, hanging)


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20)), min_size=1, max_size=20))
def test_what_events_cover_counts_once(spans: list[tuple[int, int]]) -> None:
    spans = sorted(spans)
    start = np.array([float(s) for s, _ in spans])
    end = np.array([float(s + n) for s, n in spans])
    assert covered(start, end) == len({t for s, n in spans for t in range(s, s + n)})
