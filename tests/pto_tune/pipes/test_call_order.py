"""The calls of a pipe in the wrong order, once too often or not at all, and rings that are wrong by themselves."""

import pytest
from pipe_forms import FAMILIES, GLOBAL, TILES, ask, one_pipe

both_families = pytest.mark.parametrize("family", FAMILIES)
both_directions = pytest.mark.parametrize("direction", ["C2V", "V2C"])
GM = {"gm_form": True}


# Slots that are never freed, or twice


@both_directions
@pytest.mark.parametrize(("tiles", "where"), [(2, "destructor"), (4, "destructor"), (5, "TPUSH"), (12, "TPUSH")])
def test_a_local_ring_of_950_needs_tfree(direction: str, tiles: int, where: str) -> None:
    work = one_pipe(direction, TILES, tiles=tiles, consume="TPOP COMPUTE")
    answer = ask(work, "a5")
    assert (answer.verdict, answer.rule) == ("hang", "deadlock")
    producer, consumer = ("AIC.FIX", "AIV0") if direction == "C2V" else ("AIV0.MTE3", "AIC")
    if where == "destructor":
        assert (
            f"{producer} waits in the destructor (drain pipe) for credits that {consumer} never sends"
            in answer.sentence
        )
    else:
        assert f"{producer} waits in TPUSH pipe for space from {consumer} at tile 4" in answer.sentence
    assert ask(work, "a2a3").verdicts == ("ok",)
    assert ask(one_pipe(direction, TILES, tiles=tiles), "a5").verdicts == ("ok",)


def test_a_tile_from_gm_of_950_is_freed_by_tpop_and_again_by_tfree() -> None:
    answer = ask(one_pipe(**GM), "a5")
    assert answer.verdict == "overwrite"
    assert "tile 6 may be written into slot 2 before tile 2 is read" in answer.rules["slot-reuse"]
    assert "12 credits stay in the flag counters at the end" in answer.rules["flag-left"]
    assert ask(one_pipe(**GM, consume="TPOP COMPUTE"), "a5").verdicts == ("ok",)


@pytest.mark.parametrize("tiles", [2, 4])
def test_credits_of_tiles_freed_twice_poison_the_next_launch(tiles: int) -> None:
    answer = ask(one_pipe(tiles=tiles, **GM), "a5")
    assert (answer.verdicts, answer.rule) == (("overwrite",), "flag-left")
    assert answer.sentence.startswith(f"{tiles} credits stay in the flag counters at the end")  # of two sub-cores


# Rings that are wrong by themselves


def test_v2c_gm_of_950_frees_on_another_pipe_than_it_loads() -> None:
    answer = ask(one_pipe("V2C", GLOBAL, **GM), "a5")
    assert (answer.verdicts, answer.rule) == (("race",), "early-release")
    assert "tile 4 may be written into slot 0 while tile 0 is still read" in answer.sentence
    assert "the free signal leaves on MTE1 without waiting for that read" in answer.sentence
    assert ask(one_pipe("V2C", TILES, consume="TPOP COMPUTE", **GM), "a5").verdicts == ("race",)
    assert ask(one_pipe("V2C", GLOBAL, **GM), "a2a3").verdicts == ("ok",)
    assert ask(one_pipe("C2V", GLOBAL, **GM), "a5").verdicts == ("ok",)


@pytest.mark.parametrize("flow", [TILES, GLOBAL])
@pytest.mark.parametrize("direction", ["BOTH_GM", "BOTH"])
@pytest.mark.parametrize("tiles", [1, 12])
def test_both_gm_of_950_waits_for_a_flag_that_nobody_sets(direction: str, flow: str, tiles: int) -> None:
    answer = ask(one_pipe(direction, flow, tiles=tiles, **GM), "a5")
    assert (answer.verdict, answer.rule) == ("hang", "deadlock")
    for sub in ("AIV0", "AIV1"):
        assert f"{sub}.MTE2 waits in TPOP pipe for data from AIC at tile 0" in answer.sentence


@pytest.mark.parametrize("flow", [TILES, GLOBAL])
def test_tiles_of_a_sentence_exist(flow: str) -> None:
    """Whatever else applies to a BOTH_GM that hangs, it speaks of tiles from 0 on."""
    for sentence in ask(one_pipe("BOTH", flow, **GM), "a5").rules.values():
        assert "tile -" not in sentence


def test_global_data_puts_both_rings_on_the_same_slots() -> None:
    answer = ask(one_pipe("BOTH", GLOBAL), "a2a3")
    assert (answer.verdict, answer.rule) == ("overwrite", "slot-reuse")
    assert "while pipe.V2C uses it" in answer.sentence
    assert "the GlobalData calls put the rings of both ways on the same slots" in answer.sentence
    assert ask(one_pipe("BOTH", TILES), "a2a3").verdicts == ("ok",)
    assert ask(one_pipe("BOTH", GLOBAL), "a5").rule == "pipe-global-data"
    assert ask(one_pipe("BOTH", TILES), "a5").verdicts == ("ok",)


