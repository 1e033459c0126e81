"""A GlobalData consumer that holds h tiles and frees them together.

TFREE looks at the tile popped last, and not at the one that it frees: h calls behind each other all notify or all do
not. So the credits are right for h = 1 alone.
"""

import pytest
from pipe_forms import FAMILIES, ask, chip
from simulate import simulate

from pto_tune.rule_sets import credits, rule_set_for
from pto_tune.workloads import workload

TILES = 64
# SlotNum, h, credits for 64 tiles
CREDITS = [(4, 1, 32), (4, 2, 64), (4, 3, 31), (4, 4, 64), (8, 1, 16), (8, 2, 32), (8, 3, 16), (8, 4, 64)]
# SlotNum, h, verdict and the tile at which it happens
VERDICTS = [
    (4, 1, "ok", ""),
    (4, 2, "overwrite", "tile 6 may be written into slot 2 before tile 2 is read"),
    (4, 3, "hang", "waits in TALLOC c2v for space from AIV0 at tile 4"),
    (4, 4, "overwrite", "tile 8 may be written into slot 0 before tile 4 is read"),
    (8, 1, "ok", ""),
    (8, 2, "overwrite", "tile 12 may be written into slot 4 before tile 4 is read"),
    (8, 3, "hang", "waits in TALLOC c2v for space from AIV0 at tile 8"),
    (8, 4, "overwrite", "tile 12 may be written into slot 4 before tile 4 is read"),
]
both_families = pytest.mark.parametrize("family", FAMILIES)


@both_families
@pytest.mark.parametrize(("slots", "hold", "sent"), CREDITS)
def test_credits_of_tiles_that_are_freed_together(family: str, slots: int, hold: int, sent: int) -> None:
    """The producer does not wait here, so that all tiles are popped whatever comes of it."""
    columns = {"tiles": TILES, "fifo_depth": slots, "hold": hold, "allocate": 0, "slot_bytes": 8192}
    rules = rule_set_for(family)
    counted = simulate(workload("stream"), chip(family), rules, columns)
    assert counted.status == "ok"
    assert dict(counted.credits["c2v"].notified) == {"AIV0": sent, "AIV1": sent}
    due = int(credits.notified(rules, slots, 0, TILES))
    assert (sent == due) == ((slots, hold) in [(4, 1), (8, 1), (8, 3)])

    left = sent - int(credits.drained(rules, slots, 0, TILES))  # of each sub-core: the producer took none before
    answer = ask(workload("stream"), family, **columns)
    assert f"{2 * left} credits stay in the flag counters" in answer.rules["flag-left"]


@both_families
@pytest.mark.parametrize(("slots", "hold", "verdict", "words"), VERDICTS)
def test_the_verdict_that_follows(family: str, slots: int, hold: int, verdict: str, words: str) -> None:
    columns = {"tiles": TILES, "fifo_depth": slots, "hold": hold, "slot_bytes": 8192}
    answer = ask(workload("stream"), family, **columns)
    structure = {rule: s for rule, s in answer.rules.items() if rule != "flag-counter"}
    if verdict == "ok":
        assert answer.verdicts == ("ok",)
    else:
        rule = "deadlock" if verdict == "hang" else "slot-reuse"
        assert words in structure[rule].replace(" and AIV1", "")
        assert verdict in answer.verdicts
        assert ("flag-left" in structure) == (verdict == "overwrite")
    if verdict == "overwrite" and family == "a2a3":  # so many tiles or credits may be on their way
        assert (answer.verdict, answer.rule) == ("refused", "flag-counter")
    else:
        assert answer.verdict == verdict


@both_families
@pytest.mark.parametrize(("slots", "hold", "verdict", "words"), VERDICTS)
def test_the_verdict_of_a_few_tiles(family: str, slots: int, hold: int, verdict: str, words: str) -> None:
    """With 14 tiles no counter can overflow."""
    answer = ask(workload("stream"), family, tiles=14, fifo_depth=slots, hold=hold, slot_bytes=8192)
    assert answer.verdict == verdict
    sentence = answer.rules.get({"hang": "deadlock", "overwrite": "slot-reuse"}.get(verdict, ""), "")
    assert words in sentence.replace(" and AIV1", "")


@both_families
def test_a_hang_needs_no_wrong_number_of_credits(family: str) -> None:
    """SlotNum 8, three at a time: 16 credits in 64 tiles are as many as are due, but the first comes with tile 11, and
    tile 8 waits for it."""
    three = {"fifo_depth": 8, "hold": 3, "slot_bytes": 8192}
    assert ask(workload("stream"), family, **three, tiles=8).verdicts == ("ok",)
    assert ask(workload("stream"), family, **three, tiles=9).verdict == "hang"
