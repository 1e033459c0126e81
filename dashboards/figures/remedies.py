"""What it would take: for every rule that refuses or warns of danger, the single change that leads to an ok
configuration, counted over the run's own table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dashboards.filtering import codes
from dashboards.runview import RunView
from dashboards.text import byte_count, percent, shorten

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_CELLS = 40_000_000
"""Configurations of a space (whether looked at or not) above which neighbours are not looked up."""

CAPACITY = "capacity-"
_CHANGES = 3


@dataclass(frozen=True)
class Change:
    """`count` configurations become ok when only `tunable` changes, most often from `old` to `new` (`often` times),
    always to the nearest value of its domain that is ok."""

    tunable: str
    old: int | str
    new: int | str
    count: int
    often: int


@dataclass(frozen=True)
class Remedy:
    """One verdict and rule.

    Attributes:
        count: configurations that it keeps from being ok.
        over_bytes: of a capacity rule the least and the median excess in bytes; None where it is not known.
        changes: the single changes that help most of them, best first.
        curable: configurations that some single change helps; None where neighbours were not looked up.
        example: the position of the first of them.
    """

    verdict: str
    rule: str
    count: int
    over_bytes: tuple[int, int] | None
    changes: tuple[Change, ...]
    curable: int | None
    example: int


@dataclass(frozen=True)
class RemediesData:
    """`remedies`: the most frequent first. `why_no_changes`: why neighbours were not looked up, "" where they were."""

    remedies: tuple[Remedy, ...]
    why_no_changes: str


def remedies_data(
    view: RunView, within: NDArray[np.int64] | None = None, limits_bytes: Mapping[str, int] | None = None
) -> RemediesData:
    """Rules of the configurations in `within` (None: all). `limits_bytes`: how many bytes of a memory ("UB", ...) a
    configuration may use; without it no excess is told.

    Neighbours differ in one tunable and may be any configuration of the run, whether in `within` or not; those that a
    sample has not looked at count as not ok.
    """
    positions = np.flatnonzero(~view.ok) if within is None else np.sort(within[~view.ok[within]])
    if not len(positions):
        return RemediesData((), "")
    width = len(view.rule_names) + 1
    kind = view.verdict[positions].astype(np.int64) * width + view.rule[positions] + 1
    kinds, index, counts = np.unique(kind, return_inverse=True, return_counts=True)
    index = index.reshape(-1)
    first = np.full(len(kinds), -1, dtype=np.int64)
    first[index[::-1]] = positions[::-1]
    changes, curable, why = _changes(view, positions, index, len(kinds))
    out = []
    for k in np.argsort(-counts, kind="stable").tolist():
        verdict, rule = divmod(int(kinds[k]), width)
        name = view.rule_names[rule - 1] if rule else ""
        over = None
        if name.startswith(CAPACITY) and limits_bytes is not None:
            over = _over(view, positions[index == k], name.removeprefix(CAPACITY), limits_bytes)
        out.append(
            Remedy(
                view.verdict_names[verdict],
                name,
                int(counts[k]),
                over,
                tuple(changes[k][:_CHANGES]),
                None if why else int(curable[k]),
                int(first[k]),
            )
        )
    return RemediesData(tuple(out), why)


def _over(
    view: RunView, positions: NDArray[np.int64], memory: str, limits: Mapping[str, int]
) -> tuple[int, int] | None:
    column = view.bytes.get(memory.lower())
    if column is None or memory not in limits:
        return None
    excess = column[positions] - limits[memory]
    excess = excess[np.isfinite(excess) & (excess > 0)]
    return (int(excess.min()), int(np.median(excess))) if len(excess) else None


def _changes(
    view: RunView, positions: NDArray[np.int64], kind: NDArray[np.int64], n_kinds: int
) -> tuple[list[list[Change]], NDArray[np.int64], str]:
    """Changes of each kind, the most helpful first; how many of each some change helps; why there are none."""
    tunables = view.varied
    sizes = [len(domain) for _, domain in tunables]
    nothing: list[list[Change]] = [[] for _ in range(n_kinds)]
    none = np.zeros(n_kinds, dtype=np.int64)
    if not tunables:
        return nothing, none, "The run varies no tunable."
    if float(np.prod(np.array(sizes, dtype=float))) > MOST_CELLS:
        return nothing, none, "The space is too large to look up what one change would do."
    places = [codes(view, name) for name, _ in tunables]
    if any((place < 0).any() for place in places):
        return nothing, none, "Not every tunable applies everywhere, so neighbours are not looked up."
    ok = np.zeros(sizes, dtype=bool)
    ok[tuple(place[view.ok] for place in places)] = True
    at = tuple(place[positions].astype(np.int64) for place in places)
    helped = np.zeros(len(positions), dtype=bool)
    found: list[list[Change]] = [[] for _ in range(n_kinds)]
    for axis, (name, domain) in enumerate(tunables):
        target = _nearest(ok, axis)[at].astype(np.int64)
        some = target >= 0
        helped |= some
        size = sizes[axis]
        key = (kind[some] * size + at[axis][some]) * size + target[some]
        moves, often = np.unique(key, return_counts=True)
        by_kind = np.bincount(kind[some], minlength=n_kinds)
        best: dict[int, tuple[int, int]] = {}
        for move, count in zip(moves.tolist(), often.tolist(), strict=True):
            k = move // (size * size)
            if k not in best or count > best[k][0]:
                best[k] = (count, move % (size * size))
        for k, (count, move) in best.items():
            old, new = divmod(move, size)
            found[k].append(Change(name, domain[old], domain[new], int(by_kind[k]), count))
    for changes in found:
        changes.sort(key=lambda c: (-c.count, -c.often, c.tunable))
    return found, np.bincount(kind[helped], minlength=n_kinds), ""


def _nearest(ok: NDArray[np.bool_], axis: int) -> NDArray[np.int16]:
    """For every cell the place along `axis` of the nearest ok one, -1 where there is none; the lower of two."""
    line = np.moveaxis(ok, axis, -1)
    n = line.shape[-1]
    places = np.arange(n, dtype=np.int16)
    below = np.maximum.accumulate(np.where(line, places, np.int16(-1)), axis=-1)
    far = np.int16(2 * n)
    above = np.minimum.accumulate(np.where(line, places, far)[..., ::-1], axis=-1)[..., ::-1]
    use_above = (above < far) & ((below < 0) | (above - places < places - below))
    return np.moveaxis(np.where(use_above, above, below).astype(np.int16), -1, axis)


def sentence(remedy: Remedy) -> str:
    """How far off, and what would help, in a sentence; "" where nothing is known."""
    parts = []
    if remedy.over_bytes is not None:
        least, median = remedy.over_bytes
        memory = remedy.rule.removeprefix(CAPACITY)
        parts.append(
            f"{memory} is over by {byte_count(least)}"
            if least == median
            else f"{memory} is over by {byte_count(least)} at least, {byte_count(median)} at the median"
        )
    if remedy.changes:
        change = remedy.changes[0]
        parts.append(
            f"the change that helps most often: {_move(change)} (a nearest legal {shorten(change.tunable, 40)} exists "
            f"for {change.count:,} of {remedy.count:,})"
        )
    elif remedy.curable is not None:
        parts.append("no single change leads to an ok configuration")
    return "; ".join(parts)


def _move(change: Change) -> str:
    return f"{shorten(change.tunable, 40)} {shorten(str(change.old), 24)} → {shorten(str(change.new), 24)}"


def other_changes(remedy: Remedy) -> str:
    """Further single changes, in a few words."""
    return "; ".join(f"{_move(c)} ({percent(c.count, remedy.count)})" for c in remedy.changes[1:])


def memory_limits(problem: Any) -> dict[str, int]:
    """Bytes of each memory that a configuration of `problem` (`pto_tune.evaluation.Problem`) may use."""
    from pto_tune.legality.memory import memory_limit

    out = {}
    for memory in ("UB", "L1", "L0A", "L0B", "L0C"):
        try:
            out[memory], _ = memory_limit(problem.workload, problem.platform, memory)
        except KeyError:
            # a platform without such a memory, or without its size
            continue
    return out
