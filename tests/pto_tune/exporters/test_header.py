"""The exported header: its text to the byte, and that a compiler takes it exactly when it should."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from pto_tune.exporters import header
from pto_tune.exporters.header import ExportError, render_header
from pto_tune.exporters.recommendation import PipeRecommendation, Recommendation

Make = Callable[..., Recommendation]
MakePipe = Callable[..., PipeRecommendation]
Compile = Callable[..., str]

GOLDEN = Path(__file__).parent / "golden"


def test_the_text_is_the_golden_file(recommendation: Make) -> None:
    assert render_header(recommendation()) == (GOLDEN / "flash_attention.hpp").read_text(encoding="utf-8")


def test_equal_recommendations_give_equal_bytes(recommendation: Make) -> None:
    rec = recommendation()
    turned = recommendation(
        **{
            name: dict(reversed(list(getattr(rec, name).items())))
            for name in ("configuration", "problem", "constants", "versions")
        }
    )
    assert turned == rec
    assert render_header(turned) == render_header(rec)


def test_the_first_line_is_the_hash_of_the_rest(recommendation: Make) -> None:
    first, _, rest = render_header(recommendation()).partition("\n")
    assert first.split()[-1] == hashlib.sha256(rest.encode()).hexdigest()


def test_it_compiles_behind_the_library_and_more_than_once(recommendation: Make, compiler_says: Compile) -> None:
    text = render_header(recommendation())
    assert compiler_says(text, after=text) == ""


def test_it_does_not_compile_without_the_library(recommendation: Make, compiler_says: Compile) -> None:
    assert "pto" in compiler_says(render_header(recommendation()), library=False)


def test_constants_and_aliases_have_the_recommended_values(recommendation: Make, compiler_says: Compile) -> None:
    claims = {
        "Qk_FlagID == 0": True,
        "P_FlagID == 2": True,
        "Qk_SlotSize == 131072": True,
        "Qk_FifoDepth == 8": True,
        "Qk_SyncPeriod == 4": True,
        "Pv_SyncPeriod == 2": True,
        "Qk_LocalSlotNum == 2": True,
        "Qk_EN_UNIT_FLAG && !P_EN_UNIT_FLAG": True,
        "Pv_Split == pto::TILE_NO_SPLIT": True,
        "CUBE_S0 == 128 && CUBE_S1 == 128 && TILE_S1 == 256 && QK_PRELOAD == 4": True,
        "std::is_same_v<QkPipe, pto::TPipe<0, pto::DIR_C2V, 131072, 8, 2, false, true>>": True,
        "std::is_same_v<PPipe, pto::TPipe<2, pto::DIR_V2C, 65536, 8, 2, false, false>>": True,
        "Qk_SyncPeriod == 8": False,
    }
    text = render_header(recommendation()) + "#include <type_traits>\nusing namespace pto_tune_config;\n"
    for claim, holds in claims.items():
        errors = compiler_says(text, after=f"static_assert({claim});\n")
        assert (errors == "") == holds, f"{claim}: {errors}"


def test_headers_with_another_period_rule_do_not_compile(recommendation: Make, compiler_says: Compile) -> None:
    errors = compiler_says(render_header(recommendation()), "-DPTO_STUB_FULL_PERIOD")
    assert "QkPipe: the included pto-isa derives another SyncPeriod than the recommended 4" in errors


def test_a_full_period_is_exported_for_the_headers_that_have_it(
    recommendation: Make, pipe: MakePipe, compiler_says: Compile
) -> None:
    text = render_header(recommendation(rule_set="a2a3-full-period", pipes=(pipe("qk", sync_period=8),)))
    assert compiler_says(text, "-DPTO_STUB_FULL_PERIOD") == ""
    assert "SyncPeriod" in compiler_says(text)


def test_a_period_that_slipped_through_does_not_compile(
    recommendation: Make, pipe: MakePipe, compiler_says: Compile
) -> None:
    rec = recommendation(pipes=(pipe("qk", sync_period=2),))
    with pytest.raises(ExportError, match="gated TMPipe"):
        render_header(rec)
    assert "SyncPeriod" in compiler_says(header._render(rec, "pto_tune_config"))


def test_without_pipes_the_library_is_not_needed(recommendation: Make, compiler_says: Compile) -> None:
    text = render_header(recommendation(workload="gemm", pipes=(), constants={"base_m": 128}))
    assert "pto::" not in text
    assert compiler_says(text, library=False) == ""


def test_without_anything_it_is_still_a_header(recommendation: Make, compiler_says: Compile) -> None:
    nothing = recommendation(pipes=(), constants={}, versions={}, problem={}, configuration={})
    assert compiler_says(render_header(nothing), library=False) == ""


@pytest.mark.parametrize("namespace", ["fa", "my_kernel::config", "A"])
def test_the_namespace_can_be_chosen(namespace: str, recommendation: Make, compiler_says: Compile) -> None:
    text = render_header(recommendation(), namespace)
    assert compiler_says(text, after=f"static_assert({namespace}::Qk_FifoDepth == 8);\n") == ""


def test_headers_of_different_namespaces_go_together(recommendation: Make, compiler_says: Compile) -> None:
    namespaces = ("a_b", "A_B", "a::b")
    text = "".join(render_header(recommendation(), namespace) for namespace in namespaces)
    checks = "".join(f"static_assert({namespace}::CUBE_S0 == 128);\n" for namespace in namespaces)
    assert compiler_says(text, after=checks) == ""


def test_the_provenance_is_in_the_comment(recommendation: Make) -> None:
    text = render_header(recommendation(run="weekly", pto_isa="0a15e15c"))
    for word in ("88.900 us", "139860 cycles", "task timing", "a2a3", "0a15e15c", "weekly", "ascend910b2"):
        assert word in text
    assert "numpy 2.4.0" in text
    assert "s0 = 4096" in text
    assert "verdict     ok" in text


@pytest.mark.parametrize(
    "trick",
    [
        "a\n#error broken out",
        "a\r#error broken out",
        "ends with a backslash \\",
        "trigraph ??/",
        "deeper ???/",
        "*/ int x; /*",
        "line\u2028separator",
        "bidi \u202e override",
        "lone \ud800 surrogate",
        "注意力 🚀 {{ rec }} {% raw %}",
    ],
)
def test_no_text_breaks_out_of_its_comment(trick: str, recommendation: Make, compiler_says: Compile) -> None:
    rec = recommendation(
        workload=trick,
        platform=trick,
        soc=trick,
        pto_isa=trick,
        run=trick,
        timing=trick,
        versions={trick: trick},
        problem={trick: trick},
        configuration={trick: trick},
    )
    text = render_header(rec)
    assert compiler_says(text, "-trigraphs") == ""
    plain = [line for line in text.splitlines() if not line.startswith("//")]
    assert plain == [line for line in render_header(recommendation()).splitlines() if line[:2] != "//"]