# The order of the GlobalData calls


@both_families
@pytest.mark.parametrize("tiles", [1, 12])
def test_a_push_needs_an_allocated_slot(family: str, tiles: int) -> None:
    answer = ask(one_pipe("C2V", GLOBAL, tiles=tiles, produce="TSTORE TPUSH", **GM), family)
    assert (answer.verdict, answer.rule) == ("refused", "pipe-talloc")
    assert answer.sentence == "FIFO pipe: AIC calls TPUSH with GlobalData and never TALLOC, which gives the slot"


@both_families
def test_a_push_before_its_talloc_is_named_by_its_tile(family: str) -> None:
    answer = ask(one_pipe("C2V", GLOBAL, produce="TPUSH TALLOC TSTORE", **GM), family)
    assert (answer.verdict, answer.rule) == ("refused", "push-without-talloc")
    assert answer.sentence.startswith("AIC pushes tile 0 of pipe without TALLOC")


@both_families
@pytest.mark.parametrize("tiles", [1, 2, 12])
def test_a_store_behind_its_push_is_a_race(family: str, tiles: int) -> None:
    answer = ask(one_pipe("C2V", GLOBAL, tiles=tiles, produce="TALLOC TPUSH TSTORE", **GM), family)
    assert (answer.verdict, answer.rule) == ("race", "early-read")
    assert answer.sentence.startswith("pipe: tile 0 may be read before it is written")
    assert "the store has to come before the TPUSH of its tile" in answer.sentence


@both_families
def test_a_slot_that_is_freed_before_it_is_loaded_is_a_race(family: str) -> None:
    """A credit stands for tiles 0 and 1, and leaves behind the load of tile 0: tile 5 comes into the slot of tile 1."""
    early = "TPOP TFREE TLOAD COMPUTE"
    answer = ask(one_pipe("C2V", GLOBAL, consume=early, **GM), family)
    assert (answer.verdict, answer.rule) == ("race", "early-release")
    assert "tile 5 may be written into slot 1 while tile 1 is still read" in answer.sentence
    assert "the free signal leaves on MTE2 without waiting for that read" in answer.sentence
    assert ask(one_pipe("C2V", GLOBAL, tiles=5, consume=early, **GM), family).verdicts == ("ok",)


@both_families
@pytest.mark.parametrize(
    ("rules", "tile"), [("", 6), ("-full-period", 4), ("-rendezvous", 1)], ids=["half", "full", "rendezvous"]
)
def test_two_allocated_slots_for_every_push(family: str, rules: str, tile: int) -> None:
    """The producer's index runs twice as fast as the consumer's credits, so that it waits for tiles that it never
    pushes: at SlotNum 4 for the second credit at tile 6 (of period 2), for the first at 4 (of period 4), or at 1."""
    answer = ask(one_pipe("C2V", GLOBAL, produce="TALLOC TALLOC TSTORE TPUSH", **GM), family, family + rules)
    assert (answer.verdict, answer.rule) == ("hang", "deadlock")
    assert f"waits in TALLOC pipe for space from AIV0 at tile {tile}" in answer.sentence.replace(" and AIV1", "")


@both_families
@pytest.mark.parametrize("tiles", [1, 2, 3])
def test_two_allocated_slots_for_every_push_before_the_ring_is_full(family: str, tiles: int) -> None:
    work = one_pipe("C2V", GLOBAL, tiles=tiles, produce="TALLOC TALLOC TSTORE TPUSH", **GM)
    answer = ask(work, family)
    assert answer.verdict == "hang"
    assert "waits in the destructor (drain pipe)" in answer.sentence


@both_families
@pytest.mark.parametrize(
    ("rules", "slots", "tile"),
    [("", 4, None), ("", 2, None), ("", 1, 1), ("-full-period", 4, None), ("-rendezvous", 4, 1)],
)
def test_two_slots_allocated_at_a_time(family: str, rules: str, slots: int, tile: int | None) -> None:
    """As many pushes as slots, two by two: sound where the second one is there before the first is pushed."""
    pair = "TALLOC TALLOC TSTORE TPUSH TSTORE TPUSH"
    answer = ask(
        one_pipe(
            "C2V",
            GLOBAL,
            produce=pair,
            consume="TPOP TLOAD TFREE COMPUTE TPOP TLOAD TFREE COMPUTE",
            slot_num=slots,
            **GM,
        ),
        family,
        family + rules,
    )
    if tile is None:
        assert answer.verdicts == ("ok",)
    else:
        assert answer.verdict == "hang"
        assert f"waits in TALLOC pipe for space from AIV0 at tile {tile}" in answer.sentence.replace(" and AIV1", "")
