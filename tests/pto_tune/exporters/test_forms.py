"""Headers of the built-in workloads on both families: every form of a pipe that they have compiles and says its own."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import pytest

from pto_tune import api
from pto_tune.exporters.header import render_header

Compile = Callable[..., str]

PLATFORMS = {"a2a3": "ascend910b2", "a5": "ascend950pr"}
SMALL_FLASH = {"s0": 128, "s1": 1024}


@cache
def _header(workload: str, family: str, values: tuple[tuple[str, int], ...], pto_isa: str | None) -> str:
    return render_header(api.recommendation(workload, dict(values), PLATFORMS[family], pto_isa))


def header(workload: str, family: str, values: Mapping[str, int] | None = None, pto_isa: str | None = None) -> str:
    return _header(workload, family, tuple(sorted((values or {}).items())), pto_isa)


def comments(text: str) -> str:
    """All comments of a header on one line, so that it does not matter where they break."""
    return " ".join(" ".join(line.removeprefix("//").split()) for line in text.splitlines() if line.startswith("//"))


def tile_stream(family: str, **values: int) -> str:
    return header("stream", family, {"flow": 1, "tiles": 16, "slot_bytes": 8192, "fifo_depth": 4, **values})


@pytest.mark.parametrize("family", PLATFORMS)
@pytest.mark.parametrize(
    ("workload", "values"),
    [
        ("flash_attention", SMALL_FLASH),
        ("paged_attention", {}),
        ("matmul_epilogue", {}),
        ("dequant_matmul", {}),
        ("bidirectional", {}),
        ("stream", {}),
        ("gemm", {}),
    ],
)
def test_every_workload_compiles_for_its_family_alone(
    workload: str, values: Mapping[str, int], family: str, compiler_says: Compile
) -> None:
    text = header(workload, family, values)
    other = next(f for f in PLATFORMS if f != family)
    assert compiler_says(text, family=family) == ""
    said = compiler_says(text, family=other)
    if workload == "gemm":  # has no pipe
        assert said == ""
    else:
        assert "error" in said
        assert "Ascend 950" in said


@pytest.mark.parametrize(
    ("workload", "family", "claims"),
    [
        ("flash_attention", "a2a3", ["pto::TPipe<0, pto::DIR_C2V, 131072, 8, 2, false, true>"]),
        ("flash_attention", "a5", ["pto::TPipe<0, pto::DIR_C2V_GM, 131072, 8, 2, false, true>"]),
        ("matmul_epilogue", "a2a3", ["pto::TPipe<0, pto::DIR_C2V, 32768, 4, 2, false, false>"]),
        ("matmul_epilogue", "a5", ["pto::TPipe<0, pto::DIR_C2V_GM, 32768, 4, 2, false, false>"]),
        ("dequant_matmul", "a2a3", ["pto::TPipe<0, pto::DIR_V2C, 32768, 4, 2, false, false>"]),
        ("dequant_matmul", "a5", ["pto::TPipe<0, pto::DIR_V2C, 32768, 4, 2, false, false>"]),
        ("bidirectional", "a2a3", ["pto::TPipe<0, pto::DIR_BOTH, 32768, 4, 2, false, false>"]),
        ("bidirectional", "a5", ["pto::TPipe<0, pto::DIR_BOTH, 32768, 4, 2, false, false>"]),
        (
            "paged_attention",
            "a5",
            [
                "pto::TPipe<0, pto::DIR_C2V, 16384, 2, 2, false, false>",
                "pto::TPipe<2, pto::DIR_V2C, 8192, 2, 2, false, false>",
                "pto::TPipe<4, pto::DIR_C2V, 32768, 2, 2, false, false>",
            ],
        ),
    ],
)
def test_the_direction_is_the_one_that_the_family_has(
    workload: str, family: str, claims: list[str], compiler_says: Compile
) -> None:
    values = SMALL_FLASH if workload == "flash_attention" else {}
    text = header(workload, family, values) + "#include <type_traits>\nusing namespace pto_tune_config;\n"
    names = {"flash_attention": ["Qk"], "paged_attention": ["Qk", "P", "Pv"], "bidirectional": ["Both"]}
    prefixes = names.get(workload, ["Out" if workload == "matmul_epilogue" else "W"])
    for prefix, claim in zip(prefixes, claims, strict=True):
        errors = compiler_says(text, family=family, after=f"static_assert(std::is_same_v<{prefix}Pipe, {claim}>);\n")
        assert errors == ""


def test_both_ways_need_two_rings_in_gm_on_a2a3() -> None:
    text = header("bidirectional", "a2a3")
    assert "Both_GM_SLOT_BUFFER_Bytes = 262144;" in text  # 2 x 4 x 32768
    assert "Both_C2V_CONSUMER_BUF_Bytes = 65536;" in text  # LocalSlotNum slots of popped tiles
    assert "Both_V2C_CONSUMER_BUF_Bytes = 65536;" in text
    said = comments(text)
    assert (
        "GM_SLOT_BUFFER: Both_GM_SLOT_BUFFER_Bytes of GM for each block: the C2V ring, behind it the V2C ring" in said
    )
    assert "C2V_CONSUMER_BUF: Both_C2V_CONSUMER_BUF_Bytes of UB of each vector sub-core: popped tiles" in said


def test_both_ways_have_their_rings_in_local_memory_on_950() -> None:
    text = header("bidirectional", "a5")
    assert "GM_SLOT_BUFFER_Bytes" not in text
    assert "Both_C2V_CONSUMER_BUF_Bytes = 131072;" in text  # SlotNum slots
    assert "Both_V2C_CONSUMER_BUF_Bytes = 131072;" in text
    said = comments(text)
    assert "GM_SLOT_BUFFER: not used (nullptr)" in said
    assert "V2C_CONSUMER_BUF: Both_V2C_CONSUMER_BUF_Bytes of L1: the ring" in said


def test_tiles_popped_from_gm_are_strided_as_the_family_does() -> None:
    assert "Out_C2V_CONSUMER_BUF_Bytes = 65536;" in header("matmul_epilogue", "a2a3")  # 2 x SlotSize
    assert "Out_C2V_CONSUMER_BUF_Bytes = 32768;" in header("matmul_epilogue", "a5")  # 2 x the half that is popped


@pytest.mark.parametrize("family", PLATFORMS)
def test_the_flow_and_its_calls_are_named(family: str) -> None:
    said = comments(header("flash_attention", family, SMALL_FLASH))
    assert (
        "C2V, ring in GM: AIC calls TALLOC (GlobalData), TPUSH (GlobalData); AIV calls TPOP (GlobalData), TFREE" in said
    )
    assert "V2C, ring in GM: AIV calls TALLOC (GlobalData), TPUSH (GlobalData); AIC calls TPOP" in said
    assert "V2C_CONSUMER_BUF: not used (0)" in said
    ring = "GM" if family == "a2a3" else "L1"
    said = comments(header("dequant_matmul", family))
    assert f"V2C, ring in {ring}: AIV calls TPUSH (TileData); AIC calls TPOP (TileData), TFREE (TileData)" in said


@pytest.mark.parametrize("family", PLATFORMS)
@pytest.mark.parametrize(("quant", "name"), [(0, "NoQuant"), (1, "F322F16")])
def test_the_fixpipe_configuration_stands_in_named_constants(
    quant: int, name: str, family: str, compiler_says: Compile
) -> None:
    text = header("matmul_epilogue", family, {"quant": quant, "relu": 1, "base_n": 64, "grid_n": 12})
    assert "AIC calls TPUSH (TileData, TConfig)" in comments(text)
    claims = [
        "Out_LayoutMode == pto::LayoutMode_t::NZ2ND",
        f"Out_QuantPre == {name}",
        "Out_ReluMode == pto::ReluPreMode::NormalRelu",
        "Out_Phase == pto::STPhase::Unspecified",
        "Out_SubBlockId == 0",
        "Out_AtomicT == pto::AtomicType::AtomicNone",
        "Out_ClipReluMode == pto::NOCLIP_RELU",
        "!Out_IsChannelSplit && OutTConfig::QuantPre == Out_QuantPre",
    ]
    checks = "".join(f"static_assert({claim});\n" for claim in claims)
    after = f"using namespace pto;\nusing namespace pto_tune_config;\n{checks}"
    assert compiler_says(text, family=family, after=after) == ""
    assert compiler_says(text, "-DPTO_STUB_SIMULATOR", family=family, after=after) == ""
    assert compiler_says(text, family=family, after="static_assert(pto_tune_config::Out_SubBlockId == 1);\n") != ""


def test_a_pipe_without_a_configuration_has_none() -> None:
    assert "TConfig" not in header("dequant_matmul", "a2a3")


def test_a_single_sub_core_of_950_is_is_no_split() -> None:
    text = tile_stream("a5", split=0, second_sub_core=0)
    assert "C2vTiles_IsNoSplit = true;" in text
    assert "C2vTiles_Split = pto::TileSplitAxis::TILE_NO_SPLIT;" in text
    said = comments(text)
    assert "AIV0 alone constructs the pipe and calls it: IsNoSplit." in said
    assert "AIV0 calls TPOP (TileData), TFREE (TileData)" in said


def test_both_sub_cores_take_part_otherwise() -> None:
    assert "C2vTiles_IsNoSplit = true;" in tile_stream("a2a3", split=0)
    assert "AIV0 and AIV1 both construct the pipe: its flags reach both." in comments(tile_stream("a2a3", split=0))
    assert "AIV0 and AIV1 both construct the pipe: constructor and" in comments(tile_stream("a5", split=1))


@pytest.mark.parametrize("family", PLATFORMS)
@pytest.mark.parametrize("direction", [1, 2])
@pytest.mark.parametrize("flow", [0, 1])
def test_a_stream_has_one_pipe_for_each_flow_and_direction(
    flow: int, direction: int, family: str, compiler_says: Compile
) -> None:
    if (family, flow, direction) == ("a5", 0, 2):
        with pytest.raises(ValueError, match="race"):
            tile_stream(family, flow=flow, direction=direction)  # V2C_GM
        return
    text = tile_stream(family, flow=flow, direction=direction)
    way, gm = "C2V" if direction == 1 else "V2C", "_GM" if family == "a5" and flow == 0 else ""
    assert f"pto::Direction::DIR_{way}{gm}," in text
    assert text.count("using ") == 1
    assert compiler_says(text, family=family) == ""


@pytest.mark.parametrize("family", PLATFORMS)
def test_switches_that_are_off_stand_in_a_comment(family: str) -> None:
    said = comments(tile_stream(family, tiles=1, fifo_depth=2, allocate=0, free=0))
    assert "The kernel turns switches off, offered only with the verdict ok:" in said
    assert "prod.setAllocateStatus(false) no push waits for space" in said
    assert "cons.setFreeStatus(false) no pop or release gives a credit" in said
    assert "setRecordStatus" not in said
    assert "Status" not in tile_stream(family)


@pytest.mark.parametrize("family", PLATFORMS)
def test_switches_off_are_not_offered_where_the_program_does_not_bound_the_tiles(family: str) -> None:
    with pytest.raises(ValueError, match="only configurations with verdict ok"):
        tile_stream(family, fifo_depth=2, allocate=0, free=0)


def test_warnings_stand_at_the_head() -> None:
    said = comments(tile_stream("a2a3", direction=2, split=0))
    assert "warning FIFO v2c_tiles: with NO_SPLIT AIV0 and AIV1 write the same place of the slot" in said
    assert "docs/isa/TPUSH.md:61" in said
    assert "warning" not in comments(tile_stream("a2a3", direction=2, split=1))


def test_the_revisions_that_behave_so_are_named() -> None:
    text = header("bidirectional", "a5")
    assert "// holds for   pto-isa 1d873362 (2026-06-24) up to 8d74fb38 (2026-07-16)\n" in text
    assert "// holds for   pto-isa 0a15e15c (2026-08-14) and later\n" in header("bidirectional", "a2a3")


@pytest.mark.parametrize("family", PLATFORMS)
def test_headers_without_a_period_get_no_check_of_it(family: str, compiler_says: Compile) -> None:
    text = header("stream", family, {"tiles": 16}, f"{family}-rendezvous")
    assert "C2v_SyncPeriod = 1;" in text
    assert "every push waits for the pop before it" in text
    assert compiler_says(text, "-DPTO_STUB_RENDEZVOUS", family=family) == ""
    assert "SyncPeriod" in compiler_says(header("stream", family), "-DPTO_STUB_RENDEZVOUS", family=family)


@pytest.mark.parametrize("family", PLATFORMS)
def test_a_period_of_ones_own_is_refused_with_what_it_would_take(family: str) -> None:
    (record,) = api.evaluate_records(
        "stream", {"tiles": 16, "sync_period": 2}, platform=PLATFORMS[family], accounts=False
    )
    assert record["exportable"] is False
    assert record["not_exportable_because"] == (
        "only a gated TMPipe can carry a SyncPeriod of its own (c2v: SyncPeriod 2 with FifoDepth 8, where a TPipe "
        "derives 4): its kernel gates the switches by depth and period, before its first tile takes the credit that "
        "the constructor of a TMPipe sends, and at the end leaves one to the destructor"
    )
    with pytest.raises(ValueError, match=r"cannot be exported: only a gated TMPipe .* takes the credit"):
        header("stream", family, {"tiles": 16, "sync_period": 2})
    assert "C2v_SyncPeriod = 4;" in header("stream", family, {"tiles": 16, "sync_period": 4})


def test_the_kernels_own_constants_are_there(compiler_says: Compile) -> None:
    text: Any = header("flash_attention", "a2a3", SMALL_FLASH)
    claim = "CUBE_S0 == 128 && QK_PRELOAD == 4"
    assert (
        compiler_says(text, after=f"static_assert(pto_tune_config::{claim.replace('&& ', '&& pto_tune_config::')});\n")
        == ""
    )
