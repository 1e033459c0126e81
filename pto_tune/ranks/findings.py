"""What a run on several ranks shows to be wrong: addresses, deadlocks, signals ahead of their data, missed values.

Whether a TNOTIFY is ordered behind earlier writes follows from the program alone. Deadlocks and missed values are those
of the simulated order: for values, an arrival that makes a comparison false again counts only where no chain of signals
orders it behind the wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pto_tune import verdicts as v
from pto_tune.lowering import code as c
from pto_tune.model.communication import COMPARISONS
from pto_tune.ranks import tables as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pto_tune.lowering.code import Code
    from pto_tune.ranks.engine import RankRun

MOST_NAMED = 4
"""Most cores that a sentence names."""

_SIGNS = dict(zip(COMPARISONS, ("==", "!=", ">", ">=", "<", "<="), strict=True))


def broken(code: Code, run: RankRun) -> set[str]:
    """Names of the rules that the run breaks."""
    out = set()
    if run.status == t.FAULT:
        out.add(v.ADDRESS_RULE)
    if run.status == t.HANG:
        out.add(v.DEADLOCK_RULE)
    if run.loose.shape[0]:
        out.add(v.ORDER_RULE)
    if missed(code, run) is not None:
        out.add(v.MISSED_RULE)
    return out


def sentence(code: Code, run: RankRun, rule: str, barrier_cycles: int) -> str:
    """Why the run breaks the rule; `barrier_cycles` is what a pipe_barrier costs by itself."""
    match rule:
        case v.ADDRESS_RULE:
            return _address(code, run)
        case v.DEADLOCK_RULE:
            return _deadlock(code, run)
        case v.ORDER_RULE:
            return _order(code, run, barrier_cycles)
    found = missed(code, run)
    assert found is not None
    return found


# names


def place(code: Code, run: RankRun, core: int) -> str:
    """A core by rank, block and name."""
    n = len(code.cores)
    instance = core // n
    block = f" block {instance % run.blocks}" if run.blocks > 1 else ""
    return f"rank {instance // run.blocks}{block} {code.cores[core % n]}"


def signal_name(code: Code, run: RankRun, element: int) -> str:
    """An element of a rank's memory as signal and element."""
    s = int(np.searchsorted(run.signal_at, element, side="right")) - 1
    return f"{code.workload.signals[s].name}[{element - int(run.signal_at[s])}]"


def _listed(words: list[str]) -> str:
    more = len(words) - MOST_NAMED
    return "; ".join([*words[:MOST_NAMED], *([f"and {more} more"] if more > 0 else [])])


# sentences


def _address(code: Code, run: RankRun) -> str:
    words = []
    for what, core, operation, value in run.faults.tolist():
        who = f"{place(code, run, core)}: {code.names[operation]}"
        if what == t.F_PEER:
            words.append(f"{who} to rank {value}: there are ranks 0 to {run.ranks - 1}")
        elif what == t.F_LINK:
            words.append(f"{who} to rank {value}: no link of this platform joins the two")
        elif what == t.F_SELF:
            words.append(f"{who} to its own rank: the address has to be in another rank's memory")
        elif what == t.F_ELEMENT:
            words.append(f"{who} to element {value} of {_signal_of(code, operation)}: it has fewer")
        else:
            words.append(f"{who} reads beyond {_signal_of(code, operation)}, or more than a sweep may have")
    return _listed(words)


def _signal_of(code: Code, operation: int) -> str:
    assert code.ranks is not None
    row = int(code.ops[operation, 1])
    return code.workload.signals[int(code.ranks.signal_calls[row, 0])].name


def _deadlock(code: Code, run: RankRun) -> str:
    return f"nobody can go on: {_listed(list(_stuck(code, run)))}"


