"""The oracle on credits and slots: counts in closed form, and accesses that come too early."""

import pytest
from oracle_examples import fifo, platform, workload
from simulate import OracleResult, simulate

from pto_tune.model.expr import expr, name
from pto_tune.model.nodes import NO_SPLIT, UP_DOWN, Fifo, Node, Ring
from pto_tune.model.vocabulary import cycles, instr, loop, talloc, tfree, tile, tpop, tpush
from pto_tune.rule_sets import RuleSet, rule_set_for, rule_sets

A2A3, A5 = rule_set_for("a2a3"), rule_set_for("a5", "a5")
TPUSH = tpush("pipe", tile("Acc", 16, 16, 4, cycles(20)))


def run(aic: tuple[Node, ...], aiv: tuple[Node, ...], ring: Fifo, rules: RuleSet = A2A3) -> OracleResult:
    return simulate(workload(aic, aiv, fifos=(ring,)), platform(), rules, {})


def bare(tiles: int, ring: Fifo, rules: RuleSet, load: int = 10) -> OracleResult:
    """Tiles stored in 20 cycles and loaded in `load`, or used as long where the ring is in UB."""
    pop = tpop("pipe", tile("Vec", 8, 16, 4, cycles(load)))
    use = instr("USE", "V", cycles(load), reads=["pipe"])
    in_ub = rules.family == "a5" and not ring.gm_form
    consumer = (pop, use, tfree("pipe", tile=True)) if in_ub else (pop,)
    return run((loop(tiles, TPUSH),), (loop(tiles, *consumer),), ring, rules)


# Credits


