"""One header for several problem sizes: a choice by shape, at compile time and at run time."""

from collections.abc import Callable

import pytest

from pto_tune.exporters.checks import ExportError
from pto_tune.exporters.formats import Options, format_named, render
from pto_tune.exporters.recommendation import PipeRecommendation, Recommendation
from pto_tune.model.nodes import TConfig

Make = Callable[..., Recommendation]
MakePipe = Callable[..., PipeRecommendation]
Compile = Callable[..., str]

HEADER = format_named("header")


@pytest.fixture
def sizes(recommendation: Make, pipe: MakePipe) -> list[Recommendation]:
    small = recommendation(
        problem={"s0": 1024, "s1": 1024, "mode": "fast"}, codes={"mode": 1}, constants={"cube_s0": 64},
        pipes=(pipe("qk", slot_num=4, sync_period=2),),
    )  # fmt: skip
    large = recommendation(
        problem={"s1": 4096, "s0": 4096, "mode": "slow"}, codes={"mode": 0}, constants={"cube_s0": 128, "tile": 7},
        pipes=(pipe("qk", configs=(TConfig(), TConfig(relu="NormalRelu"))),
               pipe("t", kind="TMPipe", gated=True, flag_id=4, slot_num=8, sync_period=2)),
    )  # fmt: skip
    return [small, large]


CLAIMS = """
#include <type_traits>
using namespace pto_tune_config;
static_assert(ShapeCount == 2 && IndexOf(1, 1024, 1024) == 0 && IndexOf(0, 4096, 4096) == 1);
static_assert(IndexOf(0, 1024, 1024) == ShapeCount);
using Small = ForShape<1, 1024, 1024>;
using Large = ForShape<0, 4096, 4096>;
static_assert(Small::Index == 0 && Small::CUBE_S0 == 64 && Small::Qk_FifoDepth == 4 && Small::Qk_SyncPeriod == 2);
static_assert(Large::Index == 1 && Large::CUBE_S0 == 128 && Large::TILE == 7 && Large::Qk_FifoDepth == 8);
static_assert(std::is_same_v<Small::QkPipe, pto::TPipe<0, pto::DIR_C2V, 131072, 4, 2, false, true>>);
static_assert(std::is_same_v<Large::TPipe<int, char>,
              pto::TMPipe<4, pto::FIFOType::GM_FIFO, 8, 2, int, char, true, 2>>);
static_assert(Large::T_AllocateGate(8) && !Large::T_AllocateGate(7) && Large::T_FreeGate(1));
static_assert(Large::Qk_ReluMode2 == pto::ReluPreMode::NormalRelu && Large::QkTConfig1::SubBlockId == 0);
static_assert(Small::Qk_Split == pto::TILE_UP_DOWN);
inline std::size_t found(std::size_t s) { return IndexOf(1, s, s); }
"""


def test_each_size_has_its_own_constants_and_pipes(sizes: list[Recommendation], compiler_says: Compile) -> None:
    text = render(HEADER, sizes)
    assert compiler_says(text, after=CLAIMS) == ""
    assert compiler_says(text, after=text) == ""
    assert "pto_tune_config::ForShape<MODE, S0, S1>" in text


def test_a_size_that_is_not_there_does_not_compile(sizes: list[Recommendation], compiler_says: Compile) -> None:
    text = render(HEADER, sizes)
    said = compiler_says(text, after="static_assert(pto_tune_config::ForShape<1, 8, 8>::Qk_FifoDepth == 4);\n")
    assert "no configuration was exported for this problem size" in said


def test_the_period_of_every_size_is_checked(sizes: list[Recommendation], compiler_says: Compile) -> None:
    said = compiler_says(render(HEADER, sizes), "-DPTO_STUB_FULL_PERIOD")
    assert "the recommended 2" in said
    assert "the recommended 4" in said


def test_a_single_size_is_a_choice_where_asked(sizes: list[Recommendation], compiler_says: Compile) -> None:
    text = render(HEADER, sizes[:1], Options(by_shape=True, namespace="a::b"))
    assert compiler_says(text, after="static_assert(a::b::ForShape<1, 1024, 1024>::CUBE_S0 == 64);\n") == ""
    assert "ForShape" not in render(HEADER, sizes[:1])


def test_the_order_of_the_sizes_is_that_of_the_runs_and_the_bytes_are_the_same(sizes: list[Recommendation]) -> None:
    assert render(HEADER, sizes) == render(HEADER, sizes)
    assert render(HEADER, sizes) != render(HEADER, sizes[::-1])


def test_sizes_of_other_kernels_or_chips_are_refused_all_at_once(recommendation: Make) -> None:
    first = recommendation()
    with pytest.raises(ExportError) as refused:
        render(HEADER, [first, recommendation(workload="other", platform="ascend910b1")])
    assert str(refused.value).splitlines() == [
        "a header that chooses by shape is of one workload, not of flash_attention and other",
        "a header that chooses by shape is of one platform, not of ascend910b2 and ascend910b1",
        "configurations 1 and 2 are both of s0 = 4096, s1 = 4096, head = 128, causal = 0: a header chooses by shape, "
        "so one for each problem size would be right",
    ]


def test_a_workload_without_sizes_has_no_choice(recommendation: Make) -> None:
    with pytest.raises(ExportError, match="no problem sizes to choose by"):
        render(HEADER, [recommendation(problem={})], Options(by_shape=True))


@pytest.mark.parametrize("name", ["größe", "a$", "NULL"])
def test_sizes_whose_names_are_no_identifiers_are_refused(name: str, recommendation: Make) -> None:
    with pytest.raises(ExportError, match="gives no C\\+\\+ identifier"):
        render(HEADER, [recommendation(problem={name: 1})], Options(by_shape=True))


@pytest.mark.parametrize(("depth", "period"), [(8, 2), (4, 4), (1, 1), (6, 3), (9, 3)])
def test_the_gates_are_those_of_depth_and_period(
    depth: int, period: int, recommendation: Make, pipe: MakePipe, compiler_says: Compile
) -> None:
    gated = pipe("t", kind="TMPipe", gated=True, slot_num=depth, sync_period=period)
    claims = []
    for n in range(30):
        waits = [i >= depth and i % period == 0 for i in range(n + 1)]
        gives = (n + 1) % period == 0
        left = max(n // period - sum(waits[:n]), 0)
        claims.append(
            f"T_AllocateGate({n}) == {str(waits[n]).lower()} && T_FreeGate({n}) == {str(gives).lower()} && "
            f"T_CreditsLeft({n}) == {left}"
        )
    checks = "using namespace pto_tune_config;\n" + "".join(f"static_assert({claim});\n" for claim in claims)
    assert compiler_says(render(HEADER, [recommendation(pipes=(gated,))]), after=checks) == ""


def test_a_period_that_does_not_divide_the_depth_does_not_compile(
    recommendation: Make, pipe: MakePipe, compiler_says: Compile
) -> None:
    gated = pipe("t", kind="TMPipe", gated=True, slot_num=8, sync_period=2)
    text = render(HEADER, [recommendation(pipes=(gated,))])
    said = compiler_says(text.replace("T_FiFoSyncT = 2;", "T_FiFoSyncT = 3;"))
    assert "has to be a multiple of FiFoSyncT" in said
