"""A recommendation to start from, and a compiler to hold its header against."""

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pto_tune.exporters.recommendation import PipeCall, PipeRecommendation, PipeWay, Recommendation

STUB = Path(__file__).parent / "stub" / "pto_stub.hpp"


RINGS = {"a2a3": {"C2V": "GM", "V2C": "GM"}, "a5": {"C2V": "UB", "V2C": "L1"}}
GLOBAL_CALLS = (("TALLOC", "TPUSH"), ("TPOP", "TFREE"))


def _ways(direction: str, family: str) -> tuple[PipeWay, ...]:
    """The ways of a direction, with the calls of the GlobalData flow."""
    found = []
    for way, cores in (("C2V", ("AIC", "AIV")), ("V2C", ("AIV", "AIC"))):
        if way in direction or "BOTH" in direction:
            calls = [PipeCall(c, i, "GlobalData") for c, side in zip(cores, GLOBAL_CALLS, strict=True) for i in side]
            ring = "GM" if direction.endswith("_GM") else RINGS[family][way]
            found.append(PipeWay(way, ring, 0, tuple(calls)))  # type: ignore[arg-type]
    return tuple(found)


def _pipe(name: str = "qk", *, family: str = "a2a3", **changes: object) -> PipeRecommendation:
    changes.setdefault("ways", _ways(str(changes.get("direction", "DIR_C2V")), family))
    pipe = PipeRecommendation(
        name=name,
        flag_id=0,
        direction="DIR_C2V",
        slot_bytes=131072,
        slot_num=8,
        sync_period=4,
        local_slot_num=2,
        is_no_split=False,
        en_unit_flag=True,
        split="TILE_UP_DOWN",
        ways=(),
    )
    return replace(pipe, **changes)  # type: ignore[arg-type]


def _recommendation(**changes: object) -> Recommendation:
    """Flash Attention with its three pipes; figures made up, in the order of size of real ones."""
    rec = Recommendation(
        workload="flash_attention",
        platform="ascend910b2",
        soc="Ascend910B2",
        family="a2a3",
        rule_set="a2a3",
        pto_isa=None,
        run=3,
        configuration={"cube_s0": 128, "fifo_depth": 8, "split": "TILE_UP_DOWN"},
        problem={"s0": 4096, "s1": 4096, "head": 128, "causal": 0},
        constants={"cube_s0": 128, "CUBE_S1": 128, "tile_s1": 256, "qk_preload": 4},
        pipes=(
            _pipe("qk"),
            _pipe("p", flag_id=2, direction="DIR_V2C", slot_bytes=65536, en_unit_flag=False),
            _pipe("pv", flag_id=4, slot_bytes=65536, slot_num=2, sync_period=2, split="TILE_NO_SPLIT"),
        ),
        predicted_us=88.9,
        interval_us=(84.25, 101.5),
        samples=64,
        predicted_cycles=139860,
        timing="task",
        versions={"pto-tune": "0.1.0", "numpy": "2.4.0"},
        platform_sha256="ab" * 32,
        verdict="ok",
    )
    return replace(rec, **changes)  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def pipe() -> Callable[..., PipeRecommendation]:
    return _pipe


@pytest.fixture(scope="session")
def recommendation() -> Callable[..., Recommendation]:
    return _recommendation


@pytest.fixture(scope="session")
def compiler_says() -> Callable[..., str]:
    """Compile a header for a family behind the stand-in of the library and return the errors, '' for none."""
    compiler = shutil.which("g++")
    if compiler is None:
        if os.environ.get("CI") == "true":
            pytest.fail("g++ is missing: the exported header has to be compiled here")
        pytest.skip("g++ is missing")

    def check(header: str, *options: str, library: bool = True, after: str = "", family: str = "a2a3") -> str:
        flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
        include = ["-include", str(STUB)] if library else []
        if family == "a5":
            include += ["-DPTO_NPU_ARCH_A5"]
        done = subprocess.run(
            [compiler, *flags, *include, *options, "-x", "c++", "-"],
            input=(header + after).encode(),
            capture_output=True,
            timeout=120,
            check=False,
        )
        errors = done.stderr.decode(errors="replace")
        assert (done.returncode == 0) == (errors == "")
        return errors

    return check


def _flash(**changes: object) -> Recommendation:
    """Flash attention as the public scripts can run it."""
    values = {"cube_s0": 128, "cube_s1": 128, "tile_s1": 256, "qk_preload": 4, "fifo_depth": 8, "pv_fifo_depth": 0,
              "sync_period": 0, "split": "UP_DOWN"}  # fmt: skip
    return _recommendation(**{"configuration": values, "codes": {"split": 1}, **changes})


@pytest.fixture(scope="session")
def flash() -> Callable[..., Recommendation]:
    return _flash
