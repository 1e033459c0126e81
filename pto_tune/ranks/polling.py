"""Sweeps over signals: what TWAIT and TTEST see, and when a core that sleeps looks again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pto_tune.executor.jit import bare
from pto_tune.ranks.scalars import compares, value_of
from pto_tune.ranks.state import P_ASKED, P_DRAINING, POLL, POLL_AT, POLL_FAILED, POLL_STEP, World, complete, drained
from pto_tune.ranks.tables import P_BARRIER, P_SWEEPS_PER_BARRIER, Net, Numbers

Ints = NDArray[np.int64]


@bare
def sweep(
    net: Net, x: Numbers, w: World, memory: Ints, stack: Ints, places: Ints, instance: int, rank: int, row: int
) -> int:
    """Read the elements of a call's view one after the other: how many there are if all compare, or minus the number
    read up to the first that does not; 0 for a view beyond the signal or with more elements than are priced.

    `places` (3, dimensions) is room for counts, strides and indices."""
    call = net.signal_calls[row]
    base = x.signal_at[call[0]]
    size = x.signal_at[call[0] + 1] - base
    at = value_of(net.bytecode, call[1], x.scalars, instance, w.variables, stack)
    with_ = value_of(net.bytecode, call[2], x.scalars, instance, w.variables, stack)
    dims = call[7]
    count, stride, index = places[0], places[1], places[2]
    total = 1
    least, most = at, at
    for k in range(dims):
        count[k] = value_of(net.bytecode, net.views[call[6] + k, 0], x.scalars, instance, w.variables, stack)
        stride[k] = value_of(net.bytecode, net.views[call[6] + k, 1], x.scalars, instance, w.variables, stack)
        index[k] = 0
        if count[k] < 1 or count[k] > x.sweep.shape[0]:
            return 0
        total *= count[k]
        reach = (count[k] - 1) * stride[k]
        least, most = least + min(0, reach), most + max(0, reach)
    if total >= x.sweep.shape[0] or least < 0 or most >= size:
        return 0
    for n in range(total):
        element = at
        for k in range(dims):
            element += index[k] * stride[k]
        if not compares(memory[rank, base + element], call[4], with_):
            return -(n + 1)
        k = dims - 1
        while k >= 0:
            index[k] += 1
            if index[k] < count[k]:
                break
            index[k] = 0
            k -= 1
    return int(total)


@bare
def next_sweep(net: Net, x: Numbers, cs: Ints, ps: Ints, core: int, now: int) -> None:
    """Core `core` sleeps, and a value arrives at `now`: the sweeps before it fail as the last one did. Leaves the core
    asking for the first one from `now` on, or waiting for its pipes at the barrier that some failed sweeps have."""
    while cs[core, POLL_AT] < now:
        cs[core, POLL_FAILED] += 1
        cs[core, POLL_AT] += cs[core, POLL_STEP]
        if cs[core, POLL_FAILED] % x.params[P_SWEEPS_PER_BARRIER] == 0:
            poll_barrier(net, x, cs, ps, core)
            if cs[core, POLL] == P_DRAINING:
                return
    cs[core, POLL] = P_ASKED


@bare
def poll_barrier(net: Net, x: Numbers, cs: Ints, ps: Ints, core: int) -> None:
    """The barrier that some failed sweeps of a core have: the next sweep is later, or even waits for the pipes."""
    base = (core // net.starts.shape[0]) * net.core_pipe[-1]
    c = core % net.starts.shape[0]
    first, last = net.core_pipe[c], net.core_pipe[c + 1] - 1
    cs[core, POLL_AT] += x.params[P_BARRIER]
    if drained(ps, base, first, last):
        cs[core, POLL_AT] = max(cs[core, POLL_AT], complete(ps, base, first, last))
    else:
        cs[core, POLL] = P_DRAINING
