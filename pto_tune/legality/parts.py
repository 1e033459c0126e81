"""Whether the parts of a tile fit together: those of both sub-cores, of push and pop, and of the slot.

Every sub-core computes where its part begins from its own valid shape, so unequal halves miss each other. GlobalData
calls take the offset from the static shape of a GlobalTensor, which a workload does not have, and a TMPipe's kernel
gives the offset itself: neither is checked here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from pto_tune.legality.addressing import Part, slot_part, ub_parts
from pto_tune.legality.calls import End, PipeUse, Site, first_made, lonely
from pto_tune.legality.ratios import ratio_cases
from pto_tune.legality.rules import Case, RuleColumn, at, grid, rule
from pto_tune.model.expr import evaluate
from pto_tune.model.nodes import LEFT_RIGHT, LEFT_RIGHT_ODD, SPLITS, UP_DOWN, UP_DOWN_ODD

if TYPE_CHECKING:
    from pto_tune.legality.rules import Bools, Ints


def part_rules(use: PipeUse, env: Mapping[str, Any], n: int) -> Iterator[RuleColumn]:
    """The rules of a pipe's parts, way by way: fitting each other, fitting the tile of the other side, inside the slot,
    in the ratio 1:1 or 1:2 (the only one that holds for a TMPipe too)."""
    for way in use.ways:
        pushes, pops = use.tiles(way, producer=True), use.tiles(way, producer=False)
        track = use.fifo.track(way)
        if use.fifo.kind == "TPipe":
            subs = [s for s in pushes + pops if s.core == "AIV" and use.ring(way) != "UB"]
            if subs:
                yield rule(f"{track}-halves", n, [c for s in subs for c in _halves(use, s, race=False)])
            if way == "V2C" and subs:
                yield rule(f"{track}-same-bytes", n, [c for s in subs for c in _halves(use, s, race=True)], "race")
            if pushes and pops:
                cases = _into_ub(use, pushes, pops) if use.ring(way) == "UB" else _layouts(use, pushes, pops)
                yield rule(f"{track}-layout", n, list(cases))
            if pushes or pops:
                yield rule(f"{track}-beyond-slot", n, list(_beyond_slot(use, pushes + pops, env, n)))
        if pushes and pops:
            yield rule(f"{track}-ratio", n, list(ratio_cases(use, pushes, pops)))


def _part(use: PipeUse, site: Site, end: End) -> Part:
    return slot_part(end.core, site.producer, use.ring(site.way), end.split, end.rows, end.cols, end.elem_bytes)


def _beyond_slot(use: PipeUse, sites: list[Site], env: Mapping[str, Any], n: int) -> Iterator[Case]:
    """Nothing is read or written behind the slot's end: no header compares SlotSize with what is moved."""
    size = grid(evaluate(use.fifo.slot_bytes, env), n)

    def sentence(site: Site, e: End, part: Part, block: int, i: int) -> str:
        verb = "writes" if site.producer else "reads"
        first, last = at(part.offset, block, i), at(part.end, block, i)
        return (
            f"FIFO {use.fifo.name}: {e.core} {verb} bytes {first} to {last} of a slot of {at(size, block, i)}; "
            f"nearest legal SlotSize: {last}"
        )

    for s in sites:
        for e in s.ends:
            if s.producer and e.core == "AIC":
                continue  # the rule of the slot size
            part = _part(use, s, e)
            yield Case(e.active & (part.end > size), partial(sentence, s, e, part))


@dataclass(frozen=True)
class _Pair:
    """Both sub-cores' parts of one call. Grids: `up_down` and `left_right` where both have a part and the split is of
    that kind, `fits` where the second begins where the first ends and nothing between is left unwritten, `overlap`
    where some byte belongs to both."""

    first: Part
    second: Part
    up_down: Bools
    left_right: Bools
    written: bool

    @property
    def fits(self) -> Bools:
        by_rows = self.second.offset == self.first.bytes
        by_cols = self.second.offset == self.first.row_bytes
        if self.written:  # else the ratio has it
            by_cols = by_cols & (self.first.rows == self.second.rows)
        fits: Bools = (~self.up_down | by_rows) & (~self.left_right | by_cols)
        return fits

    @property
    def overlap(self) -> Bools:
        """By columns: the first part's rows reach behind the second's start, and no gap between them is as wide as the
        second's rows; where the second's are the narrower ones, they begin inside the first row."""
        by_rows = self.second.offset < self.first.bytes
        by_cols = (self.second.offset != self.first.row_bytes) & (self.first.end > self.second.offset)
        overlap: Bools = (self.up_down & by_rows) | (self.left_right & by_cols)
        return overlap


