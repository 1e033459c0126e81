"""The waits that are added order every two steps that touch one tile, whatever the steps take."""

from __future__ import annotations

import random
from collections import defaultdict, deque

from hypothesis import given, settings
from hypothesis import strategies as st

from pto_tune.kernels.faults import START
from pto_tune.kernels.items import Item, Repeat, Step
from pto_tune.kernels.syncing import Syncing, finished
from pto_tune.model.expr import expr
from pto_tune.model.nodes import Instr
from pto_tune.model.vocabulary import instr

PIPES = ("MTE2", "V", "MTE3")
TILES = ("a", "b", "c")


def step(pipe: str, reads: frozenset[str], writes: frozenset[str]) -> Step:
    return Step(instr("TABS", pipe), pipe, START, reads, writes)


def repeat(trips: int, items: list[Item], branch: bool) -> Repeat:
    return Repeat(expr(min(trips, 1) if branch else trips), items, START, branch)


tiles = st.frozensets(st.sampled_from(TILES), max_size=2)
one_step = st.builds(step, st.sampled_from(PIPES), tiles, tiles)
programs = st.recursive(
    st.lists(one_step, min_size=1, max_size=4),
    lambda inner: st.lists(
        st.one_of(
            one_step,
            st.builds(repeat, st.integers(0, 3), inner, st.booleans()),
        ),
        min_size=1, max_size=4,
    ),
    max_leaves=8,
)  # fmt: skip


def unrolled(items: list[Item]) -> list[tuple[Step, bool]]:
    """Steps as they are issued; whether each is one of the program rather than a mere wait."""
    out: list[tuple[Step, bool]] = []
    for item in items:
        out += [(s, False) for s in item.before]
        if isinstance(item, Step):
            out.append((item, True))
        else:
            for _ in range(int(item.trips.args[0])):
                out += unrolled(item.items)
        out += [(s, False) for s in item.after]
    return out


def times(items: list[Item], syncing: Syncing, seed: int) -> list[tuple[Step, int, int]]:
    """Start and end of every step of the program: pipes in order, tokens in order, durations at random."""
    rng = random.Random(seed)
    tokens: dict[tuple[str, str], deque[int]] = defaultdict(deque)
    for buffer in syncing.buffers:
        tokens["free", buffer.name].extend([0] * int(buffer.copies.args[0]))
    queues: dict[str, deque[tuple[Step, bool, int]]] = defaultdict(deque)
    for n, (s, own) in enumerate(unrolled(items)):
        queues[s.pipe].append((s, own, n))
    clock: dict[str, int] = defaultdict(int)
    done: list[tuple[int, Step, int, int]] = []
    moved = True
    while moved:
        moved = False
        for pipe, queue in queues.items():
            while queue:
                s, own, n = queue[0]
                node = finished(s)
                assert isinstance(node, Instr)
                needed = [*(("event", e) for e in node.waits), *(("free", b) for b in node.acquires),
                          *(("ready", b) for b in node.takes)]  # fmt: skip
                if any(not tokens[k] for k in needed):
                    break
                queue.popleft()
                start = max([clock[pipe], *(tokens[k].popleft() for k in needed)])
                end = start + (rng.randint(1, 50) if own else 0)
                clock[pipe] = end
                given = [*([("event", node.event)] if node.event else []), *(("free", t.buffer) for t in node.releases),
                         *(("ready", t.buffer) for t in node.publishes)]  # fmt: skip
                for k in given:
                    tokens[k].append(end)
                if own:
                    done.append((n, s, start, end))
                moved = True
    assert not any(queues.values()), "the flags hang"
    return [(s, start, end) for _, s, start, end in sorted(done, key=lambda d: d[0])]


@settings(max_examples=300, deadline=None)
@given(programs, st.integers(0, 10**6))
def test_steps_that_touch_one_tile_never_overlap_and_keep_their_order(items: list[Item], seed: int) -> None:
    syncing = Syncing("AIV", lambda root: root)
    syncing.run(items)
    ran = times(items, syncing, seed)
    for i, (a, _, end) in enumerate(ran):
        for b, start, _ in ran[i + 1 :]:
            if (a.writes & (b.reads | b.writes)) or (a.reads & b.writes):
                assert start >= end


@settings(max_examples=100, deadline=None)
@given(st.lists(one_step, min_size=2, max_size=6))
def test_a_flag_that_an_earlier_one_covers_is_not_added(items: list[Step]) -> None:
    syncing = Syncing("AIV", lambda root: root)
    syncing.run(list(items))
    flags = sum(len(s.waits) + len(s.acquires) + len(s.takes) for s in items)
    assert flags <= len(PIPES) * (len(PIPES) - 1) * len(items)


def test_steps_that_only_read_wait_for_nothing() -> None:
    items: list[Item] = [step(p, frozenset("a"), frozenset()) for p in PIPES]
    Syncing("AIV", lambda root: root).run(items)
    assert all(not s.waits and not s.acquires for s in items if isinstance(s, Step))


def test_tiles_that_share_a_place_are_one() -> None:
    items: list[Item] = [step("MTE2", frozenset(), frozenset("a")), step("V", frozenset("b"), frozenset())]
    apart, together = Syncing("AIV", lambda root: root), Syncing("AIV", lambda _: "same")
    apart.run(items)
    assert not unrolled(items)[1][0].waits
    together.run(items)
    assert len(unrolled(items)[1][0].waits) == 1
