"""The timeline of one block: what every pipe does and what it waits for, and the flags that pass between cores.

Data only: `timeline_data` reads an explanation once, `window` picks what is drawn of a stretch of time, merged where it
is too much. `timeline_drawing` draws it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dashboards.figures.timeline_spans import (
    KINDS,
    STALLS,
    block_spans,
    block_tokens,
    rank_spans,
    rank_tokens,
)  # fmt: skip

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dashboards.figures.timeline_spans import Spans, Tokens
    from pto_tune.explaining.explanation import Explanation

    Ints = NDArray[np.int64]

MOST_BARS = 3000
"""Bars drawn at once; beyond that the short ones are merged."""

MOST_TOKENS = 150
"""Flags drawn at once; where a stretch of time has more, none is drawn."""


@dataclass(frozen=True, eq=False)
class TimelineData:
    """Everything of one block. `tracks` are "AIC.MTE2" or "AIV0.S" (the scalar process); times are cycles from the
    start, `cycles` the end of the last. `title` says which block it is, `flags` what a flag without credit is."""

    tracks: tuple[str, ...]
    spans: Spans
    tokens: Tokens
    cycles: int
    clock_mhz: float
    title: str = ""
    flags: str = "a tile is ready"

    @cached_property
    def stalls(self) -> list[tuple[str, int, int]]:
        """Cycles by track and kind of stall, (track, kind, cycles), in the order of the tracks."""
        s = self.spans
        sums = np.zeros((len(self.tracks), len(KINDS)), dtype=np.int64)
        np.add.at(sums, (s.track, s.kind), s.end - s.start)
        return [(t, k, int(sums[i, k])) for i, t in enumerate(self.tracks) for k in STALLS if sums[i, k]]


@dataclass(frozen=True, eq=False)
class Window:
    """What is drawn of the stretch `begin` to `end` (cycles). A bar stands for `members` spans; where these are several
    its kind is the one with the most cycles. `texts` say what is in a bar. `hidden_tokens`: flags that were too many to
    be drawn; `merged`: bars that stand for several spans."""

    data: TimelineData
    begin: int
    end: int
    track: Ints
    start: Ints
    stop: Ints
    kind: Ints
    members: Ints
    texts: list[str]
    tokens: Tokens
    hidden_tokens: int

    @property
    def merged(self) -> int:
        """Bars that stand for several spans."""
        return int((self.members > 1).sum())


def timeline_data(explanation: Explanation, block: int | None = None) -> TimelineData:
    """The timeline of an explanation with times: its first block in a full wave; of a workload with ranks the block
    that ends last, or number `block` (rank * blocks + block). ValueError where there are no times."""
    clock = explanation.problem.clock_mhz
    if explanation.problem.workload.has_ranks:
        from pto_tune.explaining.several import RankExplanation

        assert isinstance(explanation, RankExplanation)
        if not explanation.timed:
            raise ValueError(f"there is no timeline: {explanation.evaluation.reason(0)}")
        run = explanation.run
        at = run.last_instance if block is None else block
        if not 0 <= at < run.ranks * run.blocks:
            raise ValueError(f"there is no block {at}: the run has {run.ranks} ranks with {run.blocks} blocks each")
        tracks, spans = rank_spans(explanation, at)
        tokens = rank_tokens(explanation, at, tracks)
        title = f"block {at % run.blocks} of rank {at // run.blocks} ({run.ranks} ranks, {run.blocks} blocks each)"
        return TimelineData(tracks, spans, tokens, run.cycles, clock, title, "a signal between ranks")
    t = explanation.block
    tracks, spans = block_spans(t)
    return TimelineData(tracks, spans, block_tokens(t, tracks), t.cycles, clock, "the first block of a full wave")


def window(data: TimelineData, begin: int | None = None, end: int | None = None, limit: int = MOST_BARS) -> Window:
    """What is drawn from `begin` to `end` (cycles; None is the start, or the end), at most about `limit` bars.

    Short spans that lie in the same small piece of time on one track become one bar, with pieces as small as the limit
    allows; a span longer than a piece stays itself. At least one bar a track is drawn however small the limit.
    """
    low = 0 if begin is None else max(0, min(begin, data.cycles))
    high = data.cycles if end is None else max(0, min(end, data.cycles))
    if high <= low:
        low, high = 0, data.cycles
    s = data.spans
    at = np.flatnonzero((s.end > low) & (s.start < high))
    tokens, hidden = _tokens(data.tokens, low, high)
    group, groups = _groups(s.track[at], s.start[at], s.end[at], low, high, limit)
    members = np.bincount(group, minlength=groups)
    first = np.zeros(groups, dtype=np.int64)
    first[group[::-1]] = at[::-1]
    start = np.full(groups, np.iinfo(np.int64).max)
    stop = np.zeros(groups, dtype=np.int64)
    np.minimum.at(start, group, s.start[at])
    np.maximum.at(stop, group, s.end[at])
    cycles = np.zeros((groups, len(KINDS)), dtype=np.int64)
    np.add.at(cycles, (group, s.kind[at]), s.end[at] - s.start[at])
    kind = np.where(members == 1, s.kind[first], cycles.argmax(axis=1))
    texts = [
        s.names[s.name[i]] if n == 1 else _mix(int(n), c, int(stretch))
        for i, n, c, stretch in zip(first, members, cycles, stop - start, strict=True)
    ]
    return Window(data, low, high, s.track[first], start, stop, kind, members, texts, tokens, hidden)


def _groups(track: Ints, start: Ints, end: Ints, low: int, high: int, limit: int) -> tuple[Ints, int]:
    """The bar of every span, and how many bars there are."""
    n = track.shape[0]
    if n <= limit:
        return np.arange(n), n
    piece = max(1, (high - low) // max(limit, 1))
    while True:
        short = end - start < piece
        # a span that is not short has a number of its own behind those of the pieces
        pieces = (np.maximum(start, low) - low) // piece
        key = np.where(short, track * ((high - low) // piece + 1) + pieces, np.iinfo(np.int64).max - np.arange(n))
        _, group = np.unique(key, return_inverse=True)
        groups = int(group.max()) + 1
        if groups <= limit or piece > high - low:
            return group, groups
        piece *= 2


def _mix(members: int, cycles: Ints, stretch: int) -> str:
    parts = [f"{KINDS[k]} {100 * cycles[k] / stretch:.0f} %" for k in np.argsort(-cycles, kind="stable") if cycles[k]]
    return f"{members} merged: {', '.join(parts)}"


def _tokens(tokens: Tokens, low: int, high: int) -> tuple[Tokens, int]:
    at = np.flatnonzero((tokens.taken >= low) & (tokens.sent <= high))
    if at.shape[0] > MOST_TOKENS:
        return tokens.take(at[:0]), int(at.shape[0])
    return tokens.take(at), 0
