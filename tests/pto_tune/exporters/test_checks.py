"""What is refused as a header, in one sentence a fault, and all of it at once."""

import re
from collections.abc import Callable, Mapping

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from pto_tune.exporters.header import ExportError, render_header
from pto_tune.exporters.names import CPP_KEYWORDS, constant_name, include_guard, is_identifier, pipe_prefix
from pto_tune.exporters.recommendation import PipeRecommendation, Recommendation

Make = Callable[..., Recommendation]
MakePipe = Callable[..., PipeRecommendation]
Compile = Callable[..., str]


def refusals(rec: Recommendation, namespace: str = "pto_tune_config") -> list[str]:
    with pytest.raises(ExportError) as refused:
        render_header(rec, namespace)
    assert isinstance(refused.value, ValueError)
    return str(refused.value).splitlines()


@pytest.mark.parametrize("verdict", ["hang", "overwrite", "race", "refused", "", "OK"])
def test_only_the_verdict_ok_is_exported(verdict: str, recommendation: Make) -> None:
    (refusal,) = refusals(recommendation(verdict=verdict))
    assert refusal.startswith(f"verdict is {verdict!r}: only")


@pytest.mark.parametrize("value", [-1, 2**32, 1.5, "8", True, None])
def test_a_constant_has_to_fit_32_bits(value: object, recommendation: Make) -> None:
    (refusal,) = refusals(recommendation(constants={"cube_s0": value}))
    assert refusal.startswith("constant 'cube_s0' is ")
    assert refusal.endswith("would be right")


@pytest.mark.parametrize("time_us", [float("nan"), float("inf"), -1.0])
def test_the_predicted_time_is_a_time(time_us: float, recommendation: Make) -> None:
    (refusal,) = refusals(recommendation(predicted_us=time_us))
    assert refusal.startswith("predicted_us is")


@pytest.mark.parametrize(
    "interval", [(2.0, 1.0), (-1.0, 1.0), (1.0, float("nan")), (float("nan"), 1.0), (1.0, float("inf"))]
)
def test_an_interval_is_two_times_in_order(interval: tuple[float, float], recommendation: Make) -> None:
    (refusal,) = refusals(recommendation(interval_us=interval))
    assert refusal.startswith("interval_us is")
    assert refusals(recommendation(samples=0))[0].startswith("samples is ")


def test_a_header_without_an_interval_has_no_line_of_it(recommendation: Make) -> None:
    assert "interval" in render_header(recommendation())
    assert "interval" not in render_header(recommendation(interval_us=None, samples=0))


@pytest.mark.parametrize(
    "namespace",
    ["", "class", "1a", "a b", "a::", "::a", "a:b", "a__b", "_a", "std", "x::std", "pto", "größe"],
)
def test_a_namespace_is_a_name_of_the_users_own(namespace: str, recommendation: Make) -> None:
    (refusal,) = refusals(recommendation(), namespace)
    assert refusal.startswith(f"namespace {namespace!r}: ")


def test_names_that_become_equal_are_refused(recommendation: Make, pipe: MakePipe) -> None:
    rec = recommendation(
        pipes=(pipe("exp_max", flag_id=0), pipe("exp-max", flag_id=2)),
        constants={"tile.s1": 1, "TILE_S1": 2},
    )
    assert refusals(rec) == [
        "constant names 'tile.s1' and 'TILE_S1' both become 'TILE_S1': rename one",
        "pipe names 'exp_max' and 'exp-max' both become 'ExpMax': rename one",
    ]


def test_a_constant_does_not_take_the_include_guards_name(recommendation: Make) -> None:
    guard = include_guard("pto_tune_config")
    (refusal,) = refusals(recommendation(constants={guard.lower(): 1}))
    assert "include guard" in refusal


def test_a_constant_does_not_take_the_name_of_a_pipes_flag(recommendation: Make, pipe: MakePipe) -> None:
    (refusal,) = refusals(recommendation(constants={"p_en_unit_flag": 1}, pipes=(pipe("p"),)))
    assert refusal == "constant 'p_en_unit_flag': pipe 'p' has P_EN_UNIT_FLAG; another name would be right"


