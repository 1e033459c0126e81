"""Which pipe a name means."""

from __future__ import annotations

import pytest

from pto_tune.tracing.naming import Names, Place, TraceError, rules_of

PIPES = ("AIC.MTE2", "AIC.MTE1", "AIC.M", "AIC.FIX", "AIV0.MTE2", "AIV0.V", "AIV0.MTE3", "AIV1.V")


@pytest.mark.parametrize(
    ("process", "thread", "event", "place"),
    [
        # the simulator of msprof op
        ("core0.cubecore0", "CUBE", "MMAD", Place("core0", "AIC.M")),
        ("core0.cubecore0", "FIXP", "FIX_L0C_TO_DST", Place("core0", "AIC.FIX")),
        ("core12.veccore1", "VECTOR", "VADD", Place("core12", "AIV1.V")),
        ("core0.veccore0", "RVECEX", "VADD", Place("core0", "AIV0.V")),
        # msprof with instruction profiling: the event is the pipe
        ("Biu Perf", "Group0-aic", "MTE1", Place("group0", "AIC.MTE1")),
        ("Biu Perf", "Group3-aiv0", "MTE3", Place("group3", "AIV0.MTE3")),
        # this project, alone and with ranks
        ("AIC", "M", "TMATMUL", Place("", "AIC.M")),
        ("rank 1 block 0 AIV0", "MTE2", "TPUT TLOAD", Place("rank 1 block 0", "AIV0.MTE2")),
        # names in full, and a pipe that only one core has
        ("", "AIV1.V", "exp", Place("", "AIV1.V")),
        ("kernel", "aic.mte2", "load", Place("", "AIC.MTE2")),
        ("kernel", "PIPE_FIX", "store", Place("", "AIC.FIX")),
    ],
)
def test_names_that_are_known(process: str, thread: str, event: str, place: Place) -> None:
    assert Names(PIPES).place(process, thread, event) == place


def test_the_folder_names_the_core_where_the_process_is_the_pipe() -> None:
    for process in ("VECTOR", "05_VEC"):
        assert Names(PIPES, folder="core0.veccore1").place(process, "0", "VADD") == Place("core0", "AIV1.V")


@pytest.mark.parametrize(
    ("process", "thread", "event"),
    [
        ("core0.cubecore0", "SCALAR", "MOVK"),
        ("core0.veccore0", "CACHEMISS", "miss"),
        ("core0.veccore0", "MTE2", "WAIT_FLAG"),
        ("AIC", "S", "wait TPOP qk"),
        ("", "AIV0.S", "wait"),
    ],
)
def test_scalars_waits_and_flags_are_no_work(process: str, thread: str, event: str) -> None:
    assert Names(PIPES).place(process, thread, event) is None


@pytest.mark.parametrize(
    ("process", "thread", "event"),
    [
        ("Ascend Hardware", "Stream 3", "MatMul"),
        ("kernel", "MTE2", "load"),
        ("Cube", "loads", "V"),
        ("", "", ""),
        ("x" * 10_000, "y", "z"),
    ],
)
def test_what_nothing_says_is_no_pipe(process: str, thread: str, event: str) -> None:
    # MTE2 without a core could be of three
    assert Names(PIPES).place(process, thread, event) == Place("", "")


def test_wishes_come_first_and_take_patterns() -> None:
    names = Names(PIPES, rules_of(["Cube MTE2=AIC.MTE2", "vec*=AIV0.V", "a=b=AIC.M", "MTE1=-"], PIPES))
    assert names.place("p", "cube mte2", "x") == Place("", "AIC.MTE2")
    assert names.place("Cube", "MTE2", "x") == Place("", "AIC.MTE2")
    assert names.place("core1.veccore1", "VECTOR", "x") == Place("core1", "AIV0.V")
    assert names.place("p", "a=b", "x") == Place("", "AIC.M")
    assert names.place("core0.cubecore0", "MTE1", "x") is None


def test_wishes_that_are_none_are_all_named() -> None:
    with pytest.raises(TraceError) as refused:
        rules_of(["MTE2", "=AIC.M", "x=AIC.MTE9", f"{'y' * 300}=AIC.M"], PIPES)
    lines = str(refused.value).splitlines()
    assert len(lines) == 4
    assert "is not NAME=PIPE" in lines[0]
    assert "names no pipe of this workload: it has AIC.MTE2, AIC.MTE1" in lines[2]
