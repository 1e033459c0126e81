"""What the rules of a ring cost: makespans to the cycle, with synchronisation that takes no time.

t: cycles of a store and of a load; N: tiles.
"""

from collections.abc import Mapping

import pytest
from pipe_forms import FAMILIES, SOUND, TILES, Answer, ask, one_pipe

from pto_tune.explaining.explanation import Explanation
from pto_tune.workloads import workload

T = 1000
GLOBAL_FLOW, TILE_FLOW = 0, 1

both_families = pytest.mark.parametrize("family", FAMILIES)
both_flows = pytest.mark.parametrize("flow", [GLOBAL_FLOW, TILE_FLOW], ids=["GlobalData", "TileData"])
both_directions = pytest.mark.parametrize("direction", [1, 2], ids=["C2V", "V2C"])
every_sound_pipe = pytest.mark.parametrize(
    ("family", "direction", "flow"),
    [(family, 1 if d == "C2V" else 2, int(flow == TILES)) for family, d, flow in SOUND],
    ids=["-".join(pipe) for pipe in SOUND],
)


def stages(family: str, flow: int, store: int, load: int) -> Mapping[str, int]:
    """A store and what empties the slot again: the load, or into a ring in UB or L1 (950) the consumer's compute."""
    in_gm = family == "a2a3" or flow == GLOBAL_FLOW
    return {"flow": flow, "store_cycles": store, "load_cycles" if in_gm else "consumer_cycles": load}


def stream(family: str, rules: str, **columns: int) -> Answer:
    return ask(workload("stream"), family, rules, free_sync=True, **{"slot_bytes": 16384, **columns})


# SyncPeriod 8 against 4, SlotNum 8


@every_sound_pipe
@pytest.mark.parametrize("k", [1, 2, 10, 1000])
def test_a_period_of_all_slots_loses_a_tile_in_eight(family: str, direction: int, flow: int, k: int) -> None:
    columns = {**stages(family, flow, T, T), "direction": direction, "fifo_depth": 8, "tiles": 8 * k}
    assert stream(family, f"{family}-full-period", **columns).cycles == 9 * k * T
    assert stream(family, family, **columns).cycles == (8 * k + 1) * T


@both_families
@both_flows
@pytest.mark.parametrize("tiles", range(1, 9))
def test_the_period_does_not_matter_before_the_ring_is_full(family: str, flow: int, tiles: int) -> None:
    columns = {**stages(family, flow, T, T), "fifo_depth": 8, "tiles": tiles}
    assert stream(family, f"{family}-full-period", **columns).cycles == stream(family, family, **columns).cycles


@every_sound_pipe
@pytest.mark.parametrize(("store", "load"), [(T, 2 * T), (2 * T, T)])
def test_unequal_stages_lose_half_as_much(family: str, direction: int, flow: int, store: int, load: int) -> None:
    k = 1000
    columns = {**stages(family, flow, store, load), "direction": direction, "fifo_depth": 8, "tiles": 8 * k}
    full, half = stream(family, f"{family}-full-period", **columns), stream(family, family, **columns)
    assert (full.cycles, half.cycles) == (17 * k * T, (16 * k + 1) * T)
    assert full.cycles / half.cycles == pytest.approx(17 / 16, rel=1e-3)