def _stuck(code: Code, run: RankRun) -> Iterator[str]:
    """What cores wait for, those that wait for signals first."""
    later = []
    n = len(code.cores)
    for g in range(run.blocked.shape[0] * n):
        what, operation, element, value = run.blocked[g // n, g % n].tolist()
        who = place(code, run, g)
        if what == t.B_SIGNAL:
            assert code.ranks is not None
            call = code.ranks.signal_calls[int(code.ops[operation, 1])]
            at = int(run.signal_at[int(call[0])]) + element
            sign = _SIGNS[COMPARISONS[int(call[4])]]
            rank = g // n // run.blocks
            now = int(run.memory[rank, at]) if 0 <= at < run.memory.shape[1] else 0
            name = signal_name(code, run, at)
            yield f"{who} waits in {code.names[operation]} for {name} {sign} {value}, and it is {now}"
        elif what == t.B_TOKEN:
            channel = code.channels[int(code.ops[operation, 1])]
            later.append(f"{who} waits for {channel.name}")
        elif what in (t.B_QUEUE, t.B_PIPES):
            for p in range(len(code.pipes)):
                k = int(run.pipe_blocked[g // n, p])
                if k >= 0 and int(code.pipe_core[p]) == g % n and code.ops[k, 0] == c.POP:
                    later.append(f"{who}: {code.pipes[p]} waits for {code.channels[int(code.ops[k, 1])].name}")
    yield from later


def _order(code: Code, run: RankRun, barrier_cycles: int) -> str:
    core, operation, pipes, at, lag = run.loose[0].tolist()
    n = len(code.cores)
    assert code.ranks is not None
    first = int(code.ranks.core_pipe[core % n])
    names = [code.pipes[first + k].rpartition(".")[2] for k in range(8) if pipes >> k & 1]
    more = run.loose.shape[0] - 1
    cost = f"{barrier_cycles} cycles" if lag < 0 else f"{lag} cycles of waiting and {barrier_cycles} of its own"
    return (
        f"{place(code, run, core)}: {code.names[operation]} of {_signal_of(code, operation)} at cycle {at} "
        f"may overtake writes that are still under way on {' and '.join(names)}: a pipe_barrier before it orders them, "
        f"for {cost}{f' ({more} more like it)' if more else ''}"
    )


# values that are missed


def missed(code: Code, run: RankRun) -> str | None:
    """The first wait whose value another notify may pass before it is seen, in words."""
    stuck = _passed_before(code, run)
    if stuck is not None:
        return stuck
    a, w = run.arrivals, run.swept
    if not a.shape[0] or not w.shape[0]:
        return None
    n = len(code.cores)
    by_element: dict[tuple[int, int], list[int]] = {}
    for i, (rank, element) in enumerate(zip(a[:, t.A_RANK].tolist(), a[:, t.A_ELEMENT].tolist(), strict=True)):
        by_element.setdefault((rank, element), []).append(i)
    suspects: list[tuple[int, int]] = []
    for j, row in enumerate(w):
        if row[t.W_HOW] == t.GAVE_UP:
            continue
        rank = int(row[t.W_CORE]) // n // run.blocks
        for element in elements(row):
            for i in by_element.get((rank, element), ()):
                if a[i, t.A_TIME] > row[t.W_SEEN] and not _holds(a[i, t.A_THEN], row):
                    suspects.append((j, i))
                    break
    if not suspects:
        return None
    ticks, clocks = _clocks(code, run)
    for j, i in suspects:
        if clocks[i].get(int(w[j, t.W_CORE]), 0) < ticks[j]:
            row = w[j]
            sign = _SIGNS[COMPARISONS[int(row[t.W_COMPARISON])]]
            return (
                f"{place(code, run, int(row[t.W_CORE]))}: {code.names[int(row[t.W_OPERATION])]} for "
                f"{signal_name(code, run, int(a[i, t.A_ELEMENT]))} {sign} {int(row[t.W_VALUE])} may miss it: "
                f"{code.names[int(a[i, t.A_OPERATION])]} of {place(code, run, int(a[i, t.A_CORE]))} makes it "
                f"{int(a[i, t.A_THEN])}, and nothing orders that behind the wait: compare with GE"
            )
    return None


def _passed_before(code: Code, run: RankRun) -> str | None:
    """A core that hangs in a wait, or has given up polling, for a value that was there and has been passed."""
    n, a = len(code.cores), run.arrivals
    for g, operation, at, comparison, value in _unseen(code, run):
        here = a[(a[:, t.A_RANK] == g // n // run.blocks) & (a[:, t.A_ELEMENT] == at)]
        here = here[np.argsort(here[:, t.A_TIME], kind="stable")]
        held = [_compare(int(row[t.A_THEN]), comparison, value) for row in here]
        if True in held and not held[-1]:
            i = next(k for k in range(held.index(True) + 1, len(held)) if not held[k])
            sign = _SIGNS[COMPARISONS[comparison]]
            return (
                f"{place(code, run, g)}: {code.names[operation]} for {signal_name(code, run, at)} {sign} {value} has "
                f"missed it: {code.names[int(here[i, t.A_OPERATION])]} of "
                f"{place(code, run, int(here[i, t.A_CORE]))} made it {int(here[i, t.A_THEN])} before it was seen: "
                "compare with GE"
            )
    return None


def _unseen(code: Code, run: RankRun) -> Iterator[tuple[int, int, int, int, int]]:
    """Core, operation, element, comparison and value of every wait and poll that never passed."""
    assert code.ranks is not None
    n = len(code.cores)
    for g in range(run.blocked.shape[0] * n if run.status == t.HANG else 0):
        what, operation, element, value = run.blocked[g // n, g % n].tolist()
        if what == t.B_SIGNAL:
            call = code.ranks.signal_calls[int(code.ops[operation, 1])]
            yield g, operation, int(run.signal_at[int(call[0])]) + element, int(call[4]), value
    for row in run.swept[run.swept[:, t.W_HOW] == t.GAVE_UP].tolist():
        yield row[t.W_CORE], row[t.W_OPERATION], row[t.W_ELEMENT], row[t.W_COMPARISON], row[t.W_VALUE]


def elements(row: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[int]:
    """All elements of the view of a wait."""
    out = np.array([int(row[t.W_ELEMENT])])
    for k in range(5):
        count, stride = int(row[t.W_VIEW + 2 * k]), int(row[t.W_VIEW + 2 * k + 1])
        if count > 0:
            out = (out[:, None] + stride * np.arange(count)).reshape(-1)
    return [int(e) for e in out]


def _holds(value: int, row: np.ndarray[tuple[int], np.dtype[np.int64]]) -> bool:
    return _compare(int(value), int(row[t.W_COMPARISON]), int(row[t.W_VALUE]))


def _compare(value: int, comparison: int, with_: int) -> bool:
    return (value == with_, value != with_, value > with_, value >= with_, value < with_, value <= with_)[comparison]


def _clocks(code: Code, run: RankRun) -> tuple[list[int], list[dict[int, int]]]:
    """Happens-before: the tick of each wait on its core, and what each arrival's sender knew of other cores' ticks."""
    n = len(code.cores)
    a, w = run.arrivals, run.swept
    # by time; what is sent or seen in one cycle has no effect in it but a sweep's own
    todo = [(int(r[t.A_SENT]), 1, i) for i, r in enumerate(a)]
    todo += [(int(r[t.A_TIME]), 0, i) for i, r in enumerate(a)]
    todo += [(int(r[t.W_SEEN]), 2, j) for j, r in enumerate(w) if r[t.W_HOW] != t.GAVE_UP]
    todo.sort()
    knows: dict[int, dict[int, int]] = {}
    sent: list[dict[int, int]] = [{} for _ in a]
    at_element: dict[tuple[int, int], dict[int, int]] = {}
    ticks = [0] * w.shape[0]
    for _, what, i in todo:
        if what == 1:
            core = int(a[i, t.A_CORE])
            mine = knows.setdefault(core, {})
            mine[core] = mine.get(core, 0) + 1
            sent[i] = dict(mine)
        elif what == 0:
            _join(at_element.setdefault((int(a[i, t.A_RANK]), int(a[i, t.A_ELEMENT])), {}), sent[i])
        else:
            core = int(w[i, t.W_CORE])
            mine = knows.setdefault(core, {})
            for element in elements(w[i]):
                _join(mine, at_element.get((core // n // run.blocks, element), {}))
            mine[core] = mine.get(core, 0) + 1
            ticks[i] = mine[core]
    return ticks, sent


def _join(into: dict[int, int], other: dict[int, int]) -> None:
    for core, tick in other.items():
        if tick > into.get(core, 0):
            into[core] = tick
