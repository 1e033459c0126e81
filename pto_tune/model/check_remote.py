"""The check of what ranks do with one another: signals, staging tiles, the nodes that use them, and variables.

What an instruction makes of element types, layouts, sides and addresses is for the legality rules to say.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Any

from pto_tune.model.check_values import MAX_LOOPS, MAX_NODES, SPECIAL, Names, Values
from pto_tune.model.communication import (
    COMPARISONS,
    NOTIFY_OPS,
    Barrier,
    Let,
    Post,
    Remote,
    Signal,
    Staging,
    Tget,
    Tnotify,
    Tput,
    Ttest,
    Twait,
)
from pto_tune.model.expr import brief, one_of
from pto_tune.model.nodes import PIPES, Call, Instr, Loop, Node, While

ATOMIC_WORDS = ("AtomicNone", "AtomicAdd", "AtomicMax", "AtomicMin")
"""AtomicType of the ISA, whether or not an instruction takes it."""

SDMA = "SDMA"
"""The pipe of asynchronous transfers."""

_EXTENTS = 5  # of a GlobalTensor


class RemoteNodes(Values):
    """Checks signals, staging tiles and nodes between ranks. `events`, `waits`, `variables` and `sdma` are of the
    program at hand: its events, who waits for them, its variables, and its SDMA pipe where it has one."""

    def __init__(self, unread: Collection[str]) -> None:
        super().__init__(unread)
        self.signals, self.staging = Names(unread, "signals"), Names(unread, "staging")
        self.events, self.sdma, self.waits = Names(), Names(), list[tuple[str, Any]]()

    def signal(self, place: str, signal: Signal) -> None:
        self.needs_ranks(place)
        self.define(f"{place}.name", signal.name, self.signals)
        self.name(f"{place}.elem", signal.elem)
        self.leaves(place, signal)
        for at, extent in self.items(f"{place}.dims", signal.dims):
            self.expression(at, extent)

    def tile_of_staging(self, place: str, tile: Staging) -> None:
        self.needs_ranks(place)
        self.define(f"{place}.name", tile.name, self.staging)
        for part in ("elem", "location", "block_layout", "fractal_layout"):
            self.name(f"{place}.{part}", getattr(tile, part))
        self.leaves(place, tile, "block")

    def collect(self, place: str, body: Sequence[Node], complete: bool) -> None:
        """The variables of a program, which may be used before they are set, and its SDMA pipe."""
        self.variables, self.sdma = Names(), Names()
        nodes = list(islice(_walk(place, body), MAX_NODES + 1))
        self.variables.complete = self.sdma.complete = complete and len(nodes) <= MAX_NODES
        for at, node in nodes:
            match node:
                case Loop(index=name) | Let(name=name) | Ttest(into=name):
                    if isinstance(name, str) and name != "":
                        self.variables.setdefault(name, at)
                case Tput(asynchronous=True) | Tget(asynchronous=True):
                    self.sdma.setdefault(SDMA, at)

    def variable(self, place: str, name: Any) -> None:
        """A name that a program sets. It may be set in many places, but is nothing else."""
        self.name(place, name)
        if isinstance(name, str) and name in SPECIAL:
            self.say(place, f"{name!r} is reserved: expected another name")
        elif isinstance(name, str) and name in self.scope:
            self.say(place, f"{brief(name)} is taken by {self.scope[name]}: expected another name")

    def order(self, place: str, node: Instr | Call | Tput | Tget) -> None:
        """Events that are waited for, and the one that is given: instructions and calls of a core share them."""
        self.waits += self.items(f"{place}.waits", node.waits)
        if node.event != "":
            self.define(f"{place}.event", node.event, Names(), self.events)

    def remote(self, place: str, core: str, node: Remote, *special: str) -> None:
        self.needs_ranks(place)
        self.leaves(place, node, *special, local=self.variables)
        match node:
            case Tput() | Tget():
                self.remote_transfer(place, core, node, *special)
            case Tnotify() | Post():
                self.refer(f"{place}.signal", node.signal, "signal", self.signals)
                self.refer(f"{place}.op", node.op, "operation on a signal", NOTIFY_OPS)
            case Twait() | Ttest():
                self.refer(f"{place}.signal", node.signal, "signal", self.signals)
                self.refer(f"{place}.cmp", node.cmp, "comparison", COMPARISONS)
                self.view(place, node, *special)
            case Barrier():
                self.barrier(place, core, node)
            case Let():
                self.variable(f"{place}.name", node.name)
        if isinstance(node, Tnotify | Twait | Ttest):
            self.waits += self.items(f"{place}.waits", node.waits)
        if isinstance(node, Ttest):
            self.variable(f"{place}.into", node.into)

    def remote_transfer(self, place: str, core: str, node: Tput | Tget, *special: str) -> None:
        if core != "AIV":
            self.say(place, f"{type(node).__name__.upper()} is in a program of {core}: expected it in one of AIV")
        if len(node.shape) != _EXTENTS:
            self.say(f"{place}.shape", f"has {len(node.shape)} extents: expected {_EXTENTS}, d0 to d4")
        for at, extent in self.items(f"{place}.shape", node.shape):
            self.expression(at, extent, *special)
        if node.tile == "" and node.asynchronous is not True:
            self.say(f"{place}.tile", "is missing: expected a staging tile, or an asynchronous call")
        for part in ("tile", "pong"):
            if getattr(node, part) != "":
                self.refer(f"{place}.{part}", getattr(node, part), "staging tile", self.staging)
        self.refer(f"{place}.atomic", node.atomic, "atomic type", ATOMIC_WORDS)
        for part in ("elem", "layout", "dst_elem", "dst_layout"):
            if getattr(node, part) != "" or part in ("elem", "layout"):
                self.name(f"{place}.{part}", getattr(node, part))
        self.order(place, node)

    def view(self, place: str, node: Twait | Ttest, *special: str) -> None:
        for at, dimension in self.items(f"{place}.view", node.view):
            if len(dimension) != 2:
                self.say(at, f"has {len(dimension)} entries: expected a count and a stride")
            for i, e in enumerate(dimension[:2]):
                self.expression(f"{at}[{i}]", e, *special, local=self.variables)

    def barrier(self, place: str, core: str, node: Barrier) -> None:
        for at, pipe in self.items(f"{place}.pipes", node.pipes):
            if pipe == SDMA and not self.sdma and self.sdma.complete:
                has = f"{brief(pipe)} is no pipe of {core} without an asynchronous call"
                self.say(at, f"{has}: expected {one_of(PIPES[core])}")
            else:
                self.refer(at, pipe, f"pipe of {core}", PIPES[core], self.sdma)


def _walk(place: str, body: Sequence[Any], loops: int = 0) -> Iterator[tuple[str, Any]]:
    """Nodes with their places, loops before their bodies, no deeper than they may nest."""
    for i, node in enumerate(body):
        at = f"{place}[{i}]"
        yield at, node
        if isinstance(node, Loop | While) and loops < MAX_LOOPS:
            yield from _walk(f"{at}.body", node.body, loops + 1)