@pytest.mark.parametrize("rules", [*rule_sets("a2a3"), *rule_sets("a5")], ids=lambda r: r.name)
@pytest.mark.parametrize("slots", range(1, 17))
def test_credits_in_closed_form(rules: RuleSet, slots: int) -> None:
    for tiles in (0, 1, slots - 1, slots, slots + 1, 3 * slots + 2, 40):
        credits = bare(tiles, fifo(slots=slots), rules).credits["pipe"]
        period = {"half": slots // 2 if slots > 2 else slots, "slot_num": slots, "one": 1}[rules.period]
        first = 0 if rules.wait_from == "zero" else slots
        # multiples of the period in [first, tiles), by how many there are below a bound
        waited = max(0, (tiles - 1) // period - (first - 1) // period) if tiles else 0
        fixed = rules.drain == "period"
        constructed = period if rules.ctor_credits == "period" else 0
        pending = max(0, tiles // period - waited) if not fixed else min(period, constructed + tiles // period - waited)
        found = [credits.constructed, credits.notified, credits.waited, credits.drained]
        expected = [constructed, tiles // period, waited, pending]
        if fixed and pending < period:  # the destructor hangs
            del found[3], expected[3]
        assert found == [{"AIV0": n, "AIV1": n} for n in expected], (slots, tiles)


@pytest.mark.parametrize(("slots", "credits"), [(4, {1: 32, 2: 64, 3: 31, 4: 64}), (8, {1: 16, 2: 32, 3: 16, 4: 64})])
def test_tfree_of_tiles_held_together_looks_at_the_last_popped_one(slots: int, credits: dict[int, int]) -> None:
    for held, sent in credits.items():
        groups, rest = divmod(64, held)
        consumer = (
            loop(groups, loop(held, tpop("pipe")), loop(held, tfree("pipe"))),
            loop(rest, tpop("pipe")),
            loop(rest, tfree("pipe")),
        )
        # The producer does not wait, so that no count of credits keeps it from going on.
        producer = loop(64, talloc("pipe"), tpush("pipe"))
        result = run((producer,), consumer, fifo(slots=slots, allocate=0))
        assert result.credits["pipe"].notified == {"AIV0": sent, "AIV1": sent}


@pytest.mark.parametrize(("tiles", "status"), [(1, "ok"), (2, "hang"), (3, "ok"), (4, "hang"), (5, "ok")])
def test_the_destructor_ignores_switches(tiles: int, status: str) -> None:
    result = bare(tiles, fifo(slots=2, allocate=0, free=0), A2A3)
    assert result.status == status
    if status == "hang":
        assert result.blocked == {"AIC": "S waits for pipe.free from AIV0 (credit 1 of 1 at destruction)"}
    assert result.credits["pipe"].waited == result.credits["pipe"].notified == {"AIV0": 0, "AIV1": 0}


@pytest.mark.parametrize("tiles", [1, 2, 5])
def test_the_destructor_of_a_rendezvous_waits_for_the_credit_of_the_constructor(tiles: int) -> None:
    for switches in ({}, {"allocate": 0, "free": 0}):
        result = bare(tiles, fifo(slots=2, **switches), rule_set_for("a2a3", "a2a3-rendezvous"))
        credits = result.credits["pipe"]
        assert (result.status, result.credits_left) == ("ok", 0)
        assert credits.constructed == credits.drained == {"AIV0": 1, "AIV1": 1}
        assert credits.waited == credits.notified == dict.fromkeys(("AIV0", "AIV1"), 0 if switches else tiles)


@pytest.mark.parametrize(
    ("ring", "constructed"),
    [
        (fifo(slots=4, split=NO_SPLIT), {"AIV0": 0, "AIV1": 0}),
        (fifo(slots=4, split=NO_SPLIT, gm_form=True), {"AIV0": 2, "AIV1": 2}),
        (fifo(slots=4, split=UP_DOWN), {"AIV0": 2, "AIV1": 2}),
        (fifo(slots=4, split=UP_DOWN, is_no_split=1), {"AIV0": 0, "AIV1": 0}),
        (fifo(slots=4, split=NO_SPLIT, is_no_split=0), {"AIV0": 2, "AIV1": 2}),
        (fifo(slots=4, split=UP_DOWN, used=0), {"AIV0": 0, "AIV1": 0}),
    ],
)
def test_local_rings_without_split_have_no_credits_at_construction(ring: Fifo, constructed: dict[str, int]) -> None:
    result = run((loop(0, TPUSH),), (), ring, rule_set_for("a5", "a5-local-drain"))
    assert result.credits["pipe"].constructed == constructed
    drained = 2 if constructed["AIV0"] else 0
    assert result.credits["pipe"].drained["AIV0"] == drained


def test_the_cube_constructs_for_one_sub_core_where_there_is_no_split() -> None:
    ring = fifo(direction="V2C", slots=4, split=NO_SPLIT)
    result = run((loop(0, tpop("pipe")),), (), ring, rule_set_for("a5", "a5-ctor-credits"))
    assert result.credits["pipe"].constructed == {"AIV0": 2, "AIV1": 0}


# Slots


def test_an_odd_depth_lets_the_producer_overwrite_what_is_not_read() -> None:
    # SyncPeriod 2, so that the first wait is before tile 6. Tile 5 is stored at 100, tile 0 is loaded until 520.
    assert bare(7, fifo(slots=5), A2A3, load=500).clashes == [("pipe", 5, 0)]
    # Tile 6 is stored when tile 1 has been loaded, at 1020, and tile 7 right behind it, while tile 2 is loaded.
    assert bare(8, fifo(slots=5), A2A3, load=500).clashes == [("pipe", 5, 0), ("pipe", 7, 2)]
    assert bare(8, fifo(slots=5), A2A3, load=10).clashes == []
    assert bare(8, fifo(slots=6), A2A3, load=500).clashes == []


def test_credits_at_construction_let_the_producer_run_over_the_ring() -> None:
    rules = rule_set_for("a5", "a5-ctor-credits")
    # Tile i is used from 20 + 500 i on. Tiles 2 and 3 go on the credits of the constructor.
    assert bare(4, fifo(slots=2), rules, load=500).clashes == [("pipe", 2, 0), ("pipe", 3, 1)]
    assert bare(4, fifo(slots=2), A5, load=500).clashes == []


def global_data(*consumer: Node, store_after_push: bool = False, slots: int = 1) -> OracleResult:
    store = instr("STORE", "FIX", cycles(20), writes=["pipe"])
    push = (tpush("pipe"), store) if store_after_push else (store, tpush("pipe"))
    return run((loop(3, talloc("pipe"), *push),), (loop(3, *consumer),), fifo(slots=slots))


LOAD = instr("LOAD", "MTE2", cycles(10), reads=["pipe"])


def test_a_store_after_its_push_is_read_before_it_is_there() -> None:
    consumer = (tpop("pipe"), LOAD, tfree("pipe"))
    assert global_data(*consumer).torn == []
    assert ("pipe", 0, "AIV1") in global_data(*consumer, store_after_push=True).torn


def test_a_tile_that_is_freed_before_its_load_is_overwritten() -> None:
    assert global_data(tpop("pipe"), tfree("pipe"), LOAD).clashes == [("pipe", 1, 0), ("pipe", 2, 0)]
    assert global_data(tpop("pipe"), LOAD, tfree("pipe")).clashes == []


def test_a_tile_without_a_reader_is_read_when_it_is_popped() -> None:
    assert global_data(tpop("pipe"), tfree("pipe")).clashes == []
    pushed_early = global_data(tpop("pipe"), tfree("pipe"), store_after_push=True)
    assert ("pipe", 0, "AIV0") in pushed_early.torn


def test_each_sub_core_reads_for_itself() -> None:
    def clashes(sub: int) -> object:
        """Only this sub-core takes time over a load that comes after its TFREE."""
        slow = instr("LOAD", "MTE2", cycles(10 * name("sub").eq(sub)), reads=["pipe"])
        return global_data(tpop("pipe"), tfree("pipe"), slow).clashes

    assert clashes(0) == clashes(1) == [("pipe", 1, 0), ("pipe", 2, 0)]
    assert clashes(2) == []


def test_a_load_that_never_starts_reads_nothing() -> None:
    never = instr("LOAD", "MTE2", cycles(10), waits=["never"], reads=["pipe"])
    result = global_data(tpop("pipe"), tfree("pipe"), never)
    assert (result.status, result.clashes) == ("hang", [])


def test_rings_of_the_workload_have_no_protection() -> None:
    example = workload(
        aiv=(
            loop(3, instr("FILL", "MTE2", cycles(10), writes=["own"])),
            loop(3, instr("USE", "V", cycles(50), reads=["own"])),
        ),
        rings=(Ring("own", "AIV", "UB", expr(2), expr(32)),),
    )
    result = simulate(example, platform(), A2A3, {})
    assert result.clashes == [("own", 2, 0)]  # filled from 20 to 30, while the first one is used until 50
    assert result.torn == [("own", 0, "AIV0"), ("own", 0, "AIV1")]  # used from 0 on
