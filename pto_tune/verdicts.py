"""Verdicts: what a structure can do whatever the durations are.

A verdict holds if some timing of the same program can reach it, so it is found once for each structure, from the trace:
deadlocks, happens-before between the last read of a tile and the write SlotNum tiles later and between a write and its
reads, the most signals that can be outstanding, and tokens left in flag counters at the end. Precedence: refused, hang,
overwrite, race, ok. `sentences` puts them into words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pto_tune.executor.engine import Schedules
    from pto_tune.lowering.code import Code

VERDICTS = ("ok", "refused", "hang", "overwrite", "race")
"""Verdicts by code."""
OK, REFUSED, HANG, OVERWRITE, RACE = range(5)
PRECEDENCE = (REFUSED, HANG, OVERWRITE, RACE, OK)

COUNTER_RULE = "flag-counter"
PUSH_RULE = "push-without-talloc"
DEADLOCK_RULE = "deadlock"
SLOT_RULE = "slot-reuse"
LEFT_RULE = "flag-left"
RELEASE_RULE = "early-release"
UNWRITTEN_RULE = "early-read"
ADDRESS_RULE = "rank-address"
ORDER_RULE = "signal-order"
MISSED_RULE = "missed-value"
RULE_VERDICT = {
    COUNTER_RULE: REFUSED,
    PUSH_RULE: REFUSED,
    DEADLOCK_RULE: HANG,
    SLOT_RULE: OVERWRITE,
    LEFT_RULE: OVERWRITE,
    RELEASE_RULE: RACE,
    UNWRITTEN_RULE: RACE,
}
STRUCTURE_RULES = tuple(RULE_VERDICT)
RANK_VERDICT = {ADDRESS_RULE: REFUSED, ORDER_RULE: RACE, MISSED_RULE: RACE}
ALL_VERDICTS = RULE_VERDICT | RANK_VERDICT
RANK_RULES = tuple(RANK_VERDICT)
"""Rules that the time-ordered engine looks at, for workloads with ranks."""


@dataclass(frozen=True)
class Findings:
    """Which structure rules each schedule breaks: rules in the order of STRUCTURE_RULES, (rules, schedules)."""

    broken: NDArray[np.bool_]


def find(code: Code, schedules: Schedules) -> Findings:
    """Apply the structure rules to what the tracer recorded."""
    import numpy as np

    from pto_tune.executor.layout import HANG as TRACE_HANG
    from pto_tune.executor.layout import I_LEFT, I_STATUS

    n = schedules.info.shape[0]
    hang = schedules.info[:, I_STATUS] == TRACE_HANG
    over = schedules.over[:, : len(code.tracks)]
    counters = [i for i, ch in enumerate(code.channels) if ch.counter]
    most = code.rule_set.counter_max
    broken = {
        COUNTER_RULE: (schedules.flight[:, counters] > most).any(axis=1) if most else np.zeros(n, dtype=bool),
        PUSH_RULE: (schedules.end_count[:, :, 1] >= 0).any(axis=1),
        DEADLOCK_RULE: hang,
        SLOT_RULE: (over[:, :, 0] >= 0).any(axis=1),
        LEFT_RULE: (schedules.info[:, I_LEFT] > 0) & ~hang,
        RELEASE_RULE: (over[:, :, 3] >= 0).any(axis=1),
        UNWRITTEN_RULE: (over[:, :, 2] >= 0).any(axis=1),
    }
    return Findings(np.stack([broken[rule] for rule in STRUCTURE_RULES]))
