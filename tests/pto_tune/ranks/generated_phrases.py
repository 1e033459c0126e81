"""Hypothesis strategies: what cores of ranks do, phrase by phrase."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from generated_chains import Core, chains
from hypothesis import strategies as st

from pto_tune.model.communication import COMPARISONS, NOTIFY_OPS, Staging, Tget, Tput
from pto_tune.model.expr import Expr, ExprLike, expr, name
from pto_tune.model.nodes import PIPES, Cost, Instr, Loop, Node
from pto_tune.model.vocabulary import cycles, dma, instr, when
from pto_tune.model.vocabulary_remote import (
    barrier,
    let,
    loop_index,
    poll,
    post,
    tnotify,
    ttest,
    twait,
    while_loop,
)

RANK, BLOCK, SUB = name("rank"), name("block"), name("sub")
MOST_BLOCKS = 3
ELEMENTS = 12
"""Elements of each signal: one for each core of three blocks, and some more."""
SIGNALS = {"turns": (expr(ELEMENTS),), "loose": (expr(3), expr(ELEMENTS // 3))}
PATHS = {("AIC", "MTE2"): "gm_to_l1", ("AIV", "MTE2"): "gm_to_ub", ("AIV", "MTE3"): "ub_to_gm"}
VARIABLES = ("x", "seen", "told")
"""Variables that a phrase may read without setting them."""
Phrase = tuple[Node, ...]


def seldom(draw: st.DrawFn, one_in: int) -> bool:
    return draw(st.integers(0, one_in - 1)) == one_in - 1


@dataclass(frozen=True)
class World:
    """Of a workload under construction: numbers of ranks and blocks, staging tiles, and whether there may be chains."""

    family: str
    ranks: int
    blocks: int
    tiles: list[Staging]
    chains: bool


@dataclass
class Place:
    """A place in the program of a kind of core; `indices` are the variables of the loops around it."""

    core: Core
    world: World
    depth: int = 0
    indices: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        return self.core.name

    def within(self, *indices: str) -> "Place":
        return Place(self.core, self.world, self.depth + 1, (*self.indices, *indices))


# Operands


def _other_rank(draw: st.DrawFn, place: Place) -> Expr:
    """A rank for each rank, each of them once: another one, where there is one."""
    ranks = place.world.ranks
    return (RANK + draw(st.integers(1, max(1, ranks - 1)))) % ranks


def _peer(draw: st.DrawFn, place: Place) -> Expr:
    """Mostly another rank; sometimes a fixed one, one by a loop's index, the own one, or none at all."""
    ranks = place.world.ranks
    if seldom(draw, 60):
        return draw(st.sampled_from((RANK + 1, RANK - 1)))
    other = _other_rank(draw, place)
    choices = [other, other, other, ranks - 1 - RANK, expr(draw(st.integers(0, ranks - 1)))]
    choices += [(RANK + name(index)) % ranks for index in place.indices]
    return draw(st.sampled_from(choices))


def _own_element(place: Place) -> Expr:
    """The element of a signal that belongs to this core of each rank."""
    return BLOCK + 2 * MOST_BLOCKS if place.kind == "AIC" else 2 * BLOCK + SUB


def _element(draw: st.DrawFn, place: Place) -> Expr:
    if seldom(draw, 80):
        return expr(draw(st.sampled_from((-1, ELEMENTS))))
    choices = [_own_element(place), expr(draw(st.integers(0, 3))), RANK, *map(name, place.indices)]
    return draw(st.sampled_from(choices))


def _value(draw: st.DrawFn, place: Place) -> Expr:
    choices = [*map(expr, (-1, 0, 1, 1, 1, 2, 3)), RANK + 1, *(name(index) + 1 for index in place.indices)]
    return draw(st.sampled_from(choices))


def _view(draw: st.DrawFn, place: Place) -> tuple[tuple[ExprLike, ExprLike], ...]:
    """Mostly one element, else up to three dimensions, seldom without elements or beyond the signal."""
    if not seldom(draw, 3):
        return ()
    count = st.one_of(st.integers(1, 3), st.sampled_from((RANK + 1, expr(place.world.ranks))))
    strides = st.sampled_from((0, 1, 1, 2))
    dims = [(draw(count), draw(strides)) for _ in range(draw(st.sampled_from((1, 1, 2))))]
    if seldom(draw, 25):
        dims[0] = (draw(st.sampled_from((2, 0, -1, ELEMENTS + 1))), draw(st.sampled_from((1, -1))))
    return tuple(dims)


