"""Waits between the pipes of a core, where the file leaves them to the assembler.

A step waits for the earlier steps on other pipes that touch the same tile, unless both only read it, as
`ptoas --enable-insert-sync` sees to it: a flag from the last step that matters to the first one that needs it, moved
out of loops and conditions that do not hold both, and carried over from trip to trip of a loop. What a flag covers
already gets no other. Assumed: tiles at addresses that overlap are one tile; a popped tile is a tile like any other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from pto_tune.kernels.flags import LOADING
from pto_tune.kernels.items import POP, Item, Repeat, Step
from pto_tune.model.expr import expr
from pto_tune.model.nodes import Buffer, Instr, Node, Token, Tpop, Tpush
from pto_tune.model.vocabulary import sync

MOST_CARRIED = 24
"""Flags between trips that are kept as buffers without bytes; further ones become events around their loop."""

EMPTYING = ("FIX", "MTE3")
"""Pipes that empty tiles: what they leave behind can be filled again before it can be seen where it goes."""

_POPS = {"AIC": ("MTE2", "MTE1"), "AIV": ("MTE2", "V")}
"""Pipes of a pop behind its loop: that of a ring in GM and that of a ring in local memory."""

Pipes = dict[str, set[str]]


@dataclass
class _Touched:
    """Pipes that read and write each tile in a part of the program."""

    reads: Pipes = field(default_factory=dict)
    writes: Pipes = field(default_factory=dict)

    def add(self, other: _Touched, swap: Callable[[str], tuple[str, ...]]) -> None:
        for mine, its in ((self.reads, other.reads), (self.writes, other.writes)):
            for root, pipes in its.items():
                mine.setdefault(root, set()).update(q for p in pipes for q in swap(p))


@dataclass
class _Last:
    """The last steps that wrote and read a tile: by pipe, (trip, place in the body)."""

    writers: dict[str, tuple[int, int]] = field(default_factory=dict)
    readers: dict[str, tuple[int, int]] = field(default_factory=dict)


class Syncing:
    """Adds the waits to the program of one core. `one` gives the tile that an allocation is part of."""

    def __init__(self, core: str, one: Callable[[str], str]) -> None:
        self.core, self.one = core, one
        self.count = 0
        self.buffers: list[Buffer] = []

    def run(self, items: list[Item]) -> None:
        self._body(items, loops=False)

    def _touched(self, item: Item) -> _Touched:
        if isinstance(item, Repeat):
            return self._body(item.items, loops=not item.branch, around=item)
        if not item.pipe:
            return _Touched()
        return _Touched(
            {self.one(r): {item.pipe} for r in sorted(item.reads)},
            {self.one(w): {item.pipe} for w in sorted(item.writes)},
        )

    def _body(self, items: list[Item], loops: bool, around: Repeat | None = None) -> _Touched:
        touched = [self._touched(item) for item in items]
        last: dict[str, _Last] = {}
        newest: dict[tuple[str, str], int] = {}  # flags of one trip: by pipes, the last source
        first: dict[tuple[str, str], int] = {}  # ... and the first wait
        carried: dict[tuple[str, str], int] = {}

        def need(source: tuple[int, int], q: str, at: int, p: str, trip: int) -> None:
            pair = (q, p)
            if q == p:
                return
            if source[0] == trip:
                if trip == 0 and source[1] > newest.get(pair, -1):
                    newest[pair] = source[1]
                    first.setdefault(pair, at)
                    self._flag(items[source[1]], q, items[at], p)
            elif source[1] > carried.get(pair, -1) and first.get(pair, len(items)) > at:
                carried[pair] = source[1]
                self._carry(items[source[1]], q, items[at], p, around)

        for trip in (0, 1) if loops else (0,):
            for at, t in enumerate(touched):
                for root, pipes in t.reads.items():
                    for p in sorted(pipes):
                        for q, source in sorted(last.setdefault(root, _Last()).writers.items()):
                            need(source, q, at, p, trip)
                for root, pipes in t.writes.items():
                    before = last.setdefault(root, _Last())
                    for p in sorted(pipes):
                        for q, source in sorted([*before.writers.items(), *before.readers.items()]):
                            need(source, q, at, p, trip)
                self._pass(items[at], t, last, (trip, at))
        whole = _Touched()
        for t in touched:
            whole.add(t, lambda p: _POPS[self.core] if p == POP else (p,))
        return whole

    @staticmethod
    def _pass(item: Item, t: _Touched, last: dict[str, _Last], now: tuple[int, int]) -> None:
        """What was done last, behind an item. A repeated part may not run at all: what was before it stays."""
        for root, pipes in t.writes.items():
            if isinstance(item, Step):
                last[root] = _Last()
            last[root].writers.update(dict.fromkeys(pipes, now))
        for root, pipes in t.reads.items():
            if isinstance(item, Repeat) or root not in t.writes:
                last.setdefault(root, _Last()).readers.update(dict.fromkeys(pipes, now))

    # flags

    def _name(self) -> str:
        self.count += 1
        return f"{self.core.lower()}_dep{self.count}"

    def _buffer(self, copies: int) -> str:
        name = self._name()
        memory = "L1" if self.core == "AIC" else "UB"
        self.buffers.append(Buffer(name, self.core, memory, expr(0), expr(copies)))
        return name

    def _flag(self, source: Item, q: str, target: Item, p: str) -> None:
        loads = q in (POP, *LOADING) and isinstance(source, Step) and bool(source.event)
        if isinstance(source, Step) and loads and (q == POP or len(self.buffers) < MOST_CARRIED):
            name = self._buffer(0)  # an instruction gives one event
            source.publishes.append(name)
            self._target(target, p).takes.append(name)
            return
        name = self._name()
        giver = self._source(source, q)
        if giver.event or q in EMPTYING:
            giver = Step(sync(q), q, giver.place)
            source.after.append(giver)
        giver.event = name
        self._target(target, p).waits.append(name)

    def _carry(self, source: Item, q: str, target: Item, p: str, around: Repeat | None) -> None:
        if len(self.buffers) < MOST_CARRIED or POP in (q, p) or around is None:
            name = self._buffer(1)
            self._source(source, q).releases.append(name)
            self._target(target, p).acquires.append(name)
            return
        name = self._name()
        for place in (around.before, source.after):
            step = Step(sync(q), q, around.place)
            step.event = name
            place.append(step)
        last = Step(sync(p), p, around.place)
        last.waits.append(name)
        around.after.insert(0, last)
        self._target(target, p).waits.append(name)

    @staticmethod
    def _source(item: Item, pipe: str) -> Step:
        """The step that signals: the item itself, or one behind it on its pipe."""
        if isinstance(item, Step) and isinstance(item.node, Instr | Tpush | Tpop):
            return item
        step = Step(sync(pipe), pipe, item.place)
        item.after.append(step)
        return step

    @staticmethod
    def _target(item: Item, pipe: str) -> Step:
        """The step that waits: the item itself, or one in front of it on its pipe."""
        if isinstance(item, Step) and isinstance(item.node, Instr | Tpush | Tpop):
            return item
        step = Step(sync(pipe), pipe, item.place)
        item.before.append(step)
        return step


def finished(step: Step) -> Node:
    """The node of a step with its waits."""
    node = step.node
    publishes = tuple(Token(b) for b in step.publishes)
    releases = tuple(Token(b) for b in step.releases)
    if isinstance(node, Instr):
        return replace(
            node,
            waits=(*node.waits, *step.waits),
            event=step.event or node.event,
            acquires=(*node.acquires, *step.acquires),
            takes=(*node.takes, *step.takes),
            publishes=(*node.publishes, *publishes),
            releases=(*node.releases, *releases),
        )
    if isinstance(node, Tpush | Tpop) and node.tile is not None:
        tile = replace(
            node.tile,
            acquires=tuple(step.acquires),
            takes=tuple(step.takes),
            publishes=publishes,
            releases=releases,
        )
        return replace(node, tile=tile, waits=tuple(step.waits), event=step.event)
    return node
