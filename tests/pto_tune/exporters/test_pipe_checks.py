"""What is refused of pipes: directions, flag ids, depths and periods, fixpipe configurations, TMPipes."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from pto_tune.exporters.header import ExportError, render_header
from pto_tune.exporters.pipe_checks import directions, flags_used
from pto_tune.exporters.recommendation import PipeRecommendation, PipeWay, Recommendation
from pto_tune.model.nodes import TConfig
from pto_tune.rule_sets import rule_set_for

Make = Callable[..., Recommendation]
MakePipe = Callable[..., PipeRecommendation]
Compile = Callable[..., str]

DEFAULT_RULES = {"a2a3": "a2a3", "a5": "a5"}


def refusals(rec: Recommendation) -> list[str]:
    with pytest.raises(ExportError) as refused:
        render_header(rec)
    return str(refused.value).splitlines()


def test_a_period_that_no_tpipe_has_is_refused_with_what_a_tmpipes_kernel_has_to_do(
    recommendation: Make, pipe: MakePipe
) -> None:
    (refusal,) = refusals(recommendation(pipes=(pipe("qk", sync_period=2),)))
    assert refusal == (
        "pipe 'qk': only a gated TMPipe can carry SyncPeriod 2 with FifoDepth 8: its kernel gates the switches by "
        "depth and period, before its first tile takes the credit that the constructor of a TMPipe sends, and at the "
        "end leaves one to the destructor; a TPipe of rule set 'a2a3' has SyncPeriod 4 there"
    )


@pytest.mark.parametrize(
    ("rules", "family", "slots", "period"),
    [
        ("a2a3", "a2a3", 5, 2),
        ("a2a3-ctor-credits", "a2a3", 3, 1),
        ("a2a3-full-period", "a2a3", 5, 5),
        ("a5", "a5", 8, 4),
        ("a5-full-period", "a5", 8, 8),
        ("a5-rendezvous", "a5", 8, 1),
    ],
)
def test_the_period_follows_from_the_depth_and_the_rule_set(
    rules: str, family: str, slots: int, period: int, recommendation: Make, pipe: MakePipe
) -> None:
    def exported(given: int) -> str:
        made = pipe("qk", slot_num=slots, sync_period=given, family=family)
        return render_header(recommendation(family=family, rule_set=rules, pipes=(made,)))

    assert f"Qk_SyncPeriod = {period};" in exported(period)
    with pytest.raises(ExportError, match=f"has SyncPeriod {period} there"):
        exported(period + 1)


def test_the_rule_set_is_one_of_the_family(recommendation: Make) -> None:
    (refusal,) = refusals(recommendation(family="a5"))
    assert refusal.startswith("rule_set is 'a2a3': one of a5, ")
    (refusal,) = refusals(recommendation(family="a1"))
    assert refusal == "family is 'a1': a2a3 or a5 would be right"


@pytest.mark.parametrize(
    ("family", "direction", "highest"),
    [
        ("a2a3", "DIR_C2V", 14),
        ("a2a3", "DIR_V2C", 14),
        ("a2a3", "DIR_BOTH", 12),
        ("a5", "DIR_C2V", 14),
        ("a5", "DIR_BOTH", 12),
        ("a5", "DIR_C2V_GM", 14),
        ("a5", "DIR_V2C_GM", 14),
        ("a5", "DIR_BOTH_GM", 12),
    ],
)
def test_flag_ids_end_at_15(
    family: str, direction: str, highest: int, recommendation: Make, pipe: MakePipe, compiler_says: Compile
) -> None:
    def with_flag(flag_id: int) -> Recommendation:
        made = pipe("qk", direction=direction, flag_id=flag_id, family=family)
        return recommendation(family=family, rule_set=DEFAULT_RULES[family], pipes=(made,))

    for fits in (0, highest):
        assert compiler_says(render_header(with_flag(fits)), family=family) == ""
    for beyond in (-1, highest + 1):
        (refusal,) = refusals(with_flag(beyond))
        assert refusal == (
            f"pipe 'qk' ({direction}): flag_id is {beyond}: a value from 0 to {highest} would be right"
        )  # fmt: skip


def test_directions_are_those_that_the_family_can_instantiate() -> None:
    a2a3 = ["DIR_C2V", "DIR_V2C", "DIR_BOTH"]
    assert list(directions(rule_set_for("a2a3"))) == a2a3
    assert list(directions(rule_set_for("a5"))) == [*a2a3, "DIR_C2V_GM", "DIR_V2C_GM", "DIR_BOTH_GM"]


@pytest.mark.parametrize("direction", ["DIR_C2V_GM", "DIR_BOTH_GM", "DIR_V2C_CTRL", "C2V", ""])
def test_other_directions_are_refused(direction: str, recommendation: Make, pipe: MakePipe) -> None:
    (refusal,) = refusals(recommendation(pipes=(pipe("qk", direction=direction),)))
    assert refusal == f"pipe 'qk': direction is {direction!r}: one of DIR_C2V, DIR_V2C, DIR_BOTH would be right"


def test_pipes_do_not_share_flag_ids(recommendation: Make, pipe: MakePipe) -> None:
    (refusal,) = refusals(
        recommendation(pipes=(pipe("qk", flag_id=0, direction="DIR_BOTH"), pipe("p", flag_id=3), pipe("pv", flag_id=5)))
    )
    assert refusal.startswith("pipes 'qk' and 'p' share flag id 3:")


def test_a_pipe_uses_two_flags_and_four_both_ways(pipe: MakePipe) -> None:
    rules = rule_set_for("a5")
    assert flags_used(pipe(flag_id=2, direction="DIR_V2C_GM"), rules) == {2, 3}
    assert flags_used(pipe(flag_id=2, direction="DIR_BOTH"), rules) == {2, 3, 4, 5}
    assert flags_used(pipe(flag_id=2, direction="DIR_BOTH_GM"), rules) == {2, 3, 4, 5}


@pytest.mark.parametrize("field", ["slot_bytes", "slot_num", "sync_period", "local_slot_num"])
@pytest.mark.parametrize("value", [0, -8, 2**32, 0.5])
def test_a_pipes_numbers_are_positive_and_fit_32_bits(
    field: str, value: object, recommendation: Make, pipe: MakePipe
) -> None:
    (refusal,) = refusals(recommendation(pipes=(pipe("qk", **{field: value}),)))
    assert refusal.startswith(f"pipe 'qk': {field} is {value}: a ")


def test_the_largest_values_compile(recommendation: Make, pipe: MakePipe, compiler_says: Compile) -> None:
    largest = 2**32 - 1
    way = PipeWay("C2V", "GM", largest)
    deep = pipe("qk", slot_num=largest, slot_bytes=2**31, sync_period=2**31 - 1, local_slot_num=largest, ways=(way,))
    wide = pipe("p", flag_id=2, slot_bytes=largest, ways=(way,))
    multiple = pipe("pv", flag_id=4, kind="TMPipe", slot_num=255, sync_period=255, local_slot_num=255, ways=(way,))
    rec = recommendation(constants={"x": largest, "zero": 0}, pipes=(deep, wide, multiple))
    assert compiler_says(render_header(rec)) == ""
    (refusal,) = refusals(replace(rec, pipes=(replace(deep, slot_bytes=largest),)))
    assert refusal.startswith("pipe 'qk': bytes of its rings in GM is 18446744065119617025: a value from 0 to")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("split", "UP_DOWN"),
        ("split", "TILE_LEFT_RIGHT_EVEN"),
        ("is_no_split", 1),
        ("en_unit_flag", None),
        ("kind", "Pipe"),
        ("gated", 1),
    ],
)
def test_a_pipes_choices_are_the_isas_own(field: str, value: object, recommendation: Make, pipe: MakePipe) -> None:
    (refusal,) = refusals(recommendation(pipes=(pipe("qk", **{field: value}),)))
    assert refusal.startswith(f"pipe 'qk': {field} is {value!r}:")


def test_the_ways_are_those_of_the_direction(recommendation: Make, pipe: MakePipe) -> None:
    def said(*ways: PipeWay, direction: str = "DIR_C2V") -> str:
        (refusal,) = refusals(recommendation(pipes=(pipe("qk", ways=ways, direction=direction),)))
        return refusal

    assert said() == "pipe 'qk' (DIR_C2V): ways are none: C2V in GM would be right"
    assert said(PipeWay("C2V", "UB", 0)) == "pipe 'qk' (DIR_C2V): ways are C2V in UB: C2V in GM would be right"
    one = PipeWay("C2V", "GM", 0)
    assert said(one, direction="DIR_BOTH").endswith("ways are C2V in GM: C2V in GM, V2C in GM would be right")


def test_the_rings_in_gm_follow_from_the_ways(pipe: MakePipe) -> None:
    assert pipe(slot_bytes=64, slot_num=4).gm_bytes == 256
    assert pipe(slot_bytes=64, slot_num=4, direction="DIR_BOTH").gm_bytes == 512
    assert pipe(slot_bytes=64, slot_num=4, direction="DIR_BOTH", family="a5").gm_bytes == 0


def test_sizes_and_switches_are_checked_too(recommendation: Make, pipe: MakePipe) -> None:
    made = pipe("qk", ways=(PipeWay("C2V", "GM", 2**32),), switches_off=("allocate", "notify"))
    assert refusals(recommendation(pipes=(made,))) == [
        "pipe 'qk': a switch is 'notify': one of allocate, record, wait, free would be right",
        "pipe 'qk': consumer_bytes of C2V is 4294967296: a value from 0 to 4294967295 would be right",
    ]


def test_a_tpipe_is_not_gated(recommendation: Make, pipe: MakePipe) -> None:
    (refusal,) = refusals(recommendation(pipes=(pipe("qk", gated=True),)))
    assert refusal.startswith("pipe 'qk': gated is True: only the kernel of a TMPipe gates the switches")


@pytest.mark.parametrize("field", ["slot_num", "sync_period"])
@pytest.mark.parametrize("value", [0, 256, 1.5])
def test_depth_and_period_of_a_tmpipe_fit_8_bits(
    field: str, value: object, recommendation: Make, pipe: MakePipe
) -> None:
    (refusal,) = refusals(recommendation(pipes=(pipe("qk", kind="TMPipe", **{field: value}),)))
    assert refusal.startswith(f"pipe 'qk': {field} is {value}: a ")


@pytest.mark.parametrize("gated", [False, True])
def test_a_tmpipe_may_have_any_period_and_no_local_slots(
    gated: bool, recommendation: Make, pipe: MakePipe, compiler_says: Compile
) -> None:
    made = pipe("qk", kind="TMPipe", gated=gated, slot_num=8, sync_period=3, local_slot_num=0)
    text = render_header(recommendation(pipes=(made,)))
    assert "Qk_FiFoSyncT = 3;" in text
    assert compiler_says(text) == ""


def test_a_tmpipe_goes_one_way(recommendation: Make, pipe: MakePipe) -> None:
    (refusal,) = refusals(recommendation(pipes=(pipe("qk", kind="TMPipe", direction="DIR_BOTH"),)))
    assert refusal == "pipe 'qk': a TMPipe goes one way, not DIR_BOTH: a TPipe would be right"


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (TConfig(layout="ND2NZ"), "LayoutMode is 'ND2NZ': one of NZ2ND, NZ2NZ, NZ2DN"),
        (TConfig(quant="QF322FP8_PRE"), "QuantPre is 'QF322FP8_PRE': one of NoQuant, F322F16"),
        (TConfig(relu="Relu"), "ReluMode is 'Relu': one of NoRelu, NormalRelu"),
        (TConfig(phase="Last"), "Phase is 'Last': one of Unspecified, Partial, Final"),
        (TConfig(atomic="AtomicMax"), "AtomicT is 'AtomicMax': one of AtomicNone, AtomicAdd"),
        (TConfig(sub_block_id=4), "SubBlockId is 4: a value from 0 to 3"),
        (TConfig(clip_relu="CLIP"), "ClipReluMode is 'CLIP': one of NOCLIP_RELU, CLIP_RELU"),
        (TConfig(channel_split=1), "IsChannelSplit is 1: True or False"),  # type: ignore[arg-type]
    ],
)
def test_a_fixpipe_configuration_has_the_librarys_names(
    config: TConfig, said: str, recommendation: Make, pipe: MakePipe
) -> None:
    (refusal,) = refusals(recommendation(pipes=(pipe("qk", configs=(config,)),)))
    assert refusal.startswith(f"pipe 'qk': TConfig: {said}")
    assert refusal.endswith(" would be right")


def test_ascend_950_has_quantisations_of_its_own(recommendation: Make, pipe: MakePipe, compiler_says: Compile) -> None:
    made = pipe("qk", configs=(TConfig(quant="QF322FP8_PRE"),), family="a5")
    text = render_header(recommendation(family="a5", rule_set="a5", pipes=(made,)))
    assert compiler_says(text, family="a5") == ""
