"""Verdicts follow from structure: the tables of the pipe rules, and what is known of flash attention."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cost_models import load_platform
from pto_tune.evaluation import Evaluation, Problem, evaluate_columns
from pto_tune.executor.engine import Execution
from pto_tune.verdicts import VERDICTS
from pto_tune.workloads import workload

B2 = load_platform("ascend910b2")


def stream(rule_set: str = "a2a3", **table: object) -> Evaluation:
    return evaluate_columns(Problem.of(workload("stream"), B2, rule_set), table)


def flash(**table: object) -> Evaluation:
    return evaluate_columns(Problem.of(workload("flash_attention"), B2), table)


def executed(e: Evaluation) -> Execution:
    assert e.execution is not None
    return e.execution


def verdicts(e: Evaluation) -> list[str]:
    return [VERDICTS[v] for v in e.verdict]


# SlotNum, worst tiles in flight, tiles overwritten: exhaustive simulation of the header rules, A2/A3
@pytest.mark.parametrize(
    ("slots", "in_flight"), [(1, 1), (2, 2), (3, 3), (4, 4), (5, 6), (6, 6), (7, 9), (8, 8), (9, 12)]
)
@pytest.mark.parametrize("direction", [1, 2])
def test_tiles_in_flight_of_a_bare_stream(slots: int, in_flight: int, direction: int) -> None:
    e = stream(fifo_depth=slots, tiles=40, direction=direction)
    over = executed(e).lanes.schedules.over[0]
    track = e.problem.code.tracks.index("c2v" if direction == 1 else "v2c")
    assert over[track, 1] == in_flight
    assert verdicts(e) == ["overwrite" if in_flight > slots else "ok"]


@pytest.mark.parametrize(("slots", "near"), [(5, "4 and 6"), (7, "6 and 8"), (9, "8 and 10")])
def test_an_odd_depth_names_the_nearest_sound_ones(slots: int, near: str) -> None:
    reason = stream(fifo_depth=slots, tiles=40).reason(0)
    assert f"nearest sound depths {near}" in reason
    assert f"tile {slots} may be written into slot 0 before tile 0 is read" in reason


@pytest.mark.parametrize("slots", [5, 7, 9])
def test_nothing_is_overwritten_while_the_ring_has_slots_for_all_tiles(slots: int) -> None:
    assert verdicts(stream(fifo_depth=[slots] * slots, tiles=list(range(1, slots + 1)))) == ["ok"] * slots


def test_sixteen_slots_overflow_the_four_bit_counter_of_a_bare_stream() -> None:
    e = stream(fifo_depth=16, tiles=40)
    assert verdicts(e) == ["refused"]
    assert "16 signals" in e.reason(0)
    assert "15" in e.reason(0)


def test_sixteen_slots_are_sound_where_preload_bounds_the_tiles_in_flight() -> None:
    assert verdicts(flash(fifo_depth=16, qk_preload=4)) == ["ok"]


# the destructor of 2026-08-11 waits SyncPeriod times but fewer credits are pending: SlotNum 8, N = 40 has 2 for 4
@pytest.mark.parametrize(("tiles", "verdict"), [(40, "hang"), (4, "hang"), (41, "hang")])
def test_the_fixed_drain_hangs_where_fewer_credits_are_pending(tiles: int, verdict: str) -> None:
    e = stream("a2a3-fixed-drain", fifo_depth=8, tiles=tiles)
    assert verdicts(e) == [verdict]
    assert "destructor" in e.reason(0)


def test_constructor_credits_let_the_producer_run_ahead_of_the_ring() -> None:
    e = stream("a2a3-ctor-credits", fifo_depth=[2, 4, 8], tiles=40)
    assert verdicts(e) == ["overwrite", "overwrite", "refused"]
    lanes = executed(e).lanes
    over = [lanes.schedules.over[lanes.schedule[i]] for i in range(3)]
    track = e.problem.code.tracks.index("c2v")
    assert [int(o[track, 1]) for o in over] == [6, 8, 24]
    assert any("slot-reuse" in a for a in e.also(2))


@given(st.integers(1, 16), st.integers(0, 400), st.sampled_from(["a2a3", "a2a3-full-period", "a2a3-rendezvous"]))
@settings(max_examples=120, deadline=None)
def test_credits_equal_a_step_by_step_count(slots: int, tiles: int, rule_set: str) -> None:
    e = stream(rule_set, fifo_depth=slots, tiles=max(tiles, 1))
    tiles = max(tiles, 1)
    rules = e.problem.rule_set
    period = rules.derived_period(slots)
    first = slots if rules.wait_from == "slot_num" else 0
    notified = sum((i + 1) % period == 0 for i in range(tiles))
    waited = sum(i >= first and i % period == 0 for i in range(tiles))
    s = executed(e).lanes.schedules
    assert s.info[0, 0] == 0
    assert s.info[0, 7] == 0  # computed drain: what was notified and not waited for is drained, nothing stays
    assert notified >= waited


@pytest.mark.parametrize(
    ("depth", "preload", "hangs"),
    [
        (1, 2, False),
        (1, 3, True),
        (2, 2, False),
        (2, 3, True),
        (3, 6, False),
        (3, 7, True),
        (4, 6, False),
        (4, 7, True),
    ],
)
def test_flash_attention_hangs_by_token_count(depth: int, preload: int, hangs: bool) -> None:
    e = flash(fifo_depth=depth, qk_preload=preload, tile_s1=128)
    assert bool(executed(e).hang[0]) == hangs


def test_a_hang_says_who_waits_for_whom_at_which_tile() -> None:
    reason = flash(fifo_depth=2, qk_preload=4, tile_s1=128).reason(0)
    assert "AIC waits in TALLOC qk for space from AIV0 and AIV1 at tile 4" in reason
    assert "AIV0 waits in TALLOC p for space from AIC at tile 2" in reason


@pytest.mark.parametrize(("depth", "preload"), [(4, 4), (4, 5), (6, 6), (8, 8)])
def test_preload_of_fifo_depth_overwrites_the_exp_max_ring(depth: int, preload: int) -> None:
    e = flash(fifo_depth=depth, qk_preload=preload)
    assert verdicts(e) == ["overwrite"]
    assert "exp_max" in e.reason(0)
    assert verdicts(flash(fifo_depth=depth, qk_preload=depth - 1)) == ["ok"]


@given(
    st.lists(
        st.tuples(
            st.sampled_from([1, 2, 3, 4, 5, 6, 8]), st.integers(2, 8), st.sampled_from([128, 256]), st.integers(0, 3)
        ),
        min_size=1,
        max_size=6,
    )
)
@settings(max_examples=25, deadline=None)
def test_verdicts_do_not_depend_on_durations_or_on_length(rows: list[tuple[int, int, int, int]]) -> None:
    depth, preload, tile, period = (list(c) for c in zip(*rows, strict=True))
    table = {"fifo_depth": depth, "qk_preload": preload, "tile_s1": tile, "sync_period": period}
    long = flash(**table, s1=16384)
    slow = evaluate_columns(
        Problem.of(
            workload("flash_attention"), B2.with_values({"fixpipe.rate": 3.0, "flags.cross_core_latency": 9000.0})
        ),
        {**table, "s1": 16384},
    )
    longer = flash(**table, s1=65536)
    assert verdicts(long) == verdicts(slow) == verdicts(longer)


def test_only_ok_rows_and_unsafe_ones_have_times() -> None:
    e = flash(fifo_depth=[8, 4, 2], qk_preload=[4, 4, 4])
    assert verdicts(e) == ["ok", "overwrite", "hang"]
    assert e.timed.tolist() == [True, True, False]
    assert np.isnan(e.time_us[2])
