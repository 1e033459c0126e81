"""Streams whose time can be written down. t: cycles of a store and of a load, N: tiles, S: SlotNum.

with free synchronisation                                    SyncPeriod
(N + 1) t                                                    S / 2      no wait for a credit
(N + 1 + floor((N - 1) / S)) t                               S          9/8 of it for S = 8 and many tiles
2 N t                                                        rendezvous
a + N b  for stages a <= b,  N a + b  for a >= b             S / 2
"""

import pytest
from executor_checks import FREE_SYNCHRONISATION, RULE_SETS, examples, outcomes, platform, run
from hypothesis import given
from hypothesis import strategies as st

from pto_tune.rule_sets import RuleSet
from pto_tune.workloads import workload

BY_NAME = {rules.name: rules for rules in RULE_SETS}
HALF, FULL, RENDEZVOUS = BY_NAME["a2a3"], BY_NAME["a2a3-full-period"], BY_NAME["a2a3-rendezvous"]
MANY = 200_000

both_directions = pytest.mark.parametrize("direction", [1, 2], ids=["C2V", "V2C"])


def stream_cycles(rules: RuleSet, overrides: dict[str, float] | None = None, **config: int) -> int | None:
    chip = platform({**FREE_SYNCHRONISATION, **(overrides or {})})
    return outcomes(run(workload("stream"), chip, rules, [config]))[0].cycles


@both_directions
@pytest.mark.parametrize("tiles", [1, 2, 7, 8, 9, 100, 1001, MANY])
@pytest.mark.parametrize("t", [1, 1000])
def test_half_period_loses_nothing(direction: int, tiles: int, t: int) -> None:
    found = stream_cycles(HALF, direction=direction, tiles=tiles, store_cycles=t, load_cycles=t, fifo_depth=8)
    assert found == (tiles + 1) * t


@both_directions
@pytest.mark.parametrize("depth", [2, 3, 4, 8, 12])
@pytest.mark.parametrize("tiles", [1, 8, 9, 100, 1001, MANY])
def test_full_period_loses_a_tile_in_every_round(direction: int, depth: int, tiles: int) -> None:
    t = 1000
    found = stream_cycles(FULL, direction=direction, tiles=tiles, store_cycles=t, load_cycles=t, fifo_depth=depth)
    assert found == (tiles + 1 + (tiles - 1) // depth) * t


def test_full_period_of_eight_slots_takes_nine_eighths_in_the_limit() -> None:
    half, full = (
        stream_cycles(rules, tiles=MANY, store_cycles=1000, load_cycles=1000, fifo_depth=8) or 0
        for rules in (HALF, FULL)
    )
    assert full / half == pytest.approx(9 / 8, rel=1e-4)


@both_directions
@pytest.mark.parametrize("depth", [1, 2, 8])
@pytest.mark.parametrize("tiles", [1, 2, 99, MANY])
def test_rendezvous_takes_both_stages_for_every_tile(direction: int, depth: int, tiles: int) -> None:
    found = stream_cycles(
        RENDEZVOUS, direction=direction, tiles=tiles, store_cycles=700, load_cycles=300, fifo_depth=depth
    )
    assert found == tiles * (700 + 300)


@given(
    direction=st.sampled_from((1, 2)),
    a=st.integers(0, 3000),
    apart=st.one_of(st.integers(-3, 3), st.integers(-3000, 3000)),
    tiles=st.one_of(st.integers(1, 50), st.integers(1, MANY), st.just(MANY)),
    depth=st.sampled_from((4, 8, 12)),
)
@examples(60)
def test_the_slower_stage_never_waits(direction: int, a: int, apart: int, tiles: int, depth: int) -> None:
    b = max(0, a + apart)
    found = stream_cycles(HALF, direction=direction, tiles=tiles, store_cycles=a, load_cycles=b, fifo_depth=depth)
    assert found == max(a + tiles * b, tiles * a + b)


# With synchronisation that costs: c an issue, h = c + set + cross-core latency + wait from the end of a
# transfer to the start of one on the other core that waits for it. 2 c come before the first store (its
# own issue and that of the compute before it), and the run ends when the producer has seen the credit of
# the last tile (h - c after its load).

OVERHEADS = st.fixed_dictionaries(
    {
        "scalar.issue": st.integers(0, 30),
        "flags.set": st.integers(0, 30),
        "flags.wait": st.integers(0, 30),
        "flags.cross_core_latency": st.integers(0, 100),
    }
)


def hand_over(overheads: dict[str, float]) -> tuple[int, int]:
    return int(overheads["scalar.issue"]), int(sum(overheads.values()))


@given(
    overheads=OVERHEADS,
    t=st.integers(600, 2000),
    rounds=st.integers(3, 300),
    direction=st.sampled_from((1, 2)),
)
@examples(60)
def test_half_period_hides_every_overhead_but_the_first_and_the_last(
    overheads: dict[str, float], t: int, rounds: int, direction: int
) -> None:
    tiles = 4 * rounds
    c, h = hand_over(overheads)
    found = stream_cycles(
        HALF, overheads, direction=direction, tiles=tiles, store_cycles=t, load_cycles=t, fifo_depth=8
    )
    assert found == (tiles + 1) * t + 2 * c + h + (h - c)


@given(
    overheads=OVERHEADS,
    t=st.integers(600, 2000),
    rounds=st.integers(1, 300),
    direction=st.sampled_from((1, 2)),
)
@examples(60)
def test_full_period_shows_two_hand_overs_a_round(
    overheads: dict[str, float], t: int, rounds: int, direction: int
) -> None:
    tiles = 8 * rounds
    c, h = hand_over(overheads)
    found = stream_cycles(
        FULL, overheads, direction=direction, tiles=tiles, store_cycles=t, load_cycles=t, fifo_depth=8
    )
    assert found == (tiles + 1) * t + (rounds - 1) * (t + 2 * h) + 2 * c + h + (h - c)


@given(
    overheads=OVERHEADS,
    t=st.integers(600, 2000),
    tiles=st.integers(1, 900),
    direction=st.sampled_from((1, 2)),
)
@examples(60)
def test_rendezvous_shows_two_hand_overs_a_tile(
    overheads: dict[str, float], t: int, tiles: int, direction: int
) -> None:
    c, h = hand_over(overheads)
    found = stream_cycles(
        RENDEZVOUS, overheads, direction=direction, tiles=tiles, store_cycles=t, load_cycles=t, fifo_depth=8
    )
    # the first tile waits as well, for the credit of the constructor, which is there
    assert found == tiles * (2 * t + 2 * h) + c + int(overheads["flags.wait"])