def _costs(draw: st.DrawFn, place: Place, pipe: str) -> tuple[Cost, ...]:
    """Cycles that are given, or a transfer that draws on L2 and perhaps on HBM; maybe unequal."""
    more = draw(st.sampled_from((expr(0), expr(0), RANK, 10 * RANK, 3 * BLOCK, 100 * SUB, 100 * (1 - SUB))))
    path = PATHS.get((place.kind, pipe))
    if path and draw(st.booleans()):
        size = draw(st.sampled_from((64, 512, 4096, 9000)))
        return (dma(path, size + 64 * more, 512, draw(st.sampled_from((0, size, size // 3)))),)
    return (cycles(draw(st.sampled_from((0, 1, 7, 50, 300, 2000))) + more),)


def _instruction(draw: st.DrawFn, place: Place, **tokens: Any) -> Instr:
    pipe = draw(st.sampled_from(PIPES[place.kind]))
    costs = _costs(draw, place, pipe)
    return instr(pipe, pipe, *costs, issues=draw(st.sampled_from((1, 1, 1, 3))), **tokens)


def _awaited(draw: st.DrawFn, place: Place) -> tuple[Phrase, tuple[str, ...]]:
    """Instructions, mostly none, and the events that they give."""
    events = [place.core.fresh("e") for _ in range(draw(st.sampled_from((0, 0, 0, 1, 2))))]
    return tuple(_instruction(draw, place, event=event) for event in events), tuple(events)


# Phrases


def _transfer(draw: st.DrawFn, place: Place) -> Phrase:
    """TPUT or TGET, with events before and behind."""
    before, waits = _awaited(draw, place)
    event = place.core.fresh("e") if seldom(draw, 4) else ""
    behind = (_instruction(draw, place, waits=[event]),) if event else ()
    kind = draw(st.sampled_from((Tput, Tget)))
    elem = draw(st.sampled_from(("float", "float", "half", "int8")))
    common: dict[str, Any] = {"elem": elem, "waits": waits, "event": event}
    by_engine = place.world.ranks > 1 or seldom(draw, 10)  # which does not reach the own rank
    if place.kind == "AIC" and not by_engine:
        return (*before, _instruction(draw, place, waits=waits))
    if place.kind == "AIC" or (by_engine and seldom(draw, 4)):
        peer = _other_rank(draw, place)
        shape = tuple(map(expr, (1, 1, 1, 2, draw(st.sampled_from((0, 1, 100, 3000))))))
        return (*before, kind(shape, peer, asynchronous=True, **common), *behind)
    tile = draw(st.sampled_from(place.world.tiles))
    like = [t.name for t in place.world.tiles if t.name != tile.name and (t.rows, t.cols) == (tile.rows, tile.cols)]
    pong = draw(st.sampled_from(("", *like)))
    call = kind(
        _shape(draw, tile), _peer(draw, place), tile.name, pong,
        use_pong=draw(st.sampled_from((expr(1), expr(1), BLOCK % 2))),
        atomic="AtomicAdd" if kind is Tput and seldom(draw, 4) else "AtomicNone", **common,
    )  # fmt: skip
    return (*before, call, *behind)


def _shape(draw: st.DrawFn, tile: Staging) -> tuple[Expr, ...]:
    """A tensor that moves without a tail on a static axis, in whatever shape earlier calls have left the tile."""
    rows, cols = (int(e.args[0]) for e in (tile.valid_rows or tile.rows, tile.valid_cols or tile.cols))
    any_rows, any_cols = (int(e.args[0]) != 0 for e in (tile.dynamic_rows, tile.dynamic_cols))
    if seldom(draw, 20):
        return tuple(map(expr, draw(st.permutations((0, 1, 1, 2, 3)))))
    if not any_rows and not any_cols and seldom(draw, 3):  # in one piece
        d3 = draw(st.integers(1, rows))
        return tuple(map(expr, (1, 1, draw(st.integers(1, rows // d3)), d3, draw(st.integers(1, cols)))))
    outer = draw(st.sampled_from((*5 * [(1, 1, 1)], (1, 1, 2), (2, 1, 1), (1, 2, 2))))
    d3 = draw(st.integers(1, 9)) if any_rows else rows * draw(st.integers(1, 4))
    d4 = draw(st.integers(1, 9)) if any_cols else cols * draw(st.integers(1, 3))
    more = draw(st.sampled_from((expr(0), expr(0), BLOCK, RANK))) if any_cols else expr(0)
    return (*map(expr, (*outer, d3)), d4 + more)


def _exchange(draw: st.DrawFn, place: Place) -> Phrase:
    """Tell another rank, and wait until as many have told this one as by then should have."""
    before, waits = _awaited(draw, place)
    at, told = _own_element(place), name("told")
    tell = tnotify("turns", _other_rank(draw, place), at=at, waits=waits, announces=draw(st.booleans()))
    hear = twait("turns", told, cmp=draw(st.sampled_from(("GE", "GE", "GE", "EQ"))), at=at)
    return (*before, let("told", told + 1), tell, hear)


def _everybody(draw: st.DrawFn, place: Place) -> Phrase:
    """Tell all ranks, and wait for all of them."""
    ranks, to = place.world.ranks, name("to")
    tell = tnotify("loose", (RANK + to) % ranks, name("rank") + 1, at=RANK, op=draw(st.sampled_from(NOTIFY_OPS)))
    return (loop_index("to", ranks, tell), twait("loose", 1, view=((ranks, 1),)))


def _notify(draw: st.DrawFn, place: Place) -> Phrase:
    before, waits = _awaited(draw, place)
    signal = "turns" if seldom(draw, 10) else "loose"
    at, op = _element(draw, place), draw(st.sampled_from(NOTIFY_OPS))
    value = _value(draw, place)
    if seldom(draw, 3):
        return (*before, post(signal, value, at=at, op=op))
    return (*before, tnotify(signal, _peer(draw, place), value, at=at, op=op, waits=waits))


def _wait(draw: st.DrawFn, place: Place) -> Phrase:
    """For a value that may be there, or come, or never."""
    before, waits = _awaited(draw, place)
    at, view, cmp = _element(draw, place), _view(draw, place), draw(st.sampled_from(COMPARISONS))
    if seldom(draw, 2):
        return (*before, ttest("loose", _value(draw, place), into="seen", cmp=cmp, at=at, view=view, waits=waits))
    if not seldom(draw, 3):  # that is there, unless others have been quick
        cmp, value = draw(st.sampled_from((("EQ", 0), ("GE", 0), ("LE", 0), ("LT", 1), ("NE", 3), ("GT", -1))))
        return (*before, twait("loose", value, cmp=cmp, at=at, view=view, waits=waits))
    return (*before, twait("loose", _value(draw, place), cmp=cmp, at=at, view=view, waits=waits))


def _told_and_heard(draw: st.DrawFn, place: Place) -> Phrase:
    """One core of a rank sends, all others wait: across blocks by a store, across ranks by a notify."""
    at, value = draw(st.integers(4, ELEMENTS - 1)), _value(draw, place)
    first = (BLOCK.eq(0)).and_(SUB.eq(0))
    what = (_instruction(draw, place),) if draw(st.booleans()) else ()
    if draw(st.booleans()):
        return (when(first, *what, post("loose", value, at=at)), twait("loose", value, cmp="GE", at=at))
    to = loop_index("to", place.world.ranks, tnotify("loose", name("to"), value, at=at))
    return (when(first.and_(RANK.eq(0)), *what, to), twait("loose", value, cmp="GE", at=at))


def _polling(draw: st.DrawFn, place: Place) -> Phrase:
    """TTESTs with something in between, a bounded number of them."""
    meanwhile = draw(body(place.core, place.world, most=1, place=place.within())) if draw(st.booleans()) else ()
    return poll(
        draw(st.sampled_from(("turns", "loose"))), _value(draw, place), draw(st.integers(0, 12)), *meanwhile,
        cmp=draw(st.sampled_from(COMPARISONS)), at=_element(draw, place), view=_view(draw, place), into="ready",
    )  # fmt: skip


def _barrier(draw: st.DrawFn, place: Place) -> Phrase:
    pipes = draw(st.lists(st.sampled_from(PIPES[place.kind]), max_size=2))
    return (*(_instruction(draw, place) for _ in range(draw(st.integers(0, 2)))), barrier(*pipes))


def _scalar(draw: st.DrawFn, place: Place) -> Phrase:
    """Scalar code: a variable that decides how often something is done."""
    x = name("x")
    changes = (x + 1, 2 - x, (x + RANK) % 3, (0 - x) // 2, (7 * x + BLOCK) // (x - 1), name("seen"))
    change = draw(st.sampled_from(changes))
    act = _instruction(draw, place)
    loop: Node = Loop(x, (act,)) if draw(st.booleans()) else while_loop(x.gt(0), 3, act, let("x", x - 1))
    return (let("x", change), loop) if draw(st.booleans()) else (loop_index("x", draw(st.integers(-1, 3)), act),)


def _chain(draw: st.DrawFn, place: Place) -> Phrase:
    """Instructions that hand on to each other by buffers and events."""
    return draw(chains(place.core, "", "")) if place.world.chains else (_instruction(draw, place),)


def _nested(draw: st.DrawFn, place: Place) -> Phrase:
    """Phrases in a loop, or on some ranks, blocks or sub-cores alone."""
    if place.depth >= 2:
        return (_instruction(draw, place),)
    if draw(st.booleans()):
        index = place.core.fresh("i")
        inside = draw(body(place.core, place.world, most=3, place=place.within(index)))
        return (loop_index(index, draw(st.sampled_from((1, 2, 2, 3, 5, RANK + 1))), *inside),)
    inside = draw(body(place.core, place.world, most=2, place=place.within()))
    who = [SUB.eq(0), SUB.eq(0), BLOCK.eq(0), RANK.eq(0), RANK % 2, name("seen")]
    return (when(draw(st.sampled_from(who)), *inside),)


_PHRASES: tuple[Callable[[st.DrawFn, Place], Phrase], ...] = (
    *3 * [_transfer], *3 * [_exchange], _everybody, _notify, _notify, _wait, _wait, _told_and_heard, _polling, _barrier,
    _scalar, _chain, _nested, _nested,
)  # fmt: skip


@st.composite
def body(draw: st.DrawFn, core: Core, world: World, most: int, place: Place | None = None) -> Phrase:
    """At most so many phrases in a row. Whoever puts them into a program sets `VARIABLES` there."""
    here = place or Place(core, world)
    phrases = draw(st.lists(st.sampled_from(_PHRASES), min_size=1, max_size=most))
    return tuple(node for phrase in phrases for node in phrase(draw, here))
