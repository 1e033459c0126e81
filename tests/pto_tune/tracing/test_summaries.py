"""Busy times of pipes from the profiler's summaries."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pto_tune.tracing.naming import TraceError
from pto_tune.tracing.summaries import read_summary

Write = Callable[..., Path]
SUMMARY = (
    "Op Name,OP Type,Task Duration(us),Block Dim,aicore_time(us),aic_mac_time(us),aic_scalar_time(us),"
    "aic_mte1_time(us),aic_mte2_time(us),aic_fixpipe_time(us),aiv_time(us),aiv_vec_time(us),aiv_mte2_time(us),"
    "aiv_mte3_time(us)"
)
ROW = "{name},mix,{duration},24,80.0,40.0,9.0,20.0,30.0,10.0,85.0,60.0,15.0,{mte3}"
UTILIZATION = "block_id,sub_block_id,aic_time(us),aiv_time(us),aiv_vec_time(us),aic_cube_time(us),aic_mte2_time(us)"


def test_an_op_summary_has_means_of_its_rows(write: Write) -> None:
    rows = [ROW.format(name="fa_1", duration=d, mte3=m) for d, m in ((90, 5), (100, 7))]
    found = read_summary(write("\n".join([SUMMARY, *rows]), "op_summary_1.csv"))
    assert found.busy_us == {
        "AIC.M": 40, "AIC.MTE1": 20, "AIC.MTE2": 30, "AIC.FIX": 10, "AIV.V": 60, "AIV.MTE2": 15, "AIV.MTE3": 6,
    }  # fmt: skip
    assert (found.duration_us, found.rows) == (95, 2)


def test_one_op_of_several_has_to_be_named(write: Write) -> None:
    rows = [ROW.format(name=name, duration=90, mte3=5) for name in ("fa_1", "fa_2", "gemm")]
    path = write("\n".join([SUMMARY, *rows]), "op_summary_1.csv")
    with pytest.raises(TraceError, match="has several ops: name the one to compare, of 'fa_1', 'fa_2', 'gemm'"):
        read_summary(path)
    assert read_summary(path, "FA_*").rows == 2
    with pytest.raises(TraceError, match="has no op 'mm'; it has 'fa_1'"):
        read_summary(path, "mm")


def test_a_row_a_core_keeps_the_vector_cores_apart(write: Write) -> None:
    rows = ["0,cube0,10,0,0,8,4", "0,vector0,0,11,6,0,0", "0,vector1,NA,11,7,NA,", "1,cube0,10,0,0,6,2"]
    found = read_summary(write("\n".join([UTILIZATION, *rows]), "PipeUtilization.csv"))
    assert found.busy_us == {"AIC.M": 7, "AIC.MTE2": 3, "AIV0.V": 6, "AIV1.V": 7}
    assert found.duration_us is None
    with pytest.raises(TraceError, match="has no column 'Op Name'"):
        read_summary(write("\n".join([UTILIZATION, *rows]), "PipeUtilization.csv"), "fa")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "Op Name,Task Duration(us)\nfa,3",
            r"has no busy time of a pipe: expected columns such as aic_mte2_time\(us\)",
        ),
        (
            f"{SUMMARY}\n{ROW.format(name='a', duration='soon', mte3=1)}",
            r"Task Duration\(us\) is 'soon': expected micro",
        ),
        (f"{SUMMARY}\n{ROW.format(name='a', duration=1, mte3=-1)}", r"row 2: aiv_mte3_time\(us\) is '-1'"),
        (f"{SUMMARY}\na,b", "it has 2 cells and there are 14 titles"),
        ("", "has no rows"),
        ("[]", "is one JSON list"),
        ('"', "is no CSV"),
    ],
)
def test_what_cannot_be_used_is_said_in_a_sentence(text: str, sentence: str, write: Write) -> None:
    with pytest.raises(TraceError, match=sentence) as refused:
        read_summary(write(text, "x.csv"))
    assert len(str(refused.value).splitlines()) == 1
