"""Tiles in the memories of a core: which of them are one and the same place, and what they need together.

Tiles with addresses take what they end at. Those without are planned by the assembler, which lets tiles share room
that are not needed at the same time: taken are all that are alive at the worst point of the program. A tile is alive
from its first use to its last, and through a loop that it is older than.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pto_tune.kernels.faults import Place
from pto_tune.model.expr import expr
from pto_tune.model.nodes import Buffer

MOST_BUFFERS = 32
"""Buffers of a kernel's tiles: the largest ones; the rest of a memory is one more."""
MEMORIES = ("L1", "L0A", "L0B", "L0C", "UB")


@dataclass
class Allocation:
    """A tile that a function allocates: `first` and `last` are the steps between which it is used."""

    root: str
    name: str
    memory: str
    bytes: int
    address: int | None
    place: Place
    first: int = -1
    last: int = -1

    def touch(self, at: int) -> None:
        """It is used at a step."""
        self.first = at if self.first < 0 else min(self.first, at)
        self.last = max(self.last, at)


def one_place(allocations: Sequence[Allocation]) -> dict[str, str]:
    """The tile that each allocation is part of: those whose addresses overlap are one."""
    parent = {a.root: a.root for a in allocations}

    def find(root: str) -> str:
        while parent[root] != root:
            parent[root] = parent[parent[root]]
            root = parent[root]
        return root

    placed = sorted((a for a in allocations if a.address is not None), key=lambda a: (a.memory, a.address or 0))
    open_: Allocation | None = None
    end = 0
    for a in placed:
        start = a.address or 0
        if open_ is not None and open_.memory == a.memory and start < end:
            parent[find(a.root)] = find(open_.root)
            end = max(end, start + a.bytes)
        else:
            open_, end = a, start + a.bytes
    return {root: find(root) for root in parent}


def buffers_of(core: str, allocations: Sequence[Allocation]) -> list[tuple[Buffer, Place]]:
    """What the tiles of a core need, as buffers with the places of their allocations."""
    found: list[tuple[str, int, str, Place]] = []
    for memory in MEMORIES:
        mine = [a for a in allocations if a.memory == memory]
        end = 0
        for a in sorted((a for a in mine if a.address is not None), key=lambda a: a.address or 0):
            more = max((a.address or 0) + a.bytes - end, 0)
            end += more
            if more:
                found.append((memory, more, a.name, a.place))
        found += [(memory, a.bytes, a.name, a.place) for a in _worst([a for a in mine if a.address is None])]
    found.sort(key=lambda f: -f[1])
    out, names = list[tuple[Buffer, Place]](), set[str]()
    for memory, size, name, place in found[:MOST_BUFFERS]:
        title = f"{core.lower()}_{name}"
        while title in names:
            title = f"{core.lower()}_{name}_{len(names)}"
        names.add(title)
        out.append((Buffer(title, core, memory, expr(size), expr(1)), place))
    for memory in MEMORIES:
        rest = [f for f in found[MOST_BUFFERS:] if f[0] == memory]
        if rest:
            size = sum(f[1] for f in rest)
            out.append((Buffer(f"{core.lower()}_rest_{memory}", core, memory, expr(size), expr(1)), rest[0][3]))
    return out


def _worst(planned: Sequence[Allocation]) -> list[Allocation]:
    """The tiles that are alive where they need most."""
    used = [a for a in planned if a.first >= 0]
    best: list[Allocation] = []
    most = -1
    for at in sorted({a.first for a in used}):
        alive = [a for a in used if a.first <= at <= a.last]
        size = sum(a.bytes for a in alive)
        if size > most:
            best, most = alive, size
    return best
