"""What cannot be: memory that is too small, tiles and slots that do not fit, flag ids that do not exist."""

import pytest
from pipe_forms import FAMILIES, GLOBAL, TILES, ask, one_pipe

from pto_tune.model.expr import expr
from pto_tune.model.nodes import NO_SPLIT, Buffer, Workload

both_families = pytest.mark.parametrize("family", FAMILIES)
KIB = 1024


def refusal(work: Workload, family: str) -> tuple[str, str]:
    """Rule and sentence of what has to be refused."""
    answer = ask(work, family)
    assert answer.verdict == "refused"
    return answer.rule, answer.sentence


# UB


def kernel_with_ub(kib: int, *, scratch: bool = False) -> Workload:
    """Four buffers of a sub-core that take this much together."""
    sizes = {"scores": kib - 96, "values": 48, "sums": 32, "rest": 16}
    buffers = tuple(Buffer(n, "AIV", "UB", expr(size * KIB), expr(1)) for n, size in sizes.items())
    return one_pipe("C2V", GLOBAL, gm_form=True, buffers=buffers, uses_ub_scratch=scratch)


@pytest.mark.parametrize(
    ("family", "fits", "too_much", "sentence"),
    [
        ("a2a3", 192, 193, "UB needs 197632 bytes and has 196608; largest: scores 99328, values 49152, sums 32768"),
        ("a5", 240, 241, "UB needs 246784 bytes and has 245760; largest: scores 148480, values 49152, sums 32768"),
    ],
)
def test_ub_holds_what_programs_may_use(family: str, fits: int, too_much: int, sentence: str) -> None:
    assert ask(kernel_with_ub(fits), family).verdicts == ("ok",)
    assert refusal(kernel_with_ub(too_much), family) == ("capacity-UB", sentence)


def test_the_library_s_scratch_is_at_the_top_of_ub() -> None:
    """185 KB are too much on A2/A3 where an operation of the program writes there, and only there."""
    assert ask(kernel_with_ub(185), "a2a3").verdicts == ("ok",)
    assert ask(kernel_with_ub(184, scratch=True), "a2a3").verdicts == ("ok",)
    assert refusal(kernel_with_ub(185, scratch=True), "a2a3") == (
        "capacity-UB",
        "UB needs 189440 bytes and has 188416 (the top 8192 are the library's scratch); "
        "largest: scores 91136, values 49152, sums 32768",
    )
    assert ask(kernel_with_ub(240, scratch=True), "a5").verdicts == ("ok",)


# Rings and slots


@both_families
def test_a_pipe_of_both_ways_needs_two_rings_in_gm(family: str) -> None:
    def with_gm(nbytes: int) -> Workload:
        return one_pipe("BOTH", TILES, gm_form=family == "a5", slot_num=4, gm_bytes=nbytes)

    for too_little in (4 * 16384, 8 * 16384 - 32):
        assert refusal(with_gm(too_little), family) == (
            "pipe-gm-bytes",
            f"FIFO pipe: the GM buffer has {too_little} bytes and needs 2 x SlotNum x SlotSize = 131072; "
            "nearest legal: 131072",
        )
    assert "pipe-gm-bytes" not in ask(with_gm(8 * 16384), family).rules


@both_families
@pytest.mark.parametrize("flow", [TILES, GLOBAL])
@pytest.mark.parametrize("direction", ["C2V", "V2C"])
def test_a_slot_holds_a_whole_tile(family: str, direction: str, flow: str) -> None:
    small = one_pipe(direction, flow, slot_bytes=16384 - 32, tile_bytes=16384, gm_form=flow == GLOBAL)
    assert refusal(small, family) == (
        "pipe-slot-size",
        "FIFO pipe: a slot of 16352 bytes cannot hold a tile of 16384; nearest legal: 16384",
    )
    assert "pipe-slot-size" not in ask(one_pipe(direction, flow, gm_form=flow == GLOBAL), family).rules


@both_families
@pytest.mark.parametrize("direction", ["C2V", "V2C"])
def test_tiles_go_whole_or_in_halves(family: str, direction: str) -> None:
    """Without a split: a third of the tile is not a ratio that there is, nor three tiles for one."""
    alone = {"split": NO_SPLIT, "second_sub_core": family == "a2a3"}
    parts = {"rows": 96, "pop_rows": 32}
    rule, sentence = refusal(one_pipe(direction, TILES, **alone, **parts), family)
    assert rule == "pipe-ratio"
    assert "are 6144:2048 elements, and tiles go 1:1 or 1:2; nearest: the GlobalData flow" in sentence
    assert "pipe-ratio" not in ask(one_pipe(direction, TILES, **alone, rows=96), family).rules
    if direction == "C2V":
        assert ask(one_pipe(direction, TILES, **alone, rows=96, pop_rows=48), family).verdicts == ("ok",)


@both_families
@pytest.mark.parametrize(
    ("direction", "last", "ids"), [("C2V", 14, "15 and 16"), ("V2C", 14, "15 and 16"), ("BOTH", 12, "13 to 16")]
)
def test_all_flag_ids_of_a_pipe_are_below_sixteen(family: str, direction: str, last: int, ids: str) -> None:
    assert ask(one_pipe(direction, flag_id=last), family).verdicts == ("ok",)
    assert refusal(one_pipe(direction, flag_id=last + 1), family) == (
        "pipe-flag-id",
        f"FIFO pipe: flag ids {ids} are not below 16; nearest legal FlagID: {last}",
    )


def test_flag_id_fifteen_is_refused_in_every_direction() -> None:
    for family in FAMILIES:
        for direction in ("C2V", "V2C", "BOTH"):
            assert refusal(one_pipe(direction, flag_id=15), family)[0] == "pipe-flag-id"