@pytest.mark.parametrize(("family", "flow"), [("a2a3", GLOBAL_FLOW), ("a2a3", TILE_FLOW), ("a5", GLOBAL_FLOW)])
@pytest.mark.parametrize(
    "computing", [("producer_cycles",), ("consumer_cycles",), ("producer_cycles", "consumer_cycles")]
)
def test_short_transfers_beside_compute_lose_nothing(family: str, flow: int, computing: tuple[str, ...]) -> None:
    columns = {"flow": flow, "store_cycles": T // 5, "load_cycles": T // 5, **dict.fromkeys(computing, T)}
    full, half = (stream(family, r, **columns, tiles=800, fifo_depth=8) for r in (f"{family}-full-period", family))
    assert full.cycles == half.cycles
    assert half.cycles == 800 * T + 2 * (T // 5) + (len(computing) - 1) * T


def test_a_ring_in_ub_is_held_during_compute_so_that_one_store_a_round_shows() -> None:
    columns = {"flow": TILE_FLOW, "store_cycles": T // 5, "consumer_cycles": T, "tiles": 800, "fifo_depth": 8}
    assert stream("a5", "a5", **columns).cycles == 800 * T + T // 5
    assert stream("a5", "a5-full-period", **columns).cycles == 800 * T + 100 * (T // 5)
    assert stream("a5", "a5", **{**columns, "consumer_cycles": 0, "producer_cycles": T}).cycles == 800 * T + T // 5


# Rendezvous


@every_sound_pipe
@pytest.mark.parametrize(("slots", "expected", "factor"), [(4, 1001 * T, 2), (8, 1001 * T, 2), (2, 1500 * T, 4 / 3)])
def test_rendezvous_against_sparse_waits(
    family: str, direction: int, flow: int, slots: int, expected: int, factor: float
) -> None:
    columns = {**stages(family, flow, T, T), "direction": direction, "fifo_depth": slots, "tiles": 1000}
    rendezvous, sparse = stream(family, f"{family}-rendezvous", **columns), stream(family, family, **columns)
    assert (rendezvous.cycles, sparse.cycles) == (2000 * T, expected)
    assert rendezvous.cycles / sparse.cycles == pytest.approx(factor, rel=2e-3)


@both_families
@both_flows
def test_rendezvous_against_no_reverse_dependency(family: str, flow: int) -> None:
    """Without waits and credits, SlotNum 2: an odd number of tiles has nothing to drain."""
    columns = {**stages(family, flow, T, T), "fifo_depth": 2, "tiles": 1001}
    rendezvous = stream(family, f"{family}-rendezvous", **columns)
    nothing = stream(family, family, **columns, allocate=0, free=0)
    assert (rendezvous.cycles, nothing.cycles) == (2002 * T, 1002 * T)
    assert rendezvous.cycles / nothing.cycles == pytest.approx(2, rel=2e-3)
    assert {name.rsplit(".")[-1] for name in waits(nothing)} >= {"ready"}
    assert not any(name.endswith(".free") for name in waits(nothing))
    assert any(name.endswith(".free") for name in waits(rendezvous))


def waits(answer: Answer) -> Mapping[str, int]:
    """Cycles of waiting by name, as `explain` accounts for them."""
    return Explanation(answer.evaluation.problem, answer.evaluation).accounts.waits


# Who holds a slot, and for how long


@pytest.mark.parametrize(("direction", "pipe"), [("C2V", "AIV0.V"), ("V2C", "AIC.MTE1")])
def test_a_slot_of_950_is_held_until_tfree(direction: str, pipe: str) -> None:
    """One slot, store t, long compute 5 t: on A2/A3 the slot is free at the end of the load, and the next store hides
    behind the compute; on 950 the producer waits for TFREE, which comes behind the compute."""
    work = one_pipe(direction, TILES, tiles=50, slot_num=1, store=T, load=0, compute=5 * T)
    on_a2a3, on_950 = (ask(work, family, free_sync=True) for family in FAMILIES)
    assert on_a2a3.verdicts == on_950.verdicts == ("ok",)
    assert on_a2a3.cycles == T + 50 * 5 * T
    assert on_950.cycles == 50 * (T + 5 * T)
    assert on_950.busy(pipe) == on_a2a3.busy(pipe) == 50 * 5 * T
    assert waits(on_950)["pipe.free"] > 200 * T


def test_a_tfree_before_the_compute_gives_the_slot_of_950_away() -> None:
    early = one_pipe(tiles=50, slot_num=1, store=T, load=0, compute=5 * T, consume="TPOP TFREE COMPUTE")
    answer = ask(early, "a5", free_sync=True)
    assert (answer.verdict, answer.rule) == ("race", "early-release")
    assert ask(early, "a2a3").verdicts == ("ok",)


# Local slots


@both_directions
@both_flows
@pytest.mark.parametrize("consumer", [0, 500, 5000])
def test_local_slots_do_not_change_the_time_of_a2a3(direction: int, flow: int, consumer: int) -> None:
    columns = {"direction": direction, "flow": flow, "slot_bytes": 8192, "tiles": 40, "consumer_cycles": consumer}
    two, eight = (ask(workload("stream"), "a2a3", **columns, local_slot_num=n) for n in (2, 8))
    assert two.verdicts == eight.verdicts == ("ok",)
    assert two.cycles == eight.cycles


def test_nobody_protects_local_slots() -> None:
    """Two tiles of the consumer in flight need two of them."""
    answer = ask(one_pipe(tiles=40, local_slot_num=1), "a2a3")
    assert (answer.verdict, answer.rule) == ("overwrite", "slot-reuse")
    assert "AIV0.pipe.local: tile 1 may be written into slot 0 before tile 0 is read" in answer.sentence
    assert "LocalSlotNum rotates without any flag" in answer.sentence
    assert ask(one_pipe(tiles=40, local_slot_num=1, local_tiles=1), "a2a3").verdicts == ("ok",)
