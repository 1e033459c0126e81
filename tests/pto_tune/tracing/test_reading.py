"""A trace as the work of pipes of one core group."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pto_tune.tracing.naming import TraceError, rules_of
from pto_tune.tracing.reading import read_trace

Write = Callable[..., Path]
PIPES = ("AIC.MTE2", "AIC.M", "AIV0.V")
MHZ = 1000.0


def event(pid: str, tid: str, ts: object, dur: object, name: str = "x") -> dict[str, Any]:
    return {"ph": "X", "pid": pid, "tid": tid, "ts": ts, "dur": dur, "name": name}


def rows(recorded: Any) -> list[tuple[str, str, float, float]]:
    t = recorded.tracks
    return [
        (t.pipes[p], t.names[n], float(s), float(e)) for p, n, s, e in zip(t.pipe, t.name, t.start, t.end, strict=True)
    ]


def test_cycles_from_the_first_event_sorted_by_pipe_and_start(write: Write) -> None:
    path = write(
        [
            event("AIV0", "V", 103, 1, "SOFTMAX"),
            event("AIC", "M", 102, 0.5, "TMATMUL"),
            event("AIC", "M", 100, 1.5, "TMATMUL"),
            event("AIV0", "MTE3", 104, 1, "TSTORE"),
            event("AIV0", "V", 104, 0, "nothing"),
        ]
    )
    found = read_trace(path, PIPES, MHZ)
    assert rows(found) == [
        ("AIC.M", "TMATMUL", 0, 1500),
        ("AIC.M", "TMATMUL", 2000, 2500),
        ("AIV0.V", "SOFTMAX", 3000, 4000),
        ("AIV0.MTE3", "TSTORE", 4000, 5000),  # a pipe that the workload does not have comes behind
    ]
    assert (found.group, found.groups, found.others, found.op_us) == ("", ("",), {}, None)


def test_times_since_1970_keep_their_nanoseconds(write: Write) -> None:
    path = write([event("AIC", "M", "1718180918999104.757", "0.003"), event("AIC", "M", "1718180918999105.001", "1")])
    assert [(s, e) for _, _, s, e in rows(read_trace(path, PIPES, MHZ))] == [(0, 3), (244, 1244)]


def test_the_first_core_group_in_the_order_of_numbers(write: Write) -> None:
    path = write([event(f"core{n}.cubecore0", "CUBE", n, 1) for n in (10, 9, 2)])
    found = read_trace(path, PIPES, MHZ)
    assert (found.group, found.groups) == ("core2", ("core2", "core9", "core10"))
    assert read_trace(path, PIPES, MHZ, group="Core10").group == "core10"
    assert read_trace(path, PIPES, MHZ, prefer="core9").group == "core9"
    assert read_trace(path, PIPES, MHZ, prefer="core7").group == "core2"
    with pytest.raises(TraceError, match="has no core group 'core3': it has core2, core9, core10"):
        read_trace(path, PIPES, MHZ, group="core3")


def test_the_file_of_one_core_of_the_simulator(write: Write) -> None:
    path = write([event("VECTOR", "0", 1, 2)], "core4.veccore0/trace.json")
    found = read_trace(path, PIPES, MHZ)
    assert (found.group, rows(found)) == ("core4", [("AIV0.V", "x", 0, 2000)])


def test_an_op_is_a_window_and_the_last_one_counts(write: Write) -> None:
    ops = [event("NPU", "Stream 3", 100 * i, 50 + i, "my_kernel_1") for i in range(3)]
    inside = [event("Biu Perf", "Group0-aic", 100 * i + 10, i + 1, "CUBE") for i in range(3)]
    path = write([*ops, *inside, event("NPU", "Stream 3", 60, 1, "other")])
    found = read_trace(path, PIPES, MHZ, op="My_Kernel*")
    assert (found.op_us, found.ops, rows(found)) == (52.0, 3, [("AIC.M", "CUBE", 0, 3000)])
    assert found.others == {"NPU Stream 3: other": 1}
    first = read_trace(path, PIPES, MHZ, op="my_kernel_1", repeat=1)
    assert (first.op_us, rows(first)) == (50.0, [("AIC.M", "CUBE", 0, 1000)])
    with pytest.raises(TraceError, match="there is no repeat 4 of the op 'my_kernel_1': it has 3"):
        read_trace(path, PIPES, MHZ, op="my_kernel_1", repeat=4)
    with pytest.raises(TraceError, match="has no op 'mine'; it has 'NPU Stream 3: my_kernel_1', 'NPU Stream 3: other'"):
        read_trace(path, PIPES, MHZ, op="mine")
    with pytest.raises(TraceError, match="repeat 1 of no op"):
        read_trace(path, PIPES, MHZ, repeat=1)


def test_an_op_without_pipes_has_its_duration(write: Write) -> None:
    found = read_trace(write([event("NPU", "Stream 3", 1, 2.5, "my_kernel")]), PIPES, MHZ, op="my_kernel")
    assert (found.op_us, len(found.tracks), found.groups) == (2.5, 0, ())


def test_without_any_pipe_it_says_what_there_is_and_how_to_say_what_it_means(write: Write) -> None:
    path = write([event("Cube", "loads", 0, 1, "copy"), event("Cube", "products", 1, 1, "mm")])
    with pytest.raises(TraceError) as refused:
        read_trace(path, PIPES, MHZ)
    (line,) = str(refused.value).splitlines()
    assert "it has 'Cube loads: copy', 'Cube products: mm': say which is what, as in 'NAME=AIC.MTE2'" in line
    rules = rules_of(["Cube loads=AIC.MTE2", "products=AIC.M"], PIPES)
    assert [row[0] for row in rows(read_trace(path, PIPES, MHZ, rules=rules))] == ["AIC.MTE2", "AIC.M"]
