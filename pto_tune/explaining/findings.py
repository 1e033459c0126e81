"""Everything that is wrong with one configuration: every rule that it breaks, with its place in time and in the history
of the headers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pto_tune import sentences, verdicts
from pto_tune.evaluation import Evaluation, Problem, evaluate_columns
from pto_tune.explaining.reach import accesses, early_reads, early_writes
from pto_tune.explaining.timeline import timeline
from pto_tune.rule_sets import rule_sets

if TYPE_CHECKING:
    from pto_tune.rule_sets import RuleSet


@dataclass(frozen=True)
class Finding:
    """A rule that a configuration breaks. `tile` is the first at which it happens, None where it is not about tiles;
    `reached` says whether the predicted timing reaches it, None where there is no timing or it does not matter;
    `holds` are the rule sets under which the configuration breaks it."""

    verdict: str
    rule: str
    sentence: str
    tile: int | None
    reached: bool | None
    holds: tuple[str, ...]

    def text(self, family_rule_sets: tuple[RuleSet, ...]) -> str:
        """One paragraph: the sentence, the predicted timing, and the revisions."""
        parts = [self.sentence]
        if self.reached is not None:
            parts.append(f"the predicted timing {'reaches' if self.reached else 'does not reach'} it")
        if len(self.holds) < len(family_rule_sets):
            names = [f"{r.name} ({'; '.join(map(str, r.revisions))})" for r in family_rule_sets if r.name in self.holds]
            parts.append(f"holds for pto-isa {', '.join(names)}")
        else:
            parts.append("holds for every pto-isa revision known")
        return "; ".join(parts)


def findings(e: Evaluation, row: int = 0) -> list[Finding]:
    """All rules that a row breaks, in the order of their precedence."""
    rules = [int(r) for r in np.flatnonzero(e.broken[:, row])]
    if not rules:
        return []
    rules.sort(key=lambda r: verdicts.PRECEDENCE.index(e.rule_verdict(r)))
    holds = broken_by_rule_set(e, row)
    reached = _reached(e, row)
    return [
        Finding(
            verdict=verdicts.VERDICTS[e.rule_verdict(r)],
            rule=e.rules[r],
            sentence=e.sentence(row, r),
            tile=_tile(e, row, e.rules[r]),
            reached=reached.get(e.rules[r]),
            holds=tuple(name for name, broken in holds.items() if e.rules[r] in broken),
        )
        for r in rules
    ]


def broken_by_rule_set(e: Evaluation, row: int = 0) -> dict[str, set[str]]:
    """Names of the rules that a row breaks under every rule set of the platform's family."""
    out = {}
    here = e.problem.rule_set
    for rule_set in rule_sets(here.family):
        if rule_set.name == here.name:
            again, at = e, row
        else:
            problem = Problem(e.problem.workload, e.problem.platform, rule_set, e.problem.timing)
            again, at = evaluate_columns(problem, {name: c[row : row + 1] for name, c in e.table.items()}), 0
        out[rule_set.name] = {again.rules[r] for r in np.flatnonzero(again.broken[:, at])}
    return out


def _tile(e: Evaluation, row: int, rule: str) -> int | None:
    if rule not in sentences.OVER_COLUMN or e.execution is None:
        return None
    return sentences.first_tile(e.problem.code, e.execution.lanes.schedules, e.schedule_of(row, rule), rule)[1]


def _reached(e: Evaluation, row: int) -> dict[str, bool]:
    """Rules about slots whose warning the predicted timing of the first block reaches."""
    slots = [rule for rule in sentences.OVER_COLUMN if e.broken[e.rules.index(rule), row]]
    if not slots or not e.timed[row] or e.execution is None:
        return {}
    run = int(e.run_row[row])
    x = e.execution
    structure = x.lanes.columns.structure[int(x.first_lane[run])]
    t = timeline(e.problem.code, e.problem.platform, x, run)
    reads, writes = accesses(t)
    written = early_writes(t.code, structure, reads, writes)
    read = early_reads(t.code, reads, writes)
    return {rule: bool(read if rule == verdicts.UNWRITTEN_RULE else written) for rule in slots}
