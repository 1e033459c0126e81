"""A kernel's program while it is read: steps in order, with what they touch, and repeated parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from pto_tune.kernels.faults import Place
from pto_tune.model.expr import Expr
from pto_tune.model.nodes import Node

POP = "POP"
"""Pipe of a tile pop: which one it is depends on where the platform has the ring."""


@dataclass(eq=False)
class Step:
    """An instruction or call. `reads` and `writes` are allocations of tiles; the lists below are filled with the
    waits between pipes, and `before` and `after` with steps that only wait or only signal."""

    node: Node
    pipe: str
    place: Place
    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    waits: list[str] = field(default_factory=list)
    event: str = ""
    acquires: list[str] = field(default_factory=list)
    takes: list[str] = field(default_factory=list)
    publishes: list[str] = field(default_factory=list)
    releases: list[str] = field(default_factory=list)
    before: list[Step] = field(default_factory=list)
    after: list[Step] = field(default_factory=list)


@dataclass(eq=False)
class Repeat:
    """A part that runs `trips` times. `branch`: a condition, at most once. `steady`: the main loop of a program."""

    trips: Expr
    items: list[Item]
    place: Place
    branch: bool = False
    steady: bool = False
    before: list[Step] = field(default_factory=list)
    after: list[Step] = field(default_factory=list)


Item = Step | Repeat


def steps(items: list[Item]) -> Iterator[Step]:
    """All steps in order, those of repeated parts once."""
    for item in items:
        if isinstance(item, Repeat):
            yield from steps(item.items)
        else:
            yield item