def _pair(use: PipeUse, site: Site) -> _Pair:
    """The parts of a call on AIV. V2C pushes have no odd splits (a rule of its own)."""
    a, b = site.ends
    first, second = _part(use, site, a), _part(use, site, b)
    both = a.active & b.active & (a.split == b.split) & (first.bytes > 0) & (second.bytes > 0)
    up_down, left_right = a.split == UP_DOWN, a.split == LEFT_RIGHT
    if not site.producer:
        up_down, left_right = up_down | (a.split == UP_DOWN_ODD), left_right | (a.split == LEFT_RIGHT_ODD)
    return _Pair(first, second, both & up_down, both & left_right, site.producer)


def _halves(use: PipeUse, site: Site, race: bool) -> Iterator[Case]:
    """AIV1 begins where AIV0 ends. It computes that place from its own valid rows or columns, so UP_DOWN and LEFT_RIGHT
    need equal halves, and the odd splits one row or column more on AIV0, exactly. Where AIV1 of a push begins earlier,
    both write the same bytes in no order: `race`."""
    pair = _pair(use, site)
    both_write = pair.overlap if site.producer else pair.overlap & False
    broken = both_write if race else ~pair.fits & ~both_write
    a, b = site.ends

    def sentence(block: int, i: int) -> str:
        split = at(a.split, block, i)
        rows = split in (UP_DOWN, UP_DOWN_ODD)
        word = "row" if rows else "column"
        own, other = (at(e.rows if rows else e.cols, block, i) for e in (b, a))
        nearest = _nearest(split, other, own, site.producer)
        start = own + (split in (UP_DOWN_ODD, LEFT_RIGHT_ODD))
        if start == other and not rows:
            first, second = at(a.rows, block, i), at(b.rows, block, i)
            return (
                f"FIFO {use.fifo.name}: with {SPLITS[split]} AIV0 writes {first} rows and AIV1 {second}: rows "
                f"{min(first, second)} to {max(first, second)} of one half are written by nobody; "
                f"nearest: {SPLITS[split]} with as many rows on both"
            )
        if start == other:  # parts of as many rows, but not of as many columns
            word, nearest = "byte", f"{SPLITS[split]} with rows of one length"
            start, other = at(pair.second.offset, block, i), at(pair.first.bytes, block, i)
        if race:
            what = "both write the same bytes"
        elif start < other:
            what = "it reads what AIV0 read"
        else:
            what = f"{word}s {other} to {start} are {'written' if site.producer else 'read'} by nobody"
        return (
            f"FIFO {use.fifo.name}: with {SPLITS[split]} AIV1 starts at {word} {start} and AIV0 ends at {word} {other}"
            f": {what}; nearest: {nearest}"
        )

    yield Case(broken, sentence)


def _nearest(split: int, first: int, second: int, producer: bool) -> str:
    """The split, or the halves, that fit parts of this many rows or columns."""
    rows = split in (UP_DOWN, UP_DOWN_ODD)
    even, odd = (UP_DOWN, UP_DOWN_ODD) if rows else (LEFT_RIGHT, LEFT_RIGHT_ODD)
    total = first + second
    if first == second:
        return SPLITS[even]
    if producer or total % 2 == 0:
        return f"{SPLITS[even]} with {(total + 1) // 2} {'rows' if rows else 'columns'} each"
    if first == second + 1:
        return SPLITS[odd]
    return f"{SPLITS[odd]} with {total // 2 + 1} and {total // 2} {'rows' if rows else 'columns'}"


