"""The comments of a pipe: what a kernel has to do that no compiler can check."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pto_tune.exporters.header import render_header
from pto_tune.exporters.notes import WIDTH, buffer_bases, pipe_notes, wrapped
from pto_tune.exporters.recommendation import PipeCall, PipeRecommendation, PipeWay, Recommendation
from pto_tune.model.nodes import TConfig

Make = Callable[..., Recommendation]
MakePipe = Callable[..., PipeRecommendation]
Compile = Callable[..., str]

GOLDEN = Path(__file__).parent / "golden"
IN_GM, IN_UB, IN_L1 = PipeWay("C2V", "GM", 1024), PipeWay("C2V", "UB", 4096), PipeWay("V2C", "L1", 8192)


@pytest.fixture
def gated(pipe: MakePipe) -> Callable[..., PipeRecommendation]:
    """A gated TMPipe into UB or L1."""

    def made(way: PipeWay = IN_UB, **changes: object) -> PipeRecommendation:
        direction = f"DIR_{way.name}" + ("_GM" if way.ring == "GM" else "")
        return pipe("t", kind="TMPipe", gated=True, ways=(way,), direction=direction, **changes)

    return made


@pytest.fixture
def every_form(recommendation: Make, pipe: MakePipe, gated: MakePipe) -> Recommendation:
    """A configuration of Ascend 950 with one pipe of each form; figures made up."""
    both = (
        PipeWay("C2V", "UB", 65536, (PipeCall("AIC", "TPUSH", "TileData", ("TILE_NO_SPLIT",)),)),
        PipeWay("V2C", "L1", 65536, (PipeCall("AIV0", "TPUSH", "TileData", ("TILE_NO_SPLIT",)),)),
    )
    stored = (
        PipeCall("AIC", "TPUSH", "TileData", ("TILE_LEFT_RIGHT_ODD",), config=0),
        PipeCall("AIC", "TPUSH", "TileData", ("TILE_LEFT_RIGHT_ODD",), config=1),
        PipeCall("AIV", "TPOP", "TileData", ("TILE_LEFT_RIGHT_ODD",)),
    )
    return recommendation(
        workload="every form",
        interval_us=None,
        samples=0,
        platform="ascend950pr",
        soc="Ascend 950PR",
        family="a5",
        rule_set="a5",
        revisions=("1d873362 (2026-06-24) up to 8d74fb38 (2026-07-16)",),
        warnings=("FIFO gated: the kernel has to call setTileId before every push and pop (npu/a5/TPush.hpp:1296)",),
        pipes=(
            pipe("both", direction="DIR_BOTH", ways=both, split="TILE_NO_SPLIT", is_no_split=True, en_unit_flag=False),
            pipe("out", flag_id=4, direction="DIR_C2V_GM", ways=(PipeWay("C2V", "GM", 49152, stored),),
                 split="TILE_LEFT_RIGHT_ODD", switches_off=("allocate", "free"),
                 configs=(TConfig(quant="F322F16"), TConfig(layout="NZ2NZ", quant="QF322B8_PRE", relu="NormalRelu",
                                                            phase="Final", sub_block_id=1, atomic="AtomicAdd"))),
            gated(PipeWay("V2C", "L1", 32768, (PipeCall("AIV", "TPUSH", "TileData", simplified=True),)), flag_id=6,
                  slot_num=8, sync_period=2),
        ),
    )  # fmt: skip


def notes(pipe: PipeRecommendation, family: str = "a5") -> str:
    return " ".join(" ".join(pipe_notes(pipe, "T", family)).split())  # type: ignore[arg-type]


def test_the_text_is_the_golden_file(every_form: Recommendation) -> None:
    assert render_header(every_form) == (GOLDEN / "every_form.hpp").read_text(encoding="utf-8")


def test_every_form_compiles(every_form: Recommendation, compiler_says: Compile) -> None:
    claims = (
        "std::is_same_v<BothPipe, pto::TPipe<0, pto::DIR_BOTH, 131072, 8, 2, true, false>>",
        "std::is_same_v<OutPipe, pto::TPipe<4, pto::DIR_C2V_GM, 131072, 8, 2, false, true>>",
        "std::is_same_v<TPipe<int, char>, pto::TMPipe<6, pto::FIFOType::MAT_FIFO, 8, 2, int, char, true, 2>>",
        "Out_AtomicT2 == pto::AtomicType::AtomicAdd && Out_Phase2 == pto::STPhase::Final && Out_SubBlockId2 == 1",
        "Out_GM_SLOT_BUFFER_Bytes == 1048576 && T_fifoBase_Bytes == 32768",
    )
    checks = "".join(f"static_assert({claim});\n" for claim in claims)
    after = f"#include <type_traits>\nusing namespace pto_tune_config;\n{checks}"
    assert compiler_says(render_header(every_form), family="a5", after=after) == ""


def test_a_gated_tmpipe_says_when_to_gate_and_what_is_left(gated: MakePipe) -> None:
    said = notes(gated())
    assert "before TPUSH of tile i: prod.setAllocateStatus(T_AllocateGate(i))" in said
    assert "which is i >= T_FiFoDepth && i % T_FiFoSyncT == 0" in said
    assert "before TFREE of tile i: cons.setFreeStatus(T_FreeGate(i)) which is (i + 1) % T_FiFoSyncT == 0" in said
    assert "after the last of n tiles: prod.allocate() T_CreditsLeft(n) times" in said
    assert "the credit that the constructor sends as one that stays" in said


@pytest.mark.parametrize(
    ("way", "family", "call"),
    [(IN_GM, "a2a3", "TPOP"), (IN_GM, "a5", "TPOP"), (IN_UB, "a5", "TFREE"), (IN_L1, "a5", "TFREE")],
)
def test_the_call_that_gives_space_is_named(way: PipeWay, family: str, call: str, gated: MakePipe) -> None:
    assert f"before {call} of tile i: cons.setFreeStatus" in notes(gated(way), family)


def test_a_switch_that_stays_off_is_not_gated(gated: MakePipe) -> None:
    said = notes(gated(switches_off=("free",)))
    assert "prod.setAllocateStatus(T_AllocateGate(i))" in said
    assert "before TFREE" not in said
    assert "T_FreeGate" not in said
    assert "T_CreditsLeft" not in said
    assert "cons.setFreeStatus(false)" in said


def test_constructors_take_the_bases_of_the_pipe(pipe: MakePipe, gated: MakePipe) -> None:
    def shown(made: PipeRecommendation) -> list[tuple[str, str, int]]:
        return [(base.argument, base.constant, base.bytes) for base in buffer_bases(made, "T", "a5")]

    assert shown(pipe(ways=(IN_UB, IN_L1))) == [
        ("GM_SLOT_BUFFER", "", 0),
        ("C2V_CONSUMER_BUF", "T_C2V_CONSUMER_BUF_Bytes", 4096),
        ("V2C_CONSUMER_BUF", "T_V2C_CONSUMER_BUF_Bytes", 8192),
    ]
    assert shown(gated(IN_L1)) == [("fifoBase", "T_fifoBase_Bytes", 8192)]
    assert shown(gated(IN_GM, slot_bytes=64)) == [
        ("gmFiFoBase", "T_gmFiFoBase_Bytes", 512),
        ("localFiFoBase", "T_localFiFoBase_Bytes", 1024),
    ]
    assert shown(gated(PipeWay("C2V", "GM", 0)))[1] == ("localFiFoBase", "", 0)


def test_the_one_sub_core_that_takes_part_has_the_ring(pipe: MakePipe) -> None:
    alone = pipe(ways=(IN_UB,), is_no_split=True)
    assert "of UB of AIV0: the ring" in notes(alone, "a5")
    assert "AIV0 alone constructs the pipe" in notes(alone, "a5")
    assert "AIV0 alone" not in notes(alone, "a2a3") + notes(pipe(ways=(IN_UB,)), "a5")


def test_lines_are_short(every_form: Recommendation) -> None:
    for made in every_form.pipes:
        assert all(len(line) <= WIDTH for line in pipe_notes(made, made.name.capitalize(), "a5"))
    lines = wrapped("warning", "words " * 60)
    assert all(len(line) <= WIDTH for line in lines)
    assert [line[:12].strip() for line in lines] == ["warning"] + [""] * (len(lines) - 1)
    assert " ".join(" ".join(lines).split()) == "warning " + ("words " * 60).strip()