def test_everything_that_is_wrong_is_said_at_once(recommendation: Make, pipe: MakePipe) -> None:
    rec = recommendation(
        verdict="hang",
        constants={"1st": 1, "b": -1},
        pipes=(pipe("qk", sync_period=1), pipe("p q!", flag_id=1), pipe("pv", flag_id=99)),
    )
    said = refusals(rec, "namespace")
    assert len(said) == 8
    for part in ("'hang'", "'namespace'", "'1st'", "'b' is -1", "SyncPeriod 1", "'p q!'", "is 99", "id 1"):
        assert sum(part in sentence for sentence in said) >= 1, part


@pytest.mark.parametrize(
    ("name", "prefix", "constant"),
    [
        ("qk", "Qk", "QK"),
        ("exp_max", "ExpMax", "EXP_MAX"),
        ("cube_s0", "CubeS0", "CUBE_S0"),
        ("CUBE_S0", "CUBES0", "CUBE_S0"),
        ("a-b.c d", "ABCD", "A_B_C_D"),
        ("_x__y_", "XY", "X_Y"),
        ("class", "Class", "CLASS"),
        ("int8_max", "Int8Max", None),
        ("null", "Null", None),
        ("2nd", None, None),
        ("", None, None),
        ("_", None, None),
        ("größe", None, None),
        ("ıd", None, None),
        ("a\n", None, None),
        ("a;b", None, None),
    ],
)
def test_workload_names_become_identifiers(name: str, prefix: str | None, constant: str | None) -> None:
    assert pipe_prefix(name) == prefix
    assert constant_name(name) == constant


@pytest.mark.parametrize("word", ["class", "co_await", "xor_eq", "UINT32_MAX", "SIZE_MAX", "NULL", "linux"])
def test_keywords_and_standard_macros_are_no_identifiers(word: str) -> None:
    assert not is_identifier(word)


NAMES = st.one_of(
    st.text(max_size=8),
    st.from_regex(r"[a-zA-Z_0-9.\- ]{0,10}", fullmatch=True),
    st.sampled_from(sorted(CPP_KEYWORDS)),
)


PLAIN_NAMES = st.from_regex(r"[a-zA-Z][a-z0-9_]{0,8}", fullmatch=True)


@given(name=PLAIN_NAMES | NAMES)
def test_a_name_gives_an_identifier_or_nothing(name: str) -> None:
    for identifier in (pipe_prefix(name), constant_name(name)):
        if identifier is not None:
            assert re.fullmatch(r"[A-Za-z]([_]?[A-Za-z0-9])*", identifier, re.ASCII)
            assert identifier not in CPP_KEYWORDS


@settings(max_examples=40, deadline=None)
@given(
    constants=st.dictionaries(PLAIN_NAMES | NAMES, st.integers(0, 2**32), max_size=3),
    pipe_name=PLAIN_NAMES | NAMES,
    flag_id=st.integers(0, 15),
    slots=st.integers(1, 20),
    comment=st.text(max_size=12),
)
def test_whatever_is_not_refused_compiles(
    constants: Mapping[str, int],
    pipe_name: str,
    flag_id: int,
    slots: int,
    comment: str,
    recommendation: Make,
    pipe: MakePipe,
    compiler_says: Compile,
) -> None:
    period = slots // 2 if slots > 2 else slots
    rec = recommendation(
        constants=constants,
        pipes=(pipe(pipe_name, flag_id=flag_id, slot_num=slots, sync_period=period),),
        workload=comment,
    )
    try:
        text = render_header(rec)
    except ExportError as error:
        text, refusal = "", str(error)
        event("refused")
    else:
        refusal = ""
        event("compiled")
    assert all("right" in line or "rename one" in line for line in refusal.splitlines())
    assert compiler_says(text) == ""
