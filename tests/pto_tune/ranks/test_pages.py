"""The examples of the ISA's pages of TPUT, TGET, TNOTIFY, TWAIT and TTEST, from a program to its time and verdict.

Two ranks unless said otherwise; AIV0 alone runs an example. What is expected is added up here, from the numbers of the
platform: `Prices` are those of single instructions, and every test says how they follow each other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from cost_models import Platform, load_platform
from cost_models.rounding import to_cycles
from pto_tune.api import evaluate_records, explain
from pto_tune.model.communication import Signal, Staging
from pto_tune.model.expr import Expr, expr, name, not_
from pto_tune.model.nodes import Launch, Loop, Node, Workload
from pto_tune.model.vocabulary import cycles, instr, when
from pto_tune.model.vocabulary_remote import (
    barrier,
    loop_index,
    poll,
    signal,
    staging,
    tget,
    tnotify,
    tput,
    ttest,
    twait,
)
from pto_tune.remote.rules import ELEMENT_BYTES
from pto_tune.remote.staging import OPS, TGET, TPUT

FAMILIES = {"a2a3": ("ascend910b2", "hccs"), "a5": ("ascend950pr", "ub")}
"""A platform of each family, and the link between two ranks of it."""

both_families = pytest.mark.parametrize("family", FAMILIES)
both_ops = pytest.mark.parametrize("op", OPS)
both_notifies = pytest.mark.parametrize("op", ["Set", "AtomicAdd"])

RANK, SUB = name("rank"), name("sub")
BASIC = (1, 1, 1, 16, 16)


def kernel(*nodes: Node, ranks: int = 2, signals: Sequence[Signal] = (), tiles: Sequence[Staging] = ()) -> Workload:
    """A kernel of one block, of which AIV0 runs everything."""
    return Workload(
        name="example",
        doc="",
        problem=(),
        tunables=(),
        buffers=(),
        fifos=(),
        programs=(("AIV", (when(SUB.eq(0), *nodes),)),),
        launch=Launch(expr(1)),
        ranks=expr(ranks),
        signals=tuple(signals),
        staging=tuple(tiles),
    )


def on(rank: int, *nodes: Node) -> Loop:
    return when(RANK.eq(rank), *nodes)


def busy(duration: int, what: str = "TADD") -> Node:
    return instr(what, "V", cycles(duration))


@cache
def chip(family: str) -> Platform:
    return load_platform(FAMILIES[family][0])


def is_ok(work: Workload, family: str) -> int:
    """Cycles of a kernel that nothing is to be said against."""
    answer = evaluate_records(work, {}, platform=chip(family))[0]
    assert (answer["verdict"], answer["reason"], answer["also"], answer["warnings"]) == ("ok", "", [], [])
    assert answer["engine"] == "time-ordered"
    microseconds = answer["cycles"] / chip(family)["clock.core_mhz"]
    assert answer["time_us"] == pytest.approx(microseconds + chip(family)["launch.task"])
    return int(answer["cycles"])


def memory(work: Workload, family: str) -> list[list[int]]:
    """All signals of each rank when it is over."""
    found: Any = explain(work, {}, FAMILIES[family][0])
    return found.run.memory.tolist()


# Single instructions


@dataclass(frozen=True)
class Prices:
    """Whole cycles of single instructions: a transfer of `rows` x `cols` until its data is there, latency included."""

    p: Platform
    link: str

    def local(self, path: str, rows: int, cols: int, elem: int = 4) -> int:
        p = self.p
        moved = max(rows * p[f"dma.{path}.burst"], rows * cols * elem / p[f"dma.{path}.rate"])
        return whole(p[f"dma.{path}.startup"] + moved) + whole(p[f"dma.{path}.latency"])

    def remote(self, way: str, rows: int, cols: int, elem: int = 4, factor: float = 1.0) -> int:
        p, key = self.p, f"link.{self.link}.{way}"
        path = "gm_to_ub" if way == "get" else "ub_to_gm"
        moved = max(rows * p[f"dma.{path}.burst"], rows * cols * elem / p[f"{key}.rate"])
        return whole(p[f"{key}.startup"] + factor * moved) + whole(p[f"{key}.latency"])

    def load(self, op: str, rows: int, cols: int, elem: int = 4) -> int:
        return self.remote("get", rows, cols, elem) if op == TGET else self.local("gm_to_ub", rows, cols, elem)

    def store(self, op: str, rows: int, cols: int, elem: int = 4) -> int:
        return self.local("ub_to_gm", rows, cols, elem) if op == TGET else self.remote("put", rows, cols, elem)

    def add(self, rows: int, cols: int, elem: int = 4) -> int:
        """A remote store that adds."""
        return self.remote("put", rows, cols, elem, self.p["link.atomic_factor"])

    @property
    def issue(self) -> int:
        return whole(self.p["scalar.issue"])

    @property
    def barrier(self) -> int:
        return whole(self.p["signal.barrier"])

    def _arrival(self, op: str) -> float:
        written = 2 * self.p["signal.cache_line"] + self.p["signal.store" if op == "Set" else "signal.atomic"]
        return written + self.p[f"link.{self.link}.put.latency"]

    def arrival(self, op: str) -> int:
        """From the start of a TNOTIFY to its value being there."""
        return whole(self._arrival(op))

    def notify(self, op: str) -> int:
        """From the start of a TNOTIFY to the next instruction, with nothing under way."""
        return whole(self._arrival(op) + self.p["signal.fence"]) + self.barrier

    def sweep(self, elements: int = 1) -> int:
        return whole(self.p["signal.sweep"] + elements * self.p["signal.poll"])

    def waited(self, arrivals: Sequence[int], start: int = 0) -> int:
        """End of a TWAIT from `start` on for elements that pass from `arrivals` on, in the order of its view."""
        now, failed = start, 0
        while True:
            late = [k for k, arrival in enumerate(arrivals) if arrival > now]
            if not late:
                return now + self.sweep(len(arrivals))
            now += self.sweep(late[0] + 1)
            failed += 1
            if failed % int(self.p["signal.sweeps_per_barrier"]) == 0:
                now += self.barrier


def whole(duration: float) -> int:
    return int(to_cycles(duration))


def prices(family: str) -> Prices:
    return Prices(chip(family), FAMILIES[family][1])


# TPUT and TGET through one tile


def call(op: str, shape: Sequence[int], *tiles: str, **more: Any) -> Node:
    """From rank 0 to or from rank 1."""
    pong = tiles[1] if len(tiles) > 1 else ""
    make = tput if op == TPUT else tget
    return make(1, shape, tiles[0], pong=pong, **more)


@both_families
@pytest.mark.parametrize("elem", ["float", "half", "bfloat16", "int32", "int8"])
def test_basic_remote_write(family: str, elem: str) -> None:
    """One TLOAD, then one TSTORE behind its flag, without a barrier."""
    p, size = prices(family), ELEMENT_BYTES[elem]
    work = kernel(on(0, call(TPUT, BASIC, "tile", elem=elem)), tiles=[staging("tile", 16, 16, elem)])
    assert is_ok(work, family) == p.issue + p.load(TPUT, 16, 16, size) + p.store(TPUT, 16, 16, size)


@both_families
@pytest.mark.parametrize("elem", ["float", "half", "bfloat16", "int32", "int8"])
def test_basic_remote_read(family: str, elem: str) -> None:
    """One TLOAD, a barrier, and one TSTORE that is issued behind it."""
    p, size = prices(family), ELEMENT_BYTES[elem]
    work = kernel(on(0, call(TGET, BASIC, "tile", elem=elem)), tiles=[staging("tile", 16, 16, elem)])
    loaded = p.issue + p.load(TGET, 16, 16, size)
    assert is_ok(work, family) == loaded + p.barrier + p.issue + p.store(TGET, 16, 16, size)


@both_ops
@both_families
def test_a_call_of_every_core_of_both_ranks(family: str, op: str) -> None:
    """The example as it stands, on both ranks and both sub-cores: each is as fast as one alone until something is
    shared, and never faster."""
    make = tput if op == TPUT else tget
    program = (make(1 - RANK, BASIC, "tile"),)
    alone = kernel(on(0, call(op, BASIC, "tile")), tiles=[staging("tile", 16, 16)])
    every = Workload(**{**vars(alone), "programs": (("AIV", program),)})
    one, all_of_them = is_ok(alone, family), is_ok(every, family)
    assert one <= all_of_them <= 4 * one


@both_families
@pytest.mark.parametrize("elem", ["float", "half", "int32"])
@pytest.mark.parametrize("at_run_time", [False, True], ids=["template-argument", "run-time-argument"])
def test_remote_write_with_atomic_add(family: str, elem: str, at_run_time: bool) -> None:
    """Both ways to ask for it come to the same."""
    p, size = prices(family), ELEMENT_BYTES[elem]
    add = call(TPUT, BASIC, "tile", elem=elem, atomic="AtomicAdd", atomic_at_run_time=at_run_time)
    work = kernel(on(0, add), tiles=[staging("tile", 16, 16, elem)])
    assert is_ok(work, family) == p.issue + p.load(TPUT, 16, 16, size) + p.add(16, 16, size)


@both_families
def test_remote_write_and_then_one_that_adds(family: str) -> None:
    """The whole of the first example: the tile is loaded again only when its first store is through."""
    p = prices(family)
    calls = (call(TPUT, BASIC, "tile"), call(TPUT, BASIC, "tile", atomic="AtomicAdd"))
    work = kernel(on(0, *calls), tiles=[staging("tile", 16, 16)])
    once = p.load(TPUT, 16, 16) + p.store(TPUT, 16, 16)
    assert is_ok(work, family) == p.issue + once + p.load(TPUT, 16, 16) + p.add(16, 16)


@both_ops
@both_families
def test_calls_take_and_return_events(family: str, op: str) -> None:
    """Every overload ends in WaitEvents and returns one: a load waits for the vector pipe, and the vector pipe for the
    store."""
    p = prices(family)
    work = kernel(
        on(
            0,
            instr("TADD", "V", cycles(3000), event="data"),
            call(op, BASIC, "tile", waits=["data"], event="moved"),
            instr("TADD", "V", cycles(500), waits=["moved"]),
        ),
        tiles=[staging("tile", 16, 16)],
    )
    between = p.barrier + p.issue if op == TGET else 0
    moved = p.issue + 3000 + p.load(op, 16, 16) + between + p.store(op, 16, 16)
    assert is_ok(work, family) == moved + 500


# Ping and pong


def ub_bytes() -> int:
    """Bytes of a 64 x 64 float tile, rounded up to 1 KB."""
    return (64 * 64 * 4 + 1023) // 1024 * 1024


def ping_pong_tiles() -> list[Staging]:
    """Their constructor takes the valid shape, so that it is dynamic."""
    places = {"ping": 0, "pong": ub_bytes()}
    return [staging(t, 64, 64, dynamic_rows=1, dynamic_cols=1, offset_bytes=at) for t, at in places.items()]


SHAPES = {
    (1, 1, 1, 64, 64): [(64, 64)],
    (1, 1, 1, 256, 64): 4 * [(64, 64)],
    (1, 1, 1, 100, 200): [*3 * [(64, 64)], (64, 8), *3 * [(36, 64)], (36, 8)],
    (2, 1, 1, 64, 96): 2 * [(64, 64), (64, 32)],
}
"""Shapes with the chunks that go through a tile of 64 x 64, in their order."""


def by_turns(p: Prices, loads: list[int], stores: list[int]) -> int:
    """The first load; then store and next load side by side, behind a barrier and each issued in turn; the last store
    behind one more barrier."""
    now = p.issue + loads[0]
    for store, load in zip(stores, loads[1:], strict=False):
        now += p.barrier + max(p.issue + store, 2 * p.issue + load)
    return now + p.barrier + p.issue + stores[-1]


@both_ops
@both_families
@pytest.mark.parametrize(("shape", "chunks"), SHAPES.items(), ids=str)
def test_ping_pong_at_offsets_rounded_to_1_kb(
    family: str, op: str, shape: tuple[int, ...], chunks: list[tuple[int, int]]
) -> None:
    p = prices(family)
    assert ub_bytes() == 16384
    work = kernel(on(0, call(op, shape, "ping", "pong")), tiles=ping_pong_tiles())
    loads, stores = [p.load(op, *c) for c in chunks], [p.store(op, *c) for c in chunks]
    assert is_ok(work, family) == by_turns(p, loads, stores)


@both_families
def test_ping_pong_with_atomic_add(family: str) -> None:
    p = prices(family)
    add = call(TPUT, (1, 1, 1, 256, 64), "ping", "pong", atomic="AtomicAdd")
    work = kernel(on(0, add), tiles=ping_pong_tiles())
    assert is_ok(work, family) == by_turns(p, 4 * [p.load(TPUT, 64, 64)], 4 * [p.add(64, 64)])


@both_ops
@both_families
def test_ping_pong_hides_the_shorter_side(family: str, op: str) -> None:
    """As a page promises: two tiles are faster than one, and not faster than the slower pipe alone."""
    shape = (1, 1, 1, 256, 64)
    one = is_ok(kernel(on(0, call(op, shape, "ping")), tiles=ping_pong_tiles()), family)
    two = is_ok(kernel(on(0, call(op, shape, "ping", "pong")), tiles=ping_pong_tiles()), family)
    p = prices(family)
    assert 4 * max(p.load(op, 64, 64), p.store(op, 64, 64)) < two < one


# TNOTIFY


@both_families
@both_notifies
def test_a_notify(family: str, op: str) -> None:
    p = prices(family)
    work = kernel(on(0, tnotify("sig", 1, 1, op=op)), signals=[signal("sig", 1)])
    assert is_ok(work, family) == p.notify(op)
    assert memory(work, family) == [[0], [1]]


@both_families
@pytest.mark.parametrize(("op", "left"), [("Set", 1), ("AtomicAdd", 3)])
def test_set_replaces_and_atomic_add_counts(family: str, op: str, left: int) -> None:
    p = prices(family)
    work = kernel(on(0, loop_index("i", 3, tnotify("sig", 1, 1, op=op))), signals=[signal("sig", 1)])
    assert is_ok(work, family) == 3 * p.notify(op)
    assert memory(work, family) == [[0], [left]]


# TWAIT


@both_families
@both_notifies
@pytest.mark.parametrize("before", [0, 700, 100_000])
def test_a_wait_for_one_signal(family: str, op: str, before: int) -> None:
    """EQ 1, notified after `before` cycles of other work; of many failed sweeps, some are followed by a barrier."""
    p = prices(family)
    work = kernel(
        on(0, busy(before), barrier("V"), tnotify("sig", 1, 1, op=op)),
        on(1, twait("sig", 1, cmp="EQ")),
        signals=[signal("sig", 1)],
    )
    sent = p.issue + before
    assert is_ok(work, family) == max(sent + p.notify(op), p.waited([sent + p.arrival(op)]))


@both_families
def test_a_signal_that_is_there_costs_one_sweep(family: str) -> None:
    p = prices(family)
    work = kernel(
        on(0, tnotify("sig", 1, 1, op="Set")),
        on(1, busy(9000), barrier("V"), twait("sig", 1, cmp="EQ")),
        signals=[signal("sig", 1)],
    )
    assert is_ok(work, family) == p.issue + 9000 + p.sweep()


ROWS, COLS = 4, 8


def grid_wait(at: Expr, wait: Node, *dims: int) -> Workload:
    """Rank 0 notifies 32 elements, one after the other, and rank 1 waits for all of them."""
    send = loop_index("i", ROWS * COLS, tnotify("grid", 1, 1, at=at))
    return kernel(on(0, send), on(1, wait), signals=[signal("grid", *dims)])


def grid_time(p: Prices) -> int:
    sent = [k * p.notify("AtomicAdd") for k in range(ROWS * COLS)]
    return max(sent[-1] + p.notify("AtomicAdd"), p.waited([t + p.arrival("AtomicAdd") for t in sent]))


@both_families
def test_a_wait_for_a_grid(family: str) -> None:
    """4 x 8 signals, all of them at least 1."""
    work = grid_wait(name("i"), twait("grid", 1, cmp="GE", view=[(ROWS, COLS), (COLS, 1)]), ROWS, COLS)
    assert is_ok(work, family) == grid_time(prices(family))
    assert memory(work, family) == [32 * [0], 32 * [1]]


@both_families
def test_a_wait_for_a_part_of_a_larger_grid(family: str) -> None:
    """4 x 8 of 16 x 20 signals from row 2, column 3 on: no slower than a grid of their own, and the others stay 0."""
    i, first = name("i"), 2 * 20 + 3
    wait = twait("grid", 1, cmp="GE", at=first, view=[(ROWS, 20), (COLS, 1)])
    work = grid_wait(first + i // COLS * 20 + i % COLS, wait, 16, 20)
    assert is_ok(work, family) == grid_time(prices(family))
    there = {first + 20 * r + c for r in range(ROWS) for c in range(COLS)}
    assert memory(work, family)[1] == [int(k in there) for k in range(16 * 20)]


@both_families
@pytest.mark.parametrize(
    "view", [[(2, 16), (2, 8), (2, 4), (2, 2), (2, 1)], [(32, 1)], [(8, 4), (2, 2), (2, 1)]], ids=str
)
def test_a_wait_in_up_to_five_dimensions(family: str, view: list[tuple[int, int]]) -> None:
    """One sweep over all elements, in whatever dimensions they are counted."""
    work = grid_wait(name("i"), twait("grid", 1, cmp="GE", view=view), 2, 2, 2, 2, 2)
    assert is_ok(work, family) == grid_time(prices(family))


@both_families
def test_one_signal_of_a_grid_that_stays_low_holds_the_wait(family: str) -> None:
    send = loop_index("i", ROWS * COLS - 1, tnotify("grid", 1, 1, at=name("i")))
    wait = twait("grid", 1, cmp="GE", view=[(ROWS, COLS), (COLS, 1)])
    work = kernel(on(0, send), on(1, wait), signals=[signal("grid", ROWS, COLS)])
    answer = evaluate_records(work, {}, platform=chip(family))[0]
    assert (answer["verdict"], answer["cycles"]) == ("hang", None)
    assert "rank 1 AIV0 waits in TWAIT for grid" in answer["reason"]


@both_families
@pytest.mark.parametrize("expected_count", [1, 3, 6])
def test_a_wait_for_a_counter_to_reach_a_threshold(family: str, expected_count: int) -> None:
    """Three ranks count up twice each."""
    p = prices(family)
    work = kernel(
        when(RANK.gt(0), loop_index("i", 2, tnotify("counter", 0, 1))),
        on(0, twait("counter", expected_count, cmp="GE")),
        ranks=4,
        signals=[signal("counter", 1)],
    )
    arrivals = [sent + p.arrival("AtomicAdd") for sent in (*3 * [0], *3 * [p.notify("AtomicAdd")])]
    counted = p.waited([arrivals[expected_count - 1]])
    assert is_ok(work, family) == max(2 * p.notify("AtomicAdd"), counted)
    assert memory(work, family) == [[6], [0], [0], [0]]


# TTEST


THEN, ELSE = 20_000, 30_000


def branches(variable: str) -> tuple[Node, Node]:
    """What a kernel does with the answer."""
    ready = name(variable)
    return when(ready, busy(THEN, "THEN")), when(not_(ready), busy(ELSE, "ELSE"))


@both_families
@pytest.mark.parametrize("before", [0, 5000])
def test_one_look(family: str, before: int) -> None:
    """One sweep, whatever it sees: the answer is no at once, and yes after the value is there."""
    p = prices(family)
    work = kernel(
        on(0, tnotify("sig", 1, 1, op="Set")),
        on(1, busy(before), barrier("V"), ttest("sig", 1, into="ready", cmp="EQ"), *branches("ready")),
        signals=[signal("sig", 1)],
    )
    looked = p.issue + before + p.sweep()
    assert (p.issue + before >= p.arrival("Set")) == (before > 0)
    assert is_ok(work, family) == looked + p.issue + (THEN if before else ELSE)


@both_families
def test_one_look_at_a_grid(family: str) -> None:
    """A look that fails ends at the first element that fails, one that passes reads all."""
    p = prices(family)
    look = ttest("grid", 1, into="ready", cmp="GE", view=[(ROWS, COLS), (COLS, 1)])
    late = 40 * p.notify("AtomicAdd")
    send = loop_index("i", ROWS * COLS, tnotify("grid", 1, 1, at=name("i")))
    for before, elements, after in ((0, 1, ELSE), (late, ROWS * COLS, THEN)):
        work = kernel(
            on(0, send),
            on(1, busy(before), barrier("V"), look, *branches("ready")),
            signals=[signal("grid", ROWS, COLS)],
        )
        mine = p.issue + before + p.sweep(elements) + p.issue + after
        assert is_ok(work, family) == max(ROWS * COLS * p.notify("AtomicAdd"), mine)


@both_families
@pytest.mark.parametrize("max_iters", [2, 3, 50, 100])
def test_the_polling_loop_with_a_bound(family: str, max_iters: int) -> None:
    """Notified after 10,000 cycles. Polling ends with the look that passes, or with the last one."""
    p, before = prices(family), 10_000
    work = kernel(
        on(0, busy(before), barrier("V"), tnotify("sig", 1, 1, op="Set")),
        on(1, *poll("sig", 1, max_iters, cmp="EQ"), *branches("ready")),
        signals=[signal("sig", 1)],
    )
    sent = p.issue + before
    looks = 1 + -(-(sent + p.arrival("Set")) // p.sweep())  # the one that passes is the first from the arrival on
    in_time = looks <= max_iters
    assert in_time == (max_iters >= 50)
    mine = min(looks, max_iters) * p.sweep() + p.issue + (THEN if in_time else ELSE)
    assert is_ok(work, family) == max(sent + p.notify("Set"), mine)


@both_families
@pytest.mark.parametrize("spare", [-1, 0])
def test_the_bound_is_exact(family: str, spare: int) -> None:
    """As many looks as are needed, and one less."""
    p = prices(family)
    looks = 1 + -(-p.arrival("Set") // p.sweep())
    work = kernel(
        on(0, tnotify("sig", 1, 1, op="Set")),
        on(1, *poll("sig", 1, looks + spare, cmp="EQ"), *branches("ready")),
        signals=[signal("sig", 1)],
    )
    assert is_ok(work, family) == (looks + spare) * p.sweep() + p.issue + (THEN if spare == 0 else ELSE)


@both_families
def test_work_between_the_looks(family: str) -> None:
    """Until the value is there, the loop does something else after every look that fails."""
    p, piece = prices(family), 600
    work = kernel(
        on(0, busy(10_000), barrier("V"), tnotify("sig", 1, 1, op="Set")),
        on(1, *poll("sig", 1, 100, busy(piece), barrier("V"), cmp="EQ")),
        signals=[signal("sig", 1)],
    )
    arrival, turn = p.issue + 10_000 + p.arrival("Set"), p.sweep() + p.issue + piece
    turns = -(-arrival // turn)
    assert is_ok(work, family) == max(p.issue + 10_000 + p.notify("Set"), turns * turn + p.sweep())


@both_families
def test_data_and_its_signal(family: str) -> None:
    """What the pages are for together: write, let it arrive, notify; wait, and only then read."""
    p = prices(family)
    work = kernel(
        on(0, call(TPUT, BASIC, "tile"), barrier(), tnotify("sig", 1, 1, op="Set")),
        on(1, twait("sig", 1, cmp="EQ"), busy(100)),
        signals=[signal("sig", 1)],
        tiles=[staging("tile", 16, 16)],
    )
    sent = p.issue + p.load(TPUT, 16, 16) + p.store(TPUT, 16, 16) + p.barrier
    seen = p.waited([sent + p.arrival("Set")])
    assert is_ok(work, family) == max(sent + p.notify("Set"), seen + p.issue + 100)
