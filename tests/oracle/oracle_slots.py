"""Slots of rings: who wrote and read which tile when, and what that says about the data."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

TileOf = tuple[str, str, int]
"""Track, place and tile."""


@dataclass(frozen=True)
class Touch:
    """An access of `core` to a tile of a ring.

    `place` is the core whose own memory the ring lies in, empty where both sides use one ring. A tile that the core
    pops and no instruction of it reads counts as read when the pop has its flags (`how` "pop").
    """

    how: str  # write, read or pop
    track: str
    place: str
    slots: int
    tile: int
    core: str


@dataclass(frozen=True)
class _Span:
    core: str
    start: int
    end: int


@dataclass
class SlotLog:
    """Times of all accesses of a run."""

    _writes: dict[TileOf, list[_Span]] = field(default_factory=lambda: defaultdict(list))
    _reads: dict[TileOf, list[_Span]] = field(default_factory=lambda: defaultdict(list))
    _pops: dict[TileOf, list[_Span]] = field(default_factory=lambda: defaultdict(list))
    _slots: dict[tuple[str, str], int] = field(default_factory=dict)

    def note(self, touch: Touch, start: int, end: int) -> None:
        """`end`: when the slot is free of this access; of a write, when its data are visible."""
        if touch.tile < 0:  # before the first tile there is none
            return
        spans = {"write": self._writes, "read": self._reads, "pop": self._pops}[touch.how]
        spans[touch.track, touch.place, touch.tile].append(_Span(touch.core, start, end))
        self._slots[touch.track, touch.place] = touch.slots

    def clashes(self) -> list[tuple[str, int, int]]:
        """(track, tile, slot) where a write of the tile started before the last read of the tile that has the same
        slot and comes `slots` tiles earlier had ended."""
        found = set()
        for (track, place, tile), writes in self._writes.items():
            slots = self._slots[track, place]
            reads = self._reads_of((track, place, tile - slots))
            if any(write.start < read.end for write in writes for read in reads):
                found.add((track, tile, tile % slots))
        return sorted(found)

    def torn(self) -> list[tuple[str, int, str]]:
        """(track, tile, reader) where a read of the tile started before all its writes were visible."""
        found = set()
        for (track, place, tile), writes in self._writes.items():
            for read in self._reads_of((track, place, tile)):
                if any(read.start < write.end for write in writes):
                    found.add((track, tile, read.core))
        return sorted(found)

    def _reads_of(self, key: TileOf) -> list[_Span]:
        reads = self._known(self._reads, key)
        readers = {read.core for read in reads}
        return reads + [pop for pop in self._known(self._pops, key) if pop.core not in readers]

    @staticmethod
    def _known(spans: Mapping[TileOf, list[_Span]], key: TileOf) -> list[_Span]:
        return list(spans.get(key, ()))
