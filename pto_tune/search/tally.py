"""What a search has found so far: how many configurations with which verdict, and the leaders."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pto_tune import verdicts
from pto_tune.search.leaders import Leaders

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pto_tune.search.batches import Batch

Counts = dict[str, dict[str, int]]


class Tally:
    """`done`: configurations looked at; `counts`: those by verdict and rule ("" where ok); `leaders`."""

    def __init__(self, top: int) -> None:
        self.done = 0
        self.counts: Counts = {}
        self.leaders = Leaders(top)

    @property
    def legal(self) -> int:
        """Configurations with the verdict ok."""
        return sum(self.counts.get(verdicts.VERDICTS[verdicts.OK], {}).values())

    def add(self, batch: Batch) -> None:
        """Take a batch; its configurations get the next numbers of the run."""
        e = batch.evaluation
        self.leaders.add(np.arange(self.done, self.done + len(batch), dtype=np.int64), batch)
        self.count(e.verdict, e.rule, verdicts.VERDICTS, e.rules)
        self.done += len(batch)

    def count(
        self,
        verdict: NDArray[np.integer],
        rule: NDArray[np.integer],
        verdict_names: Sequence[str],
        rule_names: Sequence[str],
    ) -> None:
        """Count configurations by codes of verdict and rule (-1: none). Rules of one name count together."""
        pairs, number = np.unique(
            np.stack([np.asarray(verdict, np.int64), np.asarray(rule, np.int64)]), axis=1, return_counts=True
        )
        for (v, r), k in zip(pairs.T.tolist(), number.tolist(), strict=True):
            by_rule = self.counts.setdefault(verdict_names[v], {})
            name = "" if r < 0 else rule_names[r]
            by_rule[name] = by_rule.get(name, 0) + k
