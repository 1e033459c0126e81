"""Summaries of the profiler and the map that says which op was what."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from db import Measurement
from pto_tune.measuring.faults import Fault, MeasurementFileError
from pto_tune.measuring.reading import read_measurements

# The titles as msprof writes them; the newer one calls blocks Block Num.
SUMMARY = (
    "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),Task Duration(us),"
    "Task Wait Time(us),Block Dim,Mix Block Dim,HF32 Eligible,Input Shapes,Context ID,aicore_time(us)"
)
BASIC = "Op Name,Op Type,Task Duration(us),Block Dim,Mix Block Dim,Device Id,Pid,Current Freq,Rated Freq"

Read = Callable[..., tuple[list[Measurement], list[Fault]]]


def task(name: str, duration: object, block_dim: int = 24, op_type: str = "MatMul", start: int = 0) -> str:
    return (
        f'0,4294967295,{start},2,{name},{op_type},dynamic,MIX_AIC,"17{start}.5\t",{duration},0.1,{block_dim},48,NO,'
        '"""128,64;64,256""",N/A,11.0'
    )


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def read(rows: list[str], mapping: Any, titles: str = SUMMARY, **options: Any) -> Any:
        summary, map_file = tmp_path / "op_summary_20260812.csv", tmp_path / "ops.json"
        summary.write_text("\n".join([titles, *rows]) + "\n", encoding="utf-8")
        map_file.write_text(mapping if isinstance(mapping, str) else json.dumps(mapping), encoding="utf-8")
        return read_measurements(summary, mapping=map_file, **options)

    return read


GEMM = {"op": "gemm_v1*", "workload": "gemm", "configuration": {"m": 512, "step_k": "2"}}


def test_rows_of_an_op_are_repeats_with_their_spread(read: Read) -> None:
    times = [25.0, 10.25, 10.75, 11.5]
    rows = [task("gemm_v1_mix_aic", t, start=i) for i, t in enumerate(times)]
    (m,), found = read(rows, {"platform": "ascend910b2", "pto_isa": "2026-08-12", "ops": [{**GEMM, "skip_first": 1}]})
    assert found == []
    assert (m.workload, m.platform, m.pto_isa, m.timing, m.metric) == (
        "gemm", "ascend910b2", "2026-08-12", "task", "us"
    )  # fmt: skip
    assert (m.configuration["m"], m.configuration["step_k"], m.configuration["base_m"]) == (512, 2, 128)
    assert m.value == pytest.approx(statistics.mean(times[1:]), abs=1e-6)
    assert m.spread == pytest.approx(statistics.stdev(times[1:]), abs=1e-6)
    assert (m.repeats, m.minimum, m.maximum) == (3, 10.25, 11.5)
    assert m.source == "op_summary_20260812.csv"


def test_one_row_has_no_spread(read: Read) -> None:
    (m,), _ = read([task("gemm_v1", 10.1)], {"soc": "Ascend910B3", "ops": [GEMM]})
    assert (m.value, m.repeats, m.spread, m.minimum, m.maximum) == (10.1, 1, None, 10.1, 10.1)
    assert (m.soc, m.platform) == ("Ascend910B3", "ascend910b3")


def test_a_mean_is_never_outside_of_its_rows(read: Read) -> None:
    for time in (0.1, 1234.1234567, 3.3):
        (m,), found = read([task("gemm_v1", time)] * 3, {"platform": "a2a3", "ops": [GEMM]})
        assert (m.value, m.minimum, m.maximum, found) == (time, time, time, [])


@pytest.mark.parametrize(
    ("titles", "row"),
    [
        (SUMMARY.replace("Block Dim", "Block Num"), task("gemm_v1", 10.5)),
        (BASIC, "gemm_v1,MatMul,10.5,24,N/A,0,4711,1850,1850"),
    ],
)
def test_the_summaries_of_both_tools_and_all_versions_are_known(titles: str, row: str, read: Read) -> None:
    (m,), found = read([row], {"platform": "ascend910b2", "ops": [{**GEMM, "block_dim": 24}]}, titles=titles)
    assert (m.value, found) == (10.5, [])


def test_ops_are_told_apart_by_type_and_blocks_too(read: Read) -> None:
    rows = [task("k", 10, 24), task("k", 20, 12), task("k", 30, 24, op_type="Other")]
    ops = [
        {"op": "k", "op_type": "MatMul", "block_dim": 24, "workload": "gemm", "configuration": {"m": 512}},
        {"op": "k", "block_dim": 12, "workload": "gemm", "configuration": {"m": 256}, "note": "half"},
        {"op_type": "Other", "workload": "stream", "platform": "ascend950pr", "task_type": "MIX_*"},
    ]
    ms, found = read(rows, {"platform": "ascend910b2", "note": "lab", "ops": ops})
    assert [(m.workload, m.value, m.note, m.platform) for m in ms] == [
        ("gemm", 10, "lab", "ascend910b2"), ("gemm", 20, "half", "ascend910b2"), ("stream", 30, "lab", "ascend950pr")
    ]  # fmt: skip
    assert found == []


def test_other_ops_are_left_out_and_counted(read: Read) -> None:
    rows = [task("gemm_v1", 10), task("Cast", 3), task("Cast", 3), task("ReLU", 3)]
    (_,), (fault,) = read(rows, {"platform": "ascend910b2", "ops": [GEMM]})
    assert (fault.row, fault.harmless) == (None, True)
    assert fault.text == "3 rows of other ops left out ('Cast', 'ReLU')"


@pytest.mark.parametrize("duration", ["N/A", "0", "-3", "", "1e99"])
def test_a_row_without_a_duration_is_left_out_by_number(duration: str, read: Read) -> None:
    rows = [task("gemm_v1", 10), task("gemm_v1", duration), task("gemm_v1", 12)]
    (m,), (fault,) = read(rows, {"platform": "ascend910b2", "ops": [GEMM]})
    assert (m.repeats, m.value) == (2, 11)
    assert str(fault).startswith("row 3: its task duration is")


def test_a_row_that_two_entries_take_is_left_out(read: Read) -> None:
    rows = [task("gemm_v1", 10), task("gemm_v2", 12)]
    ops = [{**GEMM, "op": "gemm_*"}, {**GEMM, "op": "*_v2"}]
    (m,), (row, entry) = read(rows, {"platform": "ascend910b2", "ops": ops})
    assert m.value == 10
    assert str(row).startswith("row 3: entry 1 of the map (op 'gemm_*') and entry 2 of the map")
    assert str(entry).startswith("entry 2 of the map (op '*_v2') fits no usable row")
    assert not entry.harmless


def test_an_entry_that_skips_all_its_rows_says_so(read: Read) -> None:
    ms, (fault,) = read([task("gemm_v1", 10)], {"platform": "ascend910b2", "ops": [{**GEMM, "skip_first": 5}]})
    assert ms == []
    assert "skips all that it fits, row 2: lower skip_first" in fault.text


def test_what_an_entry_says_wrongly_is_said_once_with_its_rows(read: Read) -> None:
    ops = [{**GEMM, "configuration": {"fifo_depth": 8, "m": 1}}]
    ms, found = read([task("gemm_v1", 10), task("gemm_v1", 11)], {"platform": "ascend910b2", "ops": ops})
    assert ms == []
    assert [str(fault).partition(": ")[0] for fault in found] == [
        "entry 1 of the map (op 'gemm_v1*'), rows 2 and 3"
    ] * 2
    assert "no problem size or tunable 'fifo_depth'" in found[0].text
    assert "m = 1 is out of range" in found[1].text


def test_arguments_stand_in_for_what_the_map_leaves_open(read: Read) -> None:
    ops = [{"op": "gemm_v1", "configuration": {"m": 512}}]
    (m,), _ = read([task("gemm_v1", 10)], {"ops": ops}, workload="gemm", platform="ascend910b2", timing="profiler")
    assert (m.workload, m.platform, m.timing) == ("gemm", "ascend910b2", "task")


@pytest.mark.parametrize(
    ("mapping", "sentences"),
    [
        ("{", ["it is no JSON"]),
        ("[]", ["write an object"]),
        ('{"ops": [], "ops": []}', ["gives 'ops' twice"]),
        ({}, ['"ops" must be a list of entries']),
        ({"ops": {}}, ['"ops" must be a list of entries']),
        ({"op": [], "soc": 3, "ops": [GEMM]}, ["the map has no 'op'", "the map: soc is '3', it must be a text"]),
        ({"ops": [3]}, ["entry 1 is no object"]),
        (
            {"ops": [{"workload": "gemm"}, {"op": "", "time": 3}]},
            ["entry 1 chooses no rows", "entry 2 has no 'time'", "entry 2 chooses"],
        ),
        ({"ops": [{**GEMM, "skip_first": -1}]}, ["entry 1: skip_first is '-1'"]),
        ({"ops": [{**GEMM, "block_dim": "24"}]}, ["entry 1: block_dim is '24'"]),
        ({"ops": [{**GEMM, "skip_first": True}]}, ["entry 1: skip_first is 'True'"]),
        ({"ops": [{**GEMM, "configuration": []}]}, ["entry 1: configuration must be an object"]),
        ({"ops": [{**GEMM, "configuration": {"m": [1]}}]}, ["entry 1: 'm' is a list or an object"]),
        ({"ops": [{**GEMM, "configuration": {"time_us": 3}}]}, ["'time_us' is no problem size or tunable"]),
        ({"ops": [{**GEMM, "op": "x" * 201}]}, ["op has 201 characters, at most 200"]),
    ],
)
def test_a_map_with_faults_is_refused_with_all_of_them(mapping: Any, sentences: list[str], read: Read) -> None:
    with pytest.raises(MeasurementFileError) as caught:
        read([task("gemm_v1", 10)], mapping)
    lines = str(caught.value).splitlines()
    assert len(lines) == len(sentences)
    for line, sentence in zip(lines, sentences, strict=True):
        assert "ops.json: " in line
        assert sentence in line


def test_a_summary_needs_a_map_and_the_simple_form_none(tmp_path: Path, read: Read) -> None:
    path = tmp_path / "s.csv"
    path.write_text(f"{SUMMARY}\n{task('k', 10)}\n")
    with pytest.raises(MeasurementFileError, match=r"is a summary of the profiler.*give --map FILE"):
        read_measurements(path)
    with pytest.raises(MeasurementFileError, match=r"is no summary of the profiler.*leave out --map"):
        read(["gemm,5"], {"ops": [GEMM]}, titles="workload,time_us")


def test_a_summary_is_of_the_profilers_protocol(read: Read) -> None:
    with pytest.raises(MeasurementFileError, match="holds task durations: --timing event does not fit"):
        read([task("gemm_v1", 10)], {"platform": "ascend910b2", "ops": [GEMM]}, timing="event")
