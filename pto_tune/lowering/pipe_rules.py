"""What a rule set says of one pipe, as expressions of a configuration: periods, first waits, credits, drains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pto_tune.model.expr import Expr, expr, where
from pto_tune.model.nodes import NO_SPLIT, Fifo

if TYPE_CHECKING:
    from pto_tune.rule_sets import RuleSet, Way


def derived_period_expr(fifo: Fifo, rule_set: RuleSet) -> Expr:
    """SyncPeriod of a TPipe with this SlotNum under the rule set."""
    s = fifo.slot_num
    if rule_set.period == "half":
        return where(s.le(2), s, s // 2)
    return s if rule_set.period == "slot_num" else expr(1)


def period_expr(fifo: Fifo, rule_set: RuleSet) -> Expr:
    """SyncPeriod in force: the given one, or what the rule set derives from SlotNum where 0 is given. A TMPipe whose
    kernel does not gate the switches waits and notifies every time."""
    period = where(fifo.sync_period.gt(0), fifo.sync_period, derived_period_expr(fifo, rule_set))
    return period if fifo.kind == "TPipe" else where(fifo.gated, period, 1)


def first_wait_expr(fifo: Fifo, rule_set: RuleSet) -> Expr:
    """The first tile that may wait for space."""
    first = fifo.slot_num if rule_set.wait_from == "slot_num" else expr(0)
    return first if fifo.kind == "TPipe" else where(fifo.gated, fifo.slot_num, 0)


def is_no_split(fifo: Fifo) -> Expr:
    """IsNoSplit, where it is not given: that the pipe's split is NO_SPLIT."""
    return fifo.split.eq(NO_SPLIT) if fifo.is_no_split is None else fifo.is_no_split.ne(0)


def constructor_credits(fifo: Fifo, rule_set: RuleSet, way: Way) -> Expr | None:
    """Credits that the consumer's constructor sends, None where there are never any."""
    used = fifo.used.ne(0)
    if fifo.kind == "TMPipe":
        return used
    if rule_set.ctor_credits != "period":
        return None
    credits = period_expr(fifo, rule_set) * used
    return where(is_no_split(fifo), 0, credits) if rule_set.local_no_split and way.ring != "GM" else credits


def destructor_waits(fifo: Fifo, rule_set: RuleSet, way: Way) -> tuple[Expr | None, Expr | None]:
    """Waits of the producer's destructor: whether what is pending by the rule is waited for (a 0/1 expression or None:
    no), and how many further ones."""
    used = fifo.used.ne(0)
    if fifo.kind == "TMPipe":
        return fifo.gated.ne(0), used
    if rule_set.drain != "period":
        return expr(1), None
    fixed = period_expr(fifo, rule_set) * used
    if rule_set.local_no_split and way.ring != "GM":
        return is_no_split(fifo), where(is_no_split(fifo), 0, fixed)
    return None, fixed
