"""What a search gives back."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pto_tune.evaluation import MEMORIES, RESOURCE_NAMES, bound_text
from pto_tune.table import label, parameter

if TYPE_CHECKING:
    import pandas as pd

    from db import Run
    from pto_tune.evaluation import Problem
    from pto_tune.search.leaders import Columns, Leaders
    from pto_tune.search.tally import Counts
    from pto_tune.space import Space


@dataclass(frozen=True)
class TuneResult:
    """The outcome of a search.

    run: the run as the store has it, None without a store. n_candidates: configurations to look at;
    n_evaluated: those looked at, refused ones included. counts: these by verdict and rule ("" where ok).
    seconds: wall time. stopped: ended by `stop` or Ctrl-C before it was done. message: why it ended early,
    else "". origin: where an earlier run of the store answered or went on, or why none did; else "".

    Only configurations with the verdict ok are recommended. The order is: less time, exportable before not,
    fewer on-chip bytes, smaller GM_ring, lower row. A row is the configuration's number in the run: the
    space's row number where everything is looked at, otherwise the order in which it was proposed.
    """

    run: Run | None
    space: Space
    problem: Problem
    strategy: str
    n_candidates: int
    n_evaluated: int
    counts: Counts
    seconds: float
    stopped: bool
    message: str
    _leaders: Leaders = field(repr=False)
    origin: str = ""

    @property
    def best(self) -> dict[str, Any] | None:
        """The first of `top`; None where no configuration is legal."""
        return self.top[0] if self.top else None

    @cached_property
    def top(self) -> list[dict[str, Any]]:
        """The best configurations in order, as plain data.

        Keys: configuration (problem sizes and tunables, labels as text), row, cycles, time_us, bound,
        cube_utilisation and vector_utilisation (0 to 1, None where there is no such pipe), bytes by memory,
        exportable (whether a TPipe derives this SyncPeriod).
        """
        columns = self._leaders.best
        return [self._entry(columns, i) for i in range(len(self._leaders))]

    @cached_property
    def table(self) -> pd.DataFrame:
        """`top` as a table: row, problem sizes and tunables, time_us, cycles, bound, utilisation, bytes."""
        return self._frame(self.top)

    @cached_property
    def front(self) -> pd.DataFrame:
        """The Pareto front of time_us and on_chip_bytes (UB + L1 + L0A + L0B + L0C), fastest first, with the
        columns of `table`. Of configurations equal in both it has one, the first in order."""
        columns = self._leaders.front
        n = len(columns["number"]) if columns else 0
        return self._frame([self._entry(columns, i) for i in range(n)])

    def _entry(self, columns: Columns, i: int) -> dict[str, Any]:
        problem, pipes = self.problem, self.problem.code.pipes
        at = columns["space_row"][i : i + 1]
        table = self.space.table(at)
        cycles = int(columns["cycles"][i])
        busy = columns["busy"][i].tolist()
        bound = int(columns["bound"][i])
        name = [*pipes, *RESOURCE_NAMES][bound]
        return {
            "configuration": {n: label(parameter(problem.workload, n), int(column[0])) for n, column in table.items()},
            "row": int(columns["number"][i]),
            "cycles": cycles,
            "time_us": cycles / problem.clock_mhz + problem.launch_us,
            "bound": bound_text(name, float(columns["stretch"][i])),
            "cube_utilisation": _share(busy, pipes, "M", cycles),
            "vector_utilisation": _share(busy, pipes, "V", cycles),
            "bytes": {memory: int(columns[memory][i]) for memory in MEMORIES},
            "exportable": bool(columns["exportable"][i]),
        }

    def _frame(self, entries: list[dict[str, Any]]) -> pd.DataFrame:
        import pandas as pd

        names = [name for name, _ in (*self.space.problem, *self.space.domains)]
        columns: dict[str, list[Any]] = {"row": [e["row"] for e in entries]}
        columns |= {name: [e["configuration"][name] for e in entries] for name in names}
        for key in ("time_us", "cycles", "bound"):
            columns[key] = [e[key] for e in entries]
        for key in ("cube_utilisation", "vector_utilisation"):
            columns[key] = [math.nan if e[key] is None else e[key] for e in entries]
        on_chip = MEMORIES[:5]
        columns["on_chip_bytes"] = [sum(e["bytes"][m] for m in on_chip) for e in entries]
        columns |= {memory: [e["bytes"][memory] for e in entries] for memory in MEMORIES}
        columns["exportable"] = [e["exportable"] for e in entries]
        return pd.DataFrame(columns)


def _share(busy: list[int], pipes: tuple[str, ...], pipe: str, cycles: int) -> float | None:
    """Share of the time in which a pipe is busy, the mean over the cores that have it."""
    own = [b for b, name in zip(busy, pipes, strict=True) if name.endswith("." + pipe)]
    return sum(own) / len(own) / cycles if own and cycles else None