def _layouts(use: PipeUse, pushes: list[Site], pops: list[Site]) -> Iterator[Case]:
    """Rows of a part have the length and distance of the whole tile's rows, and what is popped was pushed. NZ2NZ and
    NZ2DN lay the tile out otherwise, so that only its size is compared."""
    whole, parts = (pushes, pops) if pushes[0].core == "AIC" else (pops, pushes)
    stored = [(s, e) for s in pushes for e in s.ends]

    def rows_sentence(part: Part, e: End, block: int, i: int) -> str:
        other = first_made(whole, block, i).ends[0]
        return (
            f"FIFO {use.fifo.name}: {e.core} takes rows {at(part.stride, block, i)} bytes apart of a tile whose rows "
            f"on AIC have {at(other.cols * other.elem_bytes, block, i)} bytes; "
            f"nearest: {SPLITS[at(e.split, block, i)]} parts of the tile's own rows"
        )

    for s, e in ((site, end) for site in parts for end in site.ends):
        part = _part(use, s, e)
        pair = _pair(use, s)
        fits = []
        for other_site in whole:
            other = other_site.ends[0]
            row = other.cols * other.elem_bytes
            free = other_site.config is not None and other_site.config.layout != "NZ2ND"
            flat = (other.rows <= 1) & (part.stride == part.row_bytes)
            fits.append((other.active, (part.rows <= 1) | (part.stride == row) | flat | free))
        meant = e.active & (part.bytes > 0) & pair.fits
        yield Case(lonely(meant, fits), partial(rows_sentence, part, e))

    def end_sentence(part: Part, e: End, block: int, i: int) -> str:
        there = max(at(_part(use, s, o).end, block, i) for s, o in stored if at(o.active, block, i))
        return (
            f"FIFO {use.fifo.name}: {e.core} reads up to byte {at(part.end, block, i)} of a tile that ends at byte "
            f"{there}; nearest legal: {there}"
        )

    for s in pops:
        for e in s.ends:
            part = _part(use, s, e)
            fits = [(p.active, (_written(use, p) >= part.end) | ~_pair_fits(use, p)) for p in pushes]
            yield Case(lonely(e.active & _pair_fits(use, s), fits), partial(end_sentence, part, e))


def _pair_fits(use: PipeUse, site: Site) -> Bools:
    """Whether the parts of a call's cores fit each other; where they do not, another rule says so."""
    import numpy as np

    return _pair(use, site).fits if site.core == "AIV" else np.ones((1, 1), dtype=bool)


def _written(use: PipeUse, push: Site) -> Ints:
    """The byte up to which a push fills the slot, by the sub-cores that make it."""
    import numpy as np

    ends = [np.where(e.active, _part(use, push, e).end, 0) for e in push.ends]
    end: Ints = np.maximum.reduce(np.broadcast_arrays(*ends))
    return end


def _into_ub(use: PipeUse, pushes: list[Site], pops: list[Site]) -> Iterator[Case]:
    """A sub-core pops what the push left in its own UB. Where it left nothing, the flags decide: a matter of the
    executor."""
    left = [(s, s.ends[0], ub_parts(s.ends[0], s.config)) for s in pushes]

    def sentence(e: End, block: int, i: int) -> str:
        part = next(p for _, o, p in left if at(o.active, block, i) and at(p[e.sub].bytes, block, i))[e.sub]
        elem = max(at(e.elem_bytes, block, i), 1)
        return (
            f"FIFO {use.fifo.name}: {e.core} pops {at(e.rows, block, i)} x {at(e.cols, block, i)} and its UB has "
            f"{at(part.rows, block, i)} x {at(part.row_bytes, block, i) // elem} of {elem} bytes each; "
            f"nearest legal: {at(part.rows, block, i)} x {at(part.row_bytes, block, i) // elem}"
        )

    for s in pops:
        for e in s.ends:
            row = e.cols * e.elem_bytes
            fits = []
            for push, pushed, parts in left:
                there = parts[e.sub]
                free = push.config is not None and push.config.layout != "NZ2ND"
                same = (e.rows <= 1) | (there.rows <= 1) | (row == there.row_bytes) | free
                fits.append((pushed.active & (there.bytes > 0), same & (e.bytes <= there.bytes)))
            yield Case(lonely(e.active & (e.bytes > 0), fits), partial(sentence, e))
