"""SlotNum and SyncPeriod: when a slot may be overwritten, a destructor waits for ever, or a counter is full."""

import numpy as np
import pytest
from pipe_forms import FAMILIES, GLOBAL, SOUND, TILES, ask, chip, one_pipe

from pto_tune.evaluation import Problem, evaluate_columns
from pto_tune.model.nodes import Workload
from pto_tune.rule_sets import RuleSet, credits, rule_sets
from pto_tune.workloads import workload

both_families = pytest.mark.parametrize("family", FAMILIES)
both_flows = pytest.mark.parametrize("flow", [TILES, GLOBAL])

every_sound_pipe = pytest.mark.parametrize(("family", "direction", "flow"), SOUND)


def ring(direction: str, flow: str, slots: int, tiles: int, **changes: int) -> Workload:
    return one_pipe(direction, flow, slot_num=slots, tiles=tiles, gm_form=flow == GLOBAL, **changes)


# SlotNum 5, 7, 9


@every_sound_pipe
@pytest.mark.parametrize(
    ("slots", "period", "more", "near"), [(5, 2, 1, "4 and 6"), (7, 3, 2, "6 and 8"), (9, 4, 3, "8 and 10")]
)
def test_a_depth_that_is_no_multiple_of_its_period_overwrites_slots(
    family: str, direction: str, flow: str, slots: int, period: int, more: int, near: str
) -> None:
    answer = ask(ring(direction, flow, slots, 40), family)
    assert (answer.verdict, answer.rule) == ("overwrite", "slot-reuse")
    assert answer.sentence == (
        f"pipe: tile {slots} may be written into slot 0 before tile 0 is read ({slots + more} tiles in flight, {slots} "
        f"slots): FifoDepth {slots} is not a multiple of SyncPeriod {period}; nearest sound depths {near}"
    )


@every_sound_pipe
@pytest.mark.parametrize("slots", [5, 7, 9])
def test_nothing_happens_while_every_tile_has_a_slot(family: str, direction: str, flow: str, slots: int) -> None:
    for tiles in range(slots + 1):
        assert ask(ring(direction, flow, slots, tiles), family).verdicts == ("ok",)
    assert ask(ring(direction, flow, slots, slots + 1), family).verdict == "overwrite"


@every_sound_pipe
@pytest.mark.parametrize("slots", [4, 6, 8, 10])
def test_the_nearest_depths_are_sound(family: str, direction: str, flow: str, slots: int) -> None:
    assert ask(ring(direction, flow, slots, 40, rows=32), family).verdicts == ("ok",)


# Credits at construction


@pytest.mark.parametrize(("direction", "flow"), [(d, f) for family, d, f in SOUND if family == "a5"])
@pytest.mark.parametrize("slots", range(1, 17))
def test_credits_at_construction_let_the_producer_of_950_overwrite(direction: str, flow: str, slots: int) -> None:
    work = ring(direction, flow, slots, 100, rows=32)
    answer = ask(work, "a5", "a5-ctor-credits")
    assert answer.verdict == "overwrite"
    assert f"tile {slots} may be written into slot 0 before tile 0 is read" in answer.rules["slot-reuse"]
    if slots % 2 == 0:
        assert ask(work, "a5").verdicts == ("ok",)


@pytest.mark.parametrize("slots", range(1, 17))
def test_credits_at_construction_do_no_harm_to_a_ring_that_never_fills(slots: int) -> None:
    answer = ask(ring("C2V", TILES, slots, slots, rows=32), "a5", "a5-ctor-credits")
    assert "slot-reuse" not in answer.rules


# Producer's wait and consumer's free switched off


@both_families
@both_flows
@pytest.mark.parametrize(
    ("tiles", "verdicts"),
    [(1, ("ok",)), (2, ("hang",)), (3, ("overwrite",)), (4, ("hang", "overwrite")), (5, ("overwrite",))],
    ids=str,
)
def test_two_slots_without_back_pressure(family: str, flow: str, tiles: int, verdicts: tuple[str, ...]) -> None:
    """The destructor goes by the rule, whatever the switches were: it waits for a credit where N is even."""
    answer = ask(ring("C2V", flow, 2, tiles, allocate=0, free=0), family)
    assert answer.verdicts == verdicts
    if "hang" in verdicts:
        assert answer.rule == "deadlock"
        assert "waits in the destructor (drain pipe) for credits that AIV0 never sends" in answer.sentence.replace(
            " and AIV1", ""
        )
    if "overwrite" in verdicts:
        assert "tile 2 may be written into slot 0 before tile 0 is read" in answer.rules["slot-reuse"]


# The destructor


@pytest.mark.parametrize("rules", [*rule_sets("a2a3"), *rule_sets("a5")], ids=lambda r: r.name)
def test_the_end_of_a_stream_is_that_of_its_credits(rules: RuleSet) -> None:
    """A hang where the destructor waits for more than is sent, an overwrite where it leaves some behind."""
    numbers = [0, 1, 2, 3, 5, 7, 8, 9, 12, 15, 16, 17, 31, 40, 64, 127]
    slots, tiles = (c.ravel() for c in np.meshgrid(np.arange(1, 17), [n for n in numbers if n], indexing="ij"))
    table = {"fifo_depth": slots, "tiles": tiles, "slot_bytes": 4096}
    found = evaluate_columns(Problem(workload("stream"), chip(rules.family), rules), table)
    left = credits.left(rules, slots, 0, tiles)
    np.testing.assert_array_equal(found.broken[found.rules.index("deadlock")], left < 0)
    np.testing.assert_array_equal(found.broken[found.rules.index("flag-left")], left > 0)
    most = credits.most_in_flight(rules, slots, 0, tiles)
    np.testing.assert_array_equal(found.broken[found.rules.index("slot-reuse")], most > slots)


# The flag counter


@both_flows
@pytest.mark.parametrize("direction", ["C2V", "V2C"])
def test_sixteen_slots_are_too_many_for_the_four_bits_of_a2a3(direction: str, flow: str) -> None:
    answer = ask(ring(direction, flow, 16, 40, rows=32), "a2a3")
    assert (answer.verdict, answer.rule) == ("refused", "flag-counter")
    assert "up to 16 signals of pipe.ready can be outstanding and the flag counter holds 15" in answer.sentence
    assert "nearest legal FifoDepth" in answer.sentence
    assert ask(ring(direction, flow, 14, 40, rows=32), "a2a3").verdicts == ("ok",)
    assert ask(ring(direction, flow, 16, 15, rows=32), "a2a3").verdicts == ("ok",)


def test_sixteen_slots_are_sound_where_the_program_bounds_the_tiles_in_flight() -> None:
    assert ask(workload("flash_attention"), "a2a3", fifo_depth=16, qk_preload=4).verdicts == ("ok",)


def test_the_width_of_the_counter_of_950_is_not_stated() -> None:
    assert ask(ring("C2V", TILES, 16, 40, rows=32), "a5").verdicts == ("ok",)
