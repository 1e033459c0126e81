"""How a trace ends: who is still waiting for what, how far everybody got, what is left in the flag counters."""

from __future__ import annotations

from pto_tune.executor import state as w
from pto_tune.executor.jit import bare
from pto_tune.executor.layout import I_LEFT
from pto_tune.executor.state import State
from pto_tune.executor.tables import Found, Program


@bare
def owed(tiles: int, period: int, first: int) -> int:
    """Credits pending at destruction by the rule: those of `tiles` less the waits that the rule makes for them."""
    if period <= 0:
        return 0
    waits = (tiles - 1) // period - (first - 1) // period if tiles > first else 0
    return max(0, tiles // period - waits)


@bare
def finish(program: Program, x: State, found: Found) -> None:
    """Fill in `blocked`, `end_count`, `taken` and the tokens left in flag counters, as `trace` explains them."""
    ops, chan = program.ops, program.chan
    cs, ps, hs, es, qs, ts = x.cs, x.ps, x.hs, x.es, x.qs, x.ts
    mask = ts.shape[1] - 1
    n_cores = cs.shape[0]
    for c in range(n_cores):
        found.blocked[c] = -1 if cs[c, w.DONE] == 1 else cs[c, w.PC]
    for ch in range(hs.shape[0]):
        found.taken[ch, 0] = hs[ch, w.TAKEN]
        found.taken[ch, 1] = hs[ch, w.SENT]
    for p in range(ps.shape[0]):
        found.blocked[n_cores + p] = -1
        for j in range(ps[p, w.Q_HEAD], ps[p, w.Q_TAIL]):
            slot = j & mask
            i = qs[p, slot, w.Q_PC]
            for k in range(i + 1, ops[i, 2]):
                v = qs[p, slot, w.Q_PARTS + k - i - 1]
                if ops[k, 0] != 5 or v < 0:
                    continue
                found.taken[ops[k, 1], 0] -= 1
                missing = ts[ops[k, 1], v & mask, w.T_TICKET] != v
                if missing and j == ps[p, w.Q_HEAD] and found.blocked[n_cores + p] < 0:
                    found.blocked[n_cores + p] = k
    for e in range(es.shape[0]):
        found.end_count[e, 0] = es[e, w.E_TILES]
    for ch in range(hs.shape[0]):
        if chan[ch, 3] == 1:
            found.info[I_LEFT] += found.taken[ch, 1] - found.taken[ch, 0]
