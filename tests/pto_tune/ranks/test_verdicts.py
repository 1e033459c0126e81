"""What is refused, hangs or is a race between ranks, with the sentence that says so; and times of transfers in closed
form, against the instructions that the engine runs."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from cost_models import Platform, load_platform
from cost_models.rounding import to_cycles
from pto_tune.evaluation import Problem, evaluate_columns
from pto_tune.model.communication import Signal, Staging
from pto_tune.model.expr import expr, name
from pto_tune.model.nodes import Launch, Loop, Node, Workload
from pto_tune.model.vocabulary import cycles, dma, instr, when
from pto_tune.model.vocabulary_remote import (
    barrier,
    loop_index,
    poll,
    post,
    signal,
    staging,
    tget,
    tnotify,
    tput,
    ttest,
    twait,
)
from pto_tune.ranks.engine import RankRun, run_row
from pto_tune.ranks.state import E_LOAD, E_STORE
from pto_tune.remote.columns import COLUMN_TAIL, CORNER, FULL, HALF, ROW_TAIL, call_cycles, calls
from pto_tune.remote.staging import OPS, TGET, TPUT
from pto_tune.verdicts import VERDICTS

FAMILIES = {"a2a3": ("ascend910b2", "hccs"), "a5": ("ascend950pr", "ub")}
both_families = pytest.mark.parametrize("family", FAMILIES)
both_ops = pytest.mark.parametrize("op", OPS)

RANK, SUB = name("rank"), name("sub")
OTHER = 1 - RANK
BASIC = (1, 1, 1, 16, 16)
SIG = signal("sig", 4)
TILE = staging("tile", 16, 16)


def kernel(*nodes: Node, signals: Sequence[Signal] = (SIG,), tiles: Sequence[Staging] = (TILE,)) -> Workload:
    """A kernel of one block on two ranks, of which AIV0 runs everything."""
    return Workload(
        name="example",
        doc="",
        problem=(),
        tunables=(),
        buffers=(),
        fifos=(),
        programs=(("AIV", (when(SUB.eq(0), *nodes),)),),
        launch=Launch(expr(1)),
        ranks=expr(2),
        signals=tuple(signals),
        staging=tuple(tiles),
    )


def on(rank: int, *nodes: Node) -> Loop:
    return when(RANK.eq(rank), *nodes)


def late(duration: int) -> tuple[Node, Node]:
    """The scalar process goes on so much later."""
    return instr("TADD", "V", cycles(duration)), barrier("V")


def chip(family: str, overrides: dict[str, float] | None = None) -> Platform:
    return load_platform(FAMILIES[family][0], overrides)


@dataclass(frozen=True)
class Answer:
    verdict: str
    rule: str
    sentence: str
    also: list[str]
    cycles: int | None


def ask(work: Workload, family: str) -> Answer:
    e = evaluate_columns(Problem.of(work, chip(family)), {})
    rule = e.rules[e.rule[0]] if e.rule[0] >= 0 else ""
    timed = int(e.cycles[0]) if e.timed[0] else None
    return Answer(VERDICTS[e.verdict[0]], rule, e.reason(0), e.also(0), timed)


def whole(duration: float) -> int:
    return int(to_cycles(duration))


# Deadlocks


@both_families
def test_two_ranks_that_wait_for_each_others_signal_first(family: str) -> None:
    signals = [signal("ping", 1), signal("pong", 1)]
    work = kernel(
        on(0, twait("ping", 1), tnotify("pong", 1)), on(1, twait("pong", 1), tnotify("ping", 0)), signals=signals
    )
    ask(work, family)  # whatever has to be made ready once
    begun = time.perf_counter()
    answer = ask(work, family)
    assert time.perf_counter() - begun < 1
    assert (answer.verdict, answer.rule, answer.cycles) == ("hang", "deadlock", None)
    assert answer.sentence == (
        "nobody can go on: rank 0 AIV0 waits in TWAIT for ping[0] >= 1, and it is 0; "
        "rank 1 AIV0 waits in TWAIT for pong[0] >= 1, and it is 0"
    )


@both_families
def test_the_other_order_goes_on(family: str) -> None:
    assert ask(kernel(tnotify("sig", OTHER), twait("sig", 1)), family).verdict == "ok"


@both_families
def test_a_bound_ends_a_wait_for_nothing(family: str) -> None:
    """TTEST in a loop with a bound cannot hang where TWAIT does."""
    forever = ask(kernel(on(0, twait("sig", 1, at=2))), family)
    assert (forever.verdict, "sig[2] >= 1" in forever.sentence) == ("hang", True)
    assert ask(kernel(on(0, *poll("sig", 1, 20, at=2))), family).verdict == "ok"


# Signals ahead of their data


def sizes(family: str) -> dict[str, int]:
    """Whole cycles: issue, barrier, a TNOTIFY up to its own barrier, a 4 KiB TSTORE and a 16 x 16 TPUT until their data
    is there."""
    p, link = chip(family), f"link.{FAMILIES[family][1]}.put"
    load, store = "dma.gm_to_ub", "dma.ub_to_gm"
    stored = whole(p[f"{store}.startup"] + max(p[f"{store}.burst"], 4096 / p[f"{store}.rate"]))
    loaded = whole(p[f"{load}.startup"] + max(16 * p[f"{load}.burst"], 1024 / p[f"{load}.rate"]))
    put = whole(p[f"{link}.startup"] + max(16 * p[f"{store}.burst"], 1024 / p[f"{link}.rate"]))
    arrival = 2 * p["signal.cache_line"] + p["signal.atomic"] + p[f"{link}.latency"]
    issue = whole(p["scalar.issue"])
    return {
        "issue": issue,
        "barrier": whole(p["signal.barrier"]),
        "notify": whole(arrival + p["signal.fence"]),
        "TSTORE": issue + stored + whole(p[f"{store}.latency"]),
        "TPUT": issue + loaded + whole(p[f"{load}.latency"]) + put + whole(p[f"{link}.latency"]),
    }


WRITES: dict[str, tuple[Node, int]] = {
    "TSTORE": (instr("TSTORE", "MTE3", dma("ub_to_gm", 4096, 4096), event="written"), 1),
    "TPUT": (tput(1, BASIC, "tile", event="written"), 2),
}
"""Something that writes, and the instructions that it is."""
every_write = pytest.mark.parametrize("write", WRITES)


def announced(write: str, *between: Node, waits: Sequence[str] = ()) -> Workload:
    return kernel(on(0, WRITES[write][0], *between, tnotify("sig", 1, waits=waits)))


@both_families
@every_write
def test_a_notify_after_a_write_needs_a_barrier(family: str, write: str) -> None:
    """The sentence names it, and what it costs by itself."""
    answer = ask(announced(write), family)
    assert (answer.verdict, answer.rule) == ("race", "signal-order")
    at = WRITES[write][1] * sizes(family)["issue"]
    assert answer.sentence.startswith(
        f"rank 0 AIV0: TNOTIFY of sig at cycle {at} may overtake writes that are still under way on MTE3: "
        "a pipe_barrier before it orders them, for "
    )
    assert answer.sentence.endswith(f"{sizes(family)['barrier']} of its own")


@both_families
@every_write
def test_the_sentence_has_the_waiting_of_the_barrier(family: str, write: str) -> None:
    """From where the TNOTIFY would have begun to where the write is through."""
    n = sizes(family)
    waiting = n[write] - WRITES[write][1] * n["issue"]
    assert f"for {waiting} cycles of waiting and {n['barrier']} of its own" in ask(announced(write), family).sentence


@both_families
@every_write
def test_times_with_and_without_the_barrier(family: str, write: str) -> None:
    """With it, the TNOTIFY begins when the write is through; without it, at once, and only its own barrier waits."""
    n = sizes(family)
    without, behind = ask(announced(write), family), ask(announced(write, barrier()), family)
    assert (behind.verdict, behind.sentence) == ("ok", "")
    begun = WRITES[write][1] * n["issue"]
    assert without.cycles == max(begun + n["notify"], n[write]) + n["barrier"]
    assert behind.cycles == n[write] + n["barrier"] + n["notify"] + n["barrier"]


@both_families
@every_write
def test_waiting_for_the_events_of_a_write_orders_it_too(family: str, write: str) -> None:
    """So does a flag from its pipe; both save what a barrier costs by itself."""
    n = sizes(family)
    for ordered in (announced(write, waits=["written"]), announced(write, barrier("MTE3"))):
        answer = ask(ordered, family)
        assert (answer.verdict, answer.cycles) == ("ok", n[write] + n["notify"] + n["barrier"])


@both_families
@every_write
def test_a_barrier_of_another_pipe_does_not(family: str, write: str) -> None:
    for pipe in ("V", "MTE2"):
        assert ask(announced(write, barrier(pipe)), family).rule == "signal-order"


@both_families
def test_an_event_of_an_earlier_write_does_not_order_a_later_one(family: str) -> None:
    store = WRITES["TSTORE"][0]
    assert ask(
        kernel(on(0, store, replace(store, event=""), tnotify("sig", 1, waits=["written"]))), family
    ).verdict == ("race")
    assert ask(
        kernel(on(0, replace(store, event=""), store, tnotify("sig", 1, waits=["written"]))), family
    ).verdict == ("ok")


@both_families
def test_what_writes_nothing_needs_no_barrier(family: str) -> None:
    load = instr("TLOAD", "MTE2", dma("gm_to_ub", 4096, 4096))
    assert ask(kernel(on(0, load, instr("TADD", "V", cycles(900)), tnotify("sig", 1))), family).verdict == "ok"
    assert ask(kernel(on(0, WRITES["TSTORE"][0], tnotify("sig", 1, announces=False))), family).verdict == "ok"


@both_families
def test_a_plain_store_to_a_signal_is_not_ordered_either(family: str) -> None:
    store = WRITES["TSTORE"][0]
    answer = ask(kernel(on(0, store, post("sig", 1))), family)
    assert (answer.verdict, answer.rule) == ("race", "signal-order")
    assert "POST of sig" in answer.sentence
    assert ask(kernel(on(0, store, barrier(), post("sig", 1))), family).verdict == "ok"


# Values that are missed


@both_families
def test_a_second_notify_may_pass_the_value(family: str) -> None:
    """Whoever waits for exactly 1 may look too late."""
    answer = ask(kernel(on(0, tnotify("sig", 1), tnotify("sig", 1)), on(1, twait("sig", 1, cmp="EQ"))), family)
    assert (answer.verdict, answer.rule) == ("race", "missed-value")
    assert answer.sentence == (
        "rank 1 AIV0: TWAIT for sig[0] == 1 may miss it: TNOTIFY of rank 0 AIV0 makes it 2, and nothing orders that "
        "behind the wait: compare with GE"
    )


@both_families
def test_much_time_in_between_orders_nothing(family: str) -> None:
    again = (*late(100_000), tnotify("sig", 1))
    work = kernel(on(0, tnotify("sig", 1), *again), on(1, twait("sig", 1, cmp="EQ")))
    assert ask(work, family).rule == "missed-value"


@both_families
def test_a_value_that_is_passed_before_the_first_look(family: str) -> None:
    """The run itself hangs, and the sentence behind that says why."""
    two = (tnotify("sig", 1), tnotify("sig", 1))
    answer = ask(kernel(on(0, *two), on(1, *late(9000), twait("sig", 1, cmp="EQ"))), family)
    assert (answer.verdict, answer.rule) == ("hang", "deadlock")
    assert answer.also == [
        "race (missed-value): rank 1 AIV0: TWAIT for sig[0] == 1 has missed it: TNOTIFY of rank 0 AIV0 made it 2 "
        "before it was seen: compare with GE"
    ]


@both_families
@pytest.mark.parametrize(
    ("cmp", "value", "verdict"),
    [
        ("EQ", 1, "race"), ("NE", 2, "race"), ("LT", 2, "race"), ("LE", 1, "race"), ("LT", 1, "race"),
        ("EQ", 2, "ok"), ("NE", 0, "ok"), ("LT", 3, "ok"), ("LE", 2, "ok"),
        ("GE", 1, "ok"), ("GE", 2, "ok"), ("GT", 0, "ok"), ("GT", 1, "ok"),
    ],
)  # fmt: skip
def test_comparisons_with_a_counter_that_goes_from_0_to_2(family: str, cmp: str, value: int, verdict: str) -> None:
    """GE and GT never miss anything; the others only what a later notify makes false again."""
    answer = ask(kernel(on(0, tnotify("sig", 1), tnotify("sig", 1)), on(1, twait("sig", value, cmp=cmp))), family)
    assert (answer.verdict, answer.rule) == (verdict, "missed-value" if verdict == "race" else "")


@both_families
def test_a_notify_of_a_third_that_passes_the_value_is_named(family: str) -> None:
    """Both cores of rank 0 count."""
    both = (tnotify("sig", 1), tnotify("sig", 1))
    count, wait = kernel(on(0, *both)), kernel(on(1, twait("sig", 1, cmp="EQ")))
    work = replace(count, programs=(("AIV", (on(0, both[0]), *wait.programs[0][1])),))
    answer = ask(work, family)
    assert (answer.verdict, answer.rule) == ("hang", "deadlock")  # both arrive in one cycle
    assert any("has missed it: TNOTIFY of rank 0 AIV1 made it 2" in sentence for sentence in answer.also)


@both_families
def test_values_in_turn_may_be_waited_for_exactly(family: str) -> None:
    """Set 1 and Set 2 with an answer in between: whoever sends 2 knows that 1 was seen."""
    signals = [signal("sig", 1), signal("seen", 1)]
    one, two = (tnotify("sig", 1, value, op="Set") for value in (1, 2))
    first, second = (twait("sig", value, cmp="EQ") for value in (1, 2))
    answered = kernel(
        on(0, one, twait("seen", 1, cmp="EQ"), two),
        on(1, first, tnotify("seen", 0, 1, op="Set"), second),
        signals=signals,
    )
    assert ask(answered, family).verdict == "ok"
    without = ask(kernel(on(0, one, two), on(1, first, second), signals=signals), family)
    assert (without.verdict, without.rule) == ("race", "missed-value")
    assert "TWAIT for sig[0] == 1" in without.sentence


@both_families
def test_an_answer_that_is_sent_before_the_look_orders_nothing(family: str) -> None:
    signals = [signal("sig", 1), signal("seen", 1)]
    work = kernel(
        on(0, tnotify("sig", 1, 1, op="Set"), twait("seen", 1), tnotify("sig", 1, 2, op="Set")),
        on(1, tnotify("seen", 0), twait("sig", 1, cmp="EQ")),
        signals=signals,
    )
    answer = ask(work, family)
    assert "race (missed-value)" in f"{answer.verdict} ({answer.rule})" + "; ".join(answer.also)


@both_families
def test_polling_may_miss_a_value_too(family: str) -> None:
    two = (tnotify("sig", 1), tnotify("sig", 1))
    answer = ask(kernel(on(0, *two), on(1, *poll("sig", 1, 100, cmp="EQ"))), family)
    assert (answer.verdict, answer.rule) == ("race", "missed-value")
    assert answer.sentence.startswith(
        "rank 1 AIV0: TTEST for sig[0] == 1 may miss it: TNOTIFY of rank 0 AIV0 makes it 2"
    )
    assert ask(kernel(on(0, *two), on(1, *poll("sig", 1, 100, cmp="GE"))), family).verdict == "ok"


@both_families
def test_polling_that_has_missed_its_value(family: str) -> None:
    """By the first look the counter is at 2: the loop ends by its bound, which no durations should decide."""
    two = (tnotify("sig", 1), tnotify("sig", 1))
    answer = ask(kernel(on(0, *two), on(1, *late(9000), *poll("sig", 1, 10, cmp="EQ"))), family)
    assert (answer.verdict, answer.rule) == ("race", "missed-value")


# Refusals


def refused(work: Workload, family: str) -> dict[str, str]:
    """Every rule that a kernel breaks, with its sentence."""
    e = evaluate_columns(Problem.of(work, chip(family)), {})
    assert VERDICTS[e.verdict[0]] == "refused"
    assert not e.timed[0]
    return {rule: e.sentence(0, k) for k, rule in enumerate(e.rules) if e.broken[k, 0]}


@both_families
@pytest.mark.parametrize("wait", [twait("sig", 1, remote=True), ttest("sig", 1, into="x", remote=True)])
def test_waiting_on_a_remote_address(family: str, wait: Any) -> None:
    op = type(wait).__name__.upper()
    assert refused(kernel(on(0, wait)), family) == {"signal-side": f"{op} on a remote signal: it reads a local one"}


@both_families
def test_a_notify_of_a_local_address(family: str) -> None:
    found = refused(kernel(on(0, tnotify("sig", 1, remote=False))), family)
    assert found == {"signal-side": "TNOTIFY on a local signal: it writes a remote one"}


EVERY_USE = {
    "TNOTIFY": on(0, tnotify("sig", 1)),
    "TWAIT": on(1, twait("sig", 1)),
    "TTEST": on(1, ttest("sig", 1, into="x")),
}
every_use = pytest.mark.parametrize("use", EVERY_USE)


@both_families
@every_use
def test_a_signal_of_another_type(family: str, use: str) -> None:
    for elem in ("int64", "uint32", "float"):
        found = refused(kernel(EVERY_USE[use], signals=[signal("sig", 4, elem=elem)]), family)
        assert found == {"signal-type": f"{use} on a signal of {elem}: expected int32"}


@both_families
@every_use
def test_a_signal_of_six_dimensions(family: str, use: str) -> None:
    found = refused(kernel(EVERY_USE[use], signals=[signal("sig", 1, 1, 1, 1, 2, 2)]), family)
    assert found == {"signal-dims": f"{use} on a signal tensor of 6 dimensions: expected 1 to 5"}
    view = refused(kernel(on(1, twait("sig", 1, view=6 * [(1, 1)]))), family)
    assert view == {"signal-dims": "TWAIT on a signal tensor of 6 dimensions: expected 1 to 5"}


@both_families
@every_use
def test_a_signal_at_an_odd_address(family: str, use: str) -> None:
    found = refused(kernel(EVERY_USE[use], signals=[signal("sig", 4, offset_bytes=6)]), family)
    assert list(found) == ["signal-align"]
    assert "at byte 6, 2 beyond a multiple of 4" in found["signal-align"]


KB16 = 64 * 64 * 4
LARGE = (1, 1, 1, 256, 64)


def two_tiles(op: str, pong_at: int, **pong: int) -> Workload:
    make = tput if op == TPUT else tget
    ping = staging("ping", 64, 64, dynamic_rows=1, dynamic_cols=1, offset_bytes=0)
    other = replace(ping, name="pong", offset_bytes=expr(pong_at), **{k: expr(v) for k, v in pong.items()})
    return kernel(on(0, make(1, LARGE, "ping", pong="pong")), tiles=[ping, other])


@both_ops
@both_families
def test_ping_and_pong_that_share_one_byte(family: str, op: str) -> None:
    assert ask(two_tiles(op, KB16), family).verdict == "ok"
    found = refused(two_tiles(op, KB16 - 1), family)
    assert list(found) == ["ping-pong-overlap"]
    assert "ping takes bytes [0, 16384) of UB and pong [16383, 32767), 1 of them shared" in found["ping-pong-overlap"]


@both_ops
@both_families
def test_ping_and_pong_of_different_shapes(family: str, op: str) -> None:
    apart = refused(two_tiles(op, KB16, rows=32), family)
    assert list(apart) == ["ping-pong-shape"]
    assert "ping is 64 x 64 float" in apart["ping-pong-shape"]
    assert "pong is 32 x 64 float" in apart["ping-pong-shape"]
    together = refused(two_tiles(op, KB16 - 1, rows=32), family)
    assert list(together) == ["ping-pong-shape", "ping-pong-overlap"]
    assert "[0, 16384) of UB and pong [16383, 24575), 1 of them shared" in together["ping-pong-overlap"]


@both_ops
@both_families
def test_a_static_tile_that_does_not_divide(family: str, op: str) -> None:
    make = tput if op == TPUT else tget
    work = kernel(on(0, make(1, (1, 1, 1, 100, 100), "tile")), tiles=[staging("tile", 16, 64)])
    found = refused(work, family)
    assert list(found) == ["static-valid-shape"]
    assert f"{op} of 100 x 100 through a tile of 16 x 64" in found["static-valid-shape"]
    assert "remainders of 4 rows and 36 columns" in found["static-valid-shape"]


@both_families
@pytest.mark.parametrize("peer", [-1, 2, 7])
@pytest.mark.parametrize("op", [*OPS, "TNOTIFY"])
def test_a_peer_that_is_no_rank(family: str, op: str, peer: int) -> None:
    """Found where it is computed: the second trip of a loop has it."""
    last = name("i") * (peer - 1) + 1
    node = {
        TPUT: tput(last, BASIC, "tile"), TGET: tget(last, BASIC, "tile"), "TNOTIFY": tnotify("sig", last),
    }[op]  # fmt: skip
    found = refused(kernel(on(0, loop_index("i", 2, node))), family)
    assert found == {"rank-address": f"rank 0 AIV0: {op} to rank {peer}: there are ranks 0 to 1"}


@both_families
def test_a_notify_to_the_own_rank(family: str) -> None:
    """A public kernel does it, where the owner of a tile is the own rank: a signal inside the rank."""
    assert ask(kernel(on(0, tnotify("sig", RANK))), family).verdict == "ok"


@both_families
@pytest.mark.parametrize(
    ("node", "sentence"),
    [
        (tnotify("sig", 1, at=4), "rank 0 AIV0: TNOTIFY to element 4 of sig: it has fewer"),
        (tnotify("sig", 1, at=-1), "rank 0 AIV0: TNOTIFY to element -1 of sig: it has fewer"),
        (twait("sig", 0, at=1, view=[(4, 1)]), "rank 0 AIV0: TWAIT reads beyond sig, or more than a sweep may have"),
    ],
)
def test_an_element_that_a_signal_does_not_have(family: str, node: Node, sentence: str) -> None:
    assert refused(kernel(on(0, node)), family) == {"rank-address": sentence}


# What a call does with a tile, and what it leaves of it


def run_of(work: Workload, platform: Platform) -> RankRun:
    return run_row(Problem.of(work, platform).code, platform, {}, events=10_000)


def pieces(run: RankRun, form: int) -> list[list[int]]:
    """Pieces that were loaded or stored, by the call that did it, in their order."""
    operations = list(dict.fromkeys(run.events[:, 1].tolist()))
    return [[row[5] for row in run.events.tolist() if row[1] == op and row[4] == form] for op in operations]


@both_ops
@both_families
def test_100_x_100_through_a_dynamic_tile_and_then_again(family: str, op: str) -> None:
    """7 x 2 chunks, the 6 full ones by halves; what the corner leaves of the tile cuts the next call into 25 x 3."""
    make = tput if op == TPUT else tget
    call = make(1, (1, 1, 1, 100, 100), "tile")
    tile = staging("tile", 16, 64, dynamic_rows=1, dynamic_cols=1)
    run = run_of(kernel(on(0, call, call), tiles=[tile]), chip(family))
    for form in (E_LOAD, E_STORE):
        first, again = pieces(run, form)
        assert first == 6 * [HALF, HALF, COLUMN_TAIL] + [ROW_TAIL, CORNER]
        assert len(first) - 6 == 14
        assert again == 25 * [FULL, FULL, COLUMN_TAIL]
        assert len(again) == 75


@both_families
def test_the_pieces_have_the_right_sizes(family: str) -> None:
    """By the cycles of their stores: 8 x 64, 16 x 36, 4 x 64 and 4 x 36; then 4 x 36 and 4 x 28."""
    call = tput(1, (1, 1, 1, 100, 100), "tile")
    tile = staging("tile", 16, 64, dynamic_rows=1, dynamic_cols=1)
    p, link = chip(family), f"link.{FAMILIES[family][1]}.put"
    run = run_of(kernel(on(0, call, call), tiles=[tile]), p)
    found: list[Counter[tuple[int, int]]] = []
    for op in dict.fromkeys(run.events[:, 1].tolist()):
        stores = [(row[5], row[3] - row[2]) for row in run.events.tolist() if row[1] == op and row[4] == E_STORE]
        found.append(Counter(stores))

    def store(rows: int, columns: int) -> int:
        moved = max(rows * p["dma.ub_to_gm.burst"], 4 * rows * columns / p[f"{link}.rate"])
        return whole(p[f"{link}.startup"] + moved)

    first = {
        (HALF, store(8, 64)): 12, (COLUMN_TAIL, store(16, 36)): 6, (ROW_TAIL, store(4, 64)): 1,
        (CORNER, store(4, 36)): 1,
    }  # fmt: skip
    assert found == [first, {(FULL, store(4, 36)): 50, (COLUMN_TAIL, store(4, 28)): 25}]


@both_families
def test_another_tile_starts_afresh(family: str) -> None:
    tiles = [staging(t, 16, 64, dynamic_rows=1, dynamic_cols=1) for t in ("a", "b")]
    work = kernel(on(0, *(tput(1, (1, 1, 1, 100, 100), t) for t in ("a", "b"))), tiles=tiles)
    assert [len(call) for call in pieces(run_of(work, chip(family)), E_STORE)] == [20, 20]


# Times in closed form

T = 1000
ROWS, COLS = 16, 64
BYTES = ROWS * COLS * 4


def even(family: str) -> Platform:
    """Loads and stores of a full chunk take T, local or remote, and parts of one as much less; nothing else costs
    anything."""
    link = FAMILIES[family][1]
    numbers = dict.fromkeys(("scalar.issue", "signal.barrier"), 0.0)
    for part in ("dma.gm_to_ub", "dma.ub_to_gm"):
        numbers |= {f"{part}.startup": 0, f"{part}.burst": 0, f"{part}.latency": 0, f"{part}.rate": BYTES / T}
    for way in ("put", "get"):
        key = f"link.{link}.{way}"
        numbers |= {f"{key}.startup": 0, f"{key}.latency": 0, f"{key}.rate": BYTES / T}
        numbers |= {f"{key}.{scope}_capacity": 1e9 for scope in ("pair", "out", "in")}
    return chip(family, numbers | dict.fromkeys(("l2.bandwidth", "l2.read_bandwidth", "hbm.bandwidth"), 1e9))


def chunks(op: str, n: int, two: bool, sideways: bool = False) -> Workload:
    """A call of n full chunks, below or beside each other."""
    make = tput if op == TPUT else tget
    shape = (1, 1, 1, ROWS, n * COLS) if sideways else (1, 1, 1, n * ROWS, COLS)
    call = make(1, shape, "ping", pong="pong" if two else "")
    return kernel(on(0, call), tiles=[staging(t, ROWS, COLS) for t in ("ping", "pong")])


PUBLISHED = [
    (TPUT, 7, False, 14), (TPUT, 8, False, 12), (TPUT, 16, False, 24), (TPUT, 17, False, 34),
    (TGET, 7, False, 14), (TGET, 8, False, 12), (TGET, 16, False, 24), (TGET, 17, False, 25.5),
    *[(op, n, True, n + 1) for op in OPS for n in (2, 7, 8, 16, 17)],
]  # fmt: skip
"""Full chunks with a load and a store of T each: the time of the call in T."""


@both_families
@pytest.mark.parametrize(("op", "n", "two", "times_t"), PUBLISHED)
@pytest.mark.parametrize("sideways", [False, True], ids=["rows", "columns"])
def test_full_chunks_where_nothing_else_costs(
    family: str, op: str, n: int, two: bool, times_t: float, sideways: bool
) -> None:
    assert run_of(chunks(op, n, two, sideways), even(family)).cycles == times_t * T


@both_families
@pytest.mark.parametrize(
    ("op", "n", "two"), [case[:3] for case in PUBLISHED] + [(op, 1, two) for op in OPS for two in (False, True)]
)
def test_full_chunks_by_the_numbers_of_a_platform(family: str, op: str, n: int, two: bool) -> None:
    """The closed form, with latencies as part of each transfer, and what issuing costs: one issue ahead of the first
    load, and of every store behind a barrier; a load that runs beside a store is issued second."""
    p, link = chip(family), FAMILIES[family][1]
    issue, wall = whole(p["scalar.issue"]), whole(p["signal.barrier"])

    def moved(key: str, path: str, rows: Any, columns: Any) -> Any:
        size = np.maximum(rows * p[f"dma.{path}.burst"], 4 * rows * columns / p[f"{key}.rate"])
        return to_cycles(p[f"{key}.startup"] + size) + whole(p[f"{key}.latency"])

    def load(rows: Any, columns: Any) -> Any:
        return moved(f"link.{link}.get" if op == TGET else "dma.gm_to_ub", "gm_to_ub", rows, columns)

    def store(rows: Any, columns: Any) -> Any:
        return moved(f"link.{link}.put" if op == TPUT else "dma.ub_to_gm", "ub_to_gm", rows, columns)

    shape = (1, 1, 1, n * ROWS, COLS)
    closed = calls(op, shape, ROWS, COLS, dynamic_rows=False, dynamic_cols=False, ping_pong=two)
    halved = not two and n >= 8 and (op == TGET or n <= 16)
    rows = ROWS // 2 if halved else ROWS
    a, b = int(load(rows, COLS)), int(store(rows, COLS))
    beside = max(issue + b, 2 * issue + a) - max(a, b)
    if halved:
        issued = issue + n * (beside + issue)
    elif two:
        issued = issue + (n - 1) * beside + issue
    elif n == 1 and op == TPUT:  # no barrier: the store is issued while the load runs
        issued = issue
    else:
        issued = issue + n * issue
    expected = int(call_cycles(closed, load, store, wall)[0]) + issued
    assert run_of(chunks(op, n, two), p).cycles == expected
