"""The ratio of what is pushed to what is popped: tiles go whole, or in the two parts of a split."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from pto_tune.legality.calls import End, PipeUse, Site, first_made, lonely
from pto_tune.legality.rules import Case, at
from pto_tune.model.nodes import NO_SPLIT, SPLITS

if TYPE_CHECKING:
    from pto_tune.legality.rules import Bools


def ratio_cases(use: PipeUse, pushes: list[Site], pops: list[Site]) -> Iterator[Case]:
    """Pushed to popped elements 1:1 or 1:2 in the TileData flow (docs/isa/TFREE.md, constraints): a sub-core's tile
    against AIC's, and with a split both parts together, which make the tile."""
    whole, parts = (pushes, pops) if pushes[0].core == "AIC" else (pops, pushes)
    in_ub = use.ring(whole[0].way) == "UB"
    table = [(w, p, _fits(w.ends[0], p, in_ub)) for w in whole for p in parts]

    def sentence(site: Site, partners: list[Site], block: int, i: int) -> str:
        sides = sorted((site, first_made(partners, block, i)), key=lambda s: not s.producer)
        ends = [_meant(s, block, i) for s in sides]
        named = [
            f"{s.word} of " + " and ".join(f"{at(e.rows, block, i)} x {at(e.cols, block, i)} on {e.core}" for e in es)
            for s, es in zip(sides, ends, strict=True)
        ]
        counts = [" + ".join(str(at(e.elements, block, i)) for e in es) for es in ends]
        numbers = ":".join(f"({c})" if " " in c else c for c in counts)
        pair = next((es for es in ends if len(es) == 2), None)
        asked = (
            f"with {SPLITS[at(pair[0].split, block, i)]} both parts make the tile" if pair else "tiles go 1:1 or 1:2"
        )
        return (
            f"FIFO {use.fifo.name}: {' and '.join(named)} are {numbers} elements, and {asked}; "
            "nearest: the GlobalData flow"
        )

    for p in parts:
        yield Case(lonely(p.active, [(w.active, f) for w, q, f in table if q is p]), partial(sentence, p, whole))
    for w in whole:
        yield Case(lonely(w.active, [(p.active, f) for v, p, f in table if v is w]), partial(sentence, w, parts))


def _meant(site: Site, block: int, i: int) -> tuple[End, ...]:
    """The ends of a call that count for its ratio: both parts with a split, else one."""
    made = [e for e in site.ends if at(e.active, block, i)]
    split = len(made) == 2 and NO_SPLIT < at(made[0].split, block, i) < len(SPLITS)
    return tuple(made if split else made[:1])


def _fits(whole: End, site: Site, in_ub: bool) -> Bools:
    """Each sub-core's tile in the ratio, and where a split makes two parts of one tile, both together. What comes into
    a ring in UB is up to the push (a TConfig does not split by the pops' Split), so that either will do."""
    import numpy as np

    each: Bools = np.ones((1, 1), dtype=bool)
    for e in site.ends:
        n = e.elements
        each = each & (~e.active | (n == 0) | (n == whole.elements) | (2 * n == whole.elements))
    a, b = site.ends
    split = a.active & b.active & (a.split != NO_SPLIT) & (a.split == b.split)
    together: Bools = split & (a.elements + b.elements == whole.elements)
    fits: Bools = together | (each if in_ub else each & ~split)
    return fits
