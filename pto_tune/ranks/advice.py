"""TWAIT or TTEST: for every wait of a workload, the time that each would take.

The selection guide of the ISA: TWAIT where the core has nothing else to do, TTEST where it has other work, needs a
time limit, or consumes a ready queue. Here both are priced for the wait that the run predicts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cost_models import signals
from cost_models.rounding import to_cycles
from pto_tune.lowering import code as c
from pto_tune.ranks import tables as t
from pto_tune.ranks.findings import elements

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cost_models.platform import Platform
    from pto_tune.lowering.code import Code
    from pto_tune.ranks.engine import RankRun

TWAIT, TTEST = "TWAIT", "TTEST"


@dataclass(frozen=True)
class Advice:
    """One TWAIT or TTEST in a program, with means over all the times it passed on all ranks and blocks.

    `wait_cycles` from the first look to the arrival that makes it pass; `work_cycles` of other work that its core does
    meanwhile; `twait_cycles` and `ttest_cycles`: until the wait is over and that work is done, with each of them: for
    the instruction that is used as simulated, for the other by its sweeps. `why` says what decides.
    """

    core: str
    signal: str
    instruction: str
    passed: int
    wait_cycles: int
    longest_cycles: int
    work_cycles: int
    twait_cycles: int
    ttest_cycles: int
    advised: str
    why: str


def advice(code: Code, platform: Platform, run: RankRun) -> list[Advice]:
    """Advice for every wait that passed, the longest in sum first."""
    assert code.ranks is not None
    names = len(code.cores)
    sweep = int(to_cycles(signals.sweep_cycles(platform, 1)))
    barrier = int(to_cycles(signals.barrier_cycles(platform)))
    per_barrier = int(platform["signal.sweeps_per_barrier"])
    passed = run.swept[run.swept[:, t.W_HOW] != t.GAVE_UP]
    true = _true_waits(code, run, passed)
    out = []
    for op in np.unique(passed[:, t.W_OPERATION]):
        mine = passed[:, t.W_OPERATION] == op
        rows, waits = passed[mine], true[mine]
        at, core = int(op), int(rows[0, t.W_CORE]) % names
        call = code.ranks.signal_calls[int(code.ops[at, 1])]
        looked = rows[:, t.W_SEEN] - rows[:, t.W_BEGUN]
        whole = int(to_cycles(signals.sweep_cycles(platform, int(rows[:, t.W_ELEMENTS].max()))))
        wait = int(waits.mean())
        polled = bool(code.ops[at, 0] == c.TEST)
        work = int(rows[:, t.W_WORK].mean()) if polled else 0
        failed = -(-wait // sweep) if sweep else 0
        if polled:
            twait = failed * sweep + failed // per_barrier * barrier + whole + work
            ttest = int(looked.mean()) + whole
        else:
            twait, ttest = int(looked.mean()) + whole, failed * sweep + whole
        if polled and _shares_a_loop(code, at):
            advised, why = TTEST, "a ready queue: other signals are looked at in the same loop"
        elif work > 0:
            advised = TTEST if ttest < twait else TWAIT
            why = f"{work} cycles of other work are done meanwhile"
        elif polled:
            advised, why = TWAIT, "nothing else is done meanwhile: only a time limit asks for TTEST"
        else:
            advised, why = TWAIT, "the core has to wait: only a time limit or other work asks for TTEST"
        out.append(
            Advice(
                core=code.cores[core], signal=code.workload.signals[int(call[0])].name,
                instruction=TTEST if polled else TWAIT, passed=rows.shape[0], wait_cycles=wait,
                longest_cycles=int(waits.max()), work_cycles=work, twait_cycles=twait, ttest_cycles=ttest,
                advised=advised, why=why,
            )
        )  # fmt: skip
    return sorted(out, key=lambda a: -a.wait_cycles * a.passed)


def _true_waits(code: Code, run: RankRun, passed: NDArray[np.int64]) -> NDArray[np.int64]:
    """Cycles from the first look of each wait to the arrival that made it pass, 0 where it was there already."""
    n = len(code.cores) * run.blocks
    width = run.memory.shape[1]
    where = run.arrivals[:, t.A_RANK] * width + run.arrivals[:, t.A_ELEMENT]
    order = np.lexsort((run.arrivals[:, t.A_TIME], where))
    where, times = where[order], run.arrivals[order, t.A_TIME]
    out = np.zeros(passed.shape[0], dtype=np.int64)
    for i, row in enumerate(passed):
        for element in elements(row):
            key = int(row[t.W_CORE]) // n * width + element
            first, last = np.searchsorted(where, [key, key + 1])
            k = first + int(np.searchsorted(times[first:last], row[t.W_SEEN], side="right")) - 1
            if k >= first:
                out[i] = max(out[i], times[k] - row[t.W_BEGUN])
    return out


def _shares_a_loop(code: Code, at: int) -> bool:
    """Whether the innermost polling loop around an operation tests other signals too."""
    around = [i for i in range(at) if code.ops[i, 0] == c.WHILE and code.ops[i, 2] > at]
    if not around:
        return False
    first, last = around[-1], int(code.ops[around[-1], 2])
    return sum(int(code.ops[i, 0]) in (c.TEST, c.WAIT) for i in range(first, last)) > 1
