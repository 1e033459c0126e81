"""Free credits of one pipe in closed form: how many are sent, waited for and drained, and what stays behind.

A credit is one signal from the consumer to the producer (each sub-core has its own) and stands for SyncPeriod slots.
In every function `slot_num` is SlotNum (at least 1), `period` the SyncPeriod asked for (0: as the rule set derives it
from SlotNum) and `tiles` the number N of tiles that go through the pipe; they are integers or integer arrays and
broadcast, and the result is an int64 array of their common shape. ValueError for values out of range.

`form` is one of FORMS: a TPipe follows the rule set, a TMPipe with its default switches waits and notifies for every
tile, and a gated TMPipe is one whose kernel switches by depth and period, as a TPipe would. `local_no_split` says that
a TPipe's ring lies in UB or L1 and IsNoSplit holds, which some revisions treat apart.

Assumed of the program: every tile is allocated once, popped once and freed before the next is popped, with all
switches on. Sources: npu/a2a3/TPush.hpp:37-87, 484-511, 898-928 and npu/a5/TPush.hpp:37-68, 685-707, 1283-1313 of the
public pto-isa repository; `rule_sets` has what differs by revision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from pto_tune.rule_sets import RuleSet

Ints = NDArray[np.int64]

TPIPE, TMPIPE, GATED_TMPIPE = FORMS = ("TPipe", "TMPipe", "gated TMPipe")


def sync_period(rule_set: RuleSet, slot_num: ArrayLike, period: ArrayLike = 0, *, form: str = TPIPE) -> Ints:
    """SyncPeriod in force, in tiles."""
    slots, asked = _column("SlotNum", slot_num, 1), _column("SyncPeriod", period, 0)
    if _known(form) == TMPIPE:
        return np.ones(np.broadcast_shapes(slots.shape, asked.shape), dtype=np.int64)
    derived = {"half": np.where(slots <= 2, slots, slots // 2), "slot_num": slots, "one": np.ones_like(slots)}
    return np.where(asked > 0, asked, derived[rule_set.period])


def notified(rule_set: RuleSet, slot_num: ArrayLike, period: ArrayLike, tiles: ArrayLike, *, form: str = TPIPE) -> Ints:
    """Credits that the consumer's calls send: one behind the last tile of each period, floor(N / P)."""
    n = _column("number of tiles", tiles, 0)
    sent: Ints = n // sync_period(rule_set, slot_num, period, form=form)
    return sent


def waited(rule_set: RuleSet, slot_num: ArrayLike, period: ArrayLike, tiles: ArrayLike, *, form: str = TPIPE) -> Ints:
    """Credits that the producer's calls wait for: one at each tile i with first <= i < N and i % P == 0, where `first`
    is SlotNum or 0 by the rule set, that is max(0, ceil(N / P) - ceil(first / P))."""
    n = _column("number of tiles", tiles, 0)
    p = sync_period(rule_set, slot_num, period, form=form)
    taken: Ints = np.maximum(0, -(-n // p) - _periods_without_wait(rule_set, slot_num, p, form))
    return taken


def constructed(
    rule_set: RuleSet,
    slot_num: ArrayLike,
    period: ArrayLike = 0,
    *,
    form: str = TPIPE,
    local_no_split: bool = False,
) -> Ints:
    """Credits that the consumer's constructor sends: 0 or P for a TPipe, 1 for any TMPipe."""
    p = sync_period(rule_set, slot_num, period, form=form)
    if form != TPIPE:
        return np.ones_like(p)
    exempt = rule_set.local_no_split and local_no_split
    return p if rule_set.ctor_credits == "period" and not exempt else np.zeros_like(p)


def drained(
    rule_set: RuleSet,
    slot_num: ArrayLike,
    period: ArrayLike,
    tiles: ArrayLike,
    *,
    form: str = TPIPE,
    local_no_split: bool = False,
) -> Ints:
    """Credits that the producer's destructor waits for: what the rule says is pending (sent by then and not waited
    for), or P whatever was used; of a TMPipe one, and where it is gated also what the kernel drains by the rule."""
    sent = notified(rule_set, slot_num, period, tiles, form=form)
    pending: Ints = np.maximum(0, sent - waited(rule_set, slot_num, period, tiles, form=form))
    if form == TMPIPE:
        return np.ones_like(pending)
    if form == GATED_TMPIPE:
        return np.add(pending, 1, dtype=np.int64)
    if rule_set.drain == "period" and not (rule_set.local_no_split and local_no_split):
        return np.broadcast_to(sync_period(rule_set, slot_num, period), pending.shape).copy()
    return pending


def left(
    rule_set: RuleSet,
    slot_num: ArrayLike,
    period: ArrayLike,
    tiles: ArrayLike,
    *,
    form: str = TPIPE,
    local_no_split: bool = False,
) -> Ints:
    """Credits that stay in the flag at the end and meet the next launch: constructed + notified - waited - drained.
    Below 0 the destructor waits for so many that nobody sends: it hangs."""
    sent = constructed(rule_set, slot_num, period, form=form, local_no_split=local_no_split)
    sent = sent + notified(rule_set, slot_num, period, tiles, form=form)
    taken = waited(rule_set, slot_num, period, tiles, form=form)
    taken = taken + drained(rule_set, slot_num, period, tiles, form=form, local_no_split=local_no_split)
    stay: Ints = sent - taken
    return stay


def most_in_flight(
    rule_set: RuleSet,
    slot_num: ArrayLike,
    period: ArrayLike,
    tiles: ArrayLike,
    *,
    form: str = TPIPE,
    local_no_split: bool = False,
) -> Ints:
    """Most tiles that are stored and not yet popped, by what the flags allow: min(N, (c + C) P), where c P is the first
    tile that waits and C the credits of the constructor. Above SlotNum a slot may be overwritten. A program that orders
    its two cores by other means too may stay below it."""
    n = _column("number of tiles", tiles, 0)
    p = sync_period(rule_set, slot_num, period, form=form)
    ahead = constructed(rule_set, slot_num, period, form=form, local_no_split=local_no_split)
    most: Ints = np.minimum(n, (_periods_without_wait(rule_set, slot_num, p, form) + ahead) * p)
    return most


def _periods_without_wait(rule_set: RuleSet, slot_num: ArrayLike, period: Ints, form: str) -> Ints:
    """Periods of tiles before the first tile that waits for space: ceil(first / P)."""
    if form == TMPIPE:
        return np.zeros_like(period)
    slots = _column("SlotNum", slot_num, 1)
    first = slots if form == GATED_TMPIPE or rule_set.wait_from == "slot_num" else np.zeros_like(slots)
    periods: Ints = -(-first // period)
    return periods


def _known(form: str) -> str:
    if form not in FORMS:
        raise ValueError(f"unknown form of a pipe {form!r}: choose one of {', '.join(FORMS)}")
    return form


def _column(what: str, values: ArrayLike, least: int) -> Ints:
    column = np.asarray(values)
    if column.size and column.dtype.kind not in "iu":
        raise ValueError(f"{what} has type {column.dtype}: expected integers")
    if column.size and column.min() < least:
        raise ValueError(f"{what} {int(column.min())} is below {least}: give at least {least}")
    return column.astype(np.int64)
