"""Shared capacity by time: every resource serves in the order in which transfers start, each for as long as its bytes
take at full capacity. A transfer ends when it would by itself, or when the last of its resources has served it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pto_tune.executor.jit import bare
from pto_tune.ranks.state import E_COPY, E_INSTRUCTION, Q_FORM, Q_KIND, Q_PC, Q_PEER, Q_PIECE, Q_VARIANT
from pto_tune.ranks.tables import T_GET, U_L2, U_L2_READ, U_OUT, UNIT, Net, Numbers

Ints = NDArray[np.int64]


@bare
def serve(servers: Ints, server: int, units: int, start: int) -> int:
    """The cycle in which a server is done with `units` that come at cycle `start`; 0 where there are none."""
    if units <= 0:
        return 0
    begin = max(servers[0, server], start * UNIT)
    servers[0, server] = begin + units
    servers[1, server] += units
    return int((begin + units + UNIT - 1) // UNIT)


@bare
def link_server(ranks: int, kind: int, get: int, scope: int, a: int, b: int) -> int:
    """The server of a kind of link, direction and scope (0 out of a, 1 into b, 2 from a to b)."""
    base = 3 * ranks + ((kind * 2 + get) * 3 + scope) * ranks * ranks
    if scope == 0:
        return base + a
    return base + (b if scope == 1 else a * ranks + b)


@bare
def draws(x: Numbers, entry: Ints, instance: int, duration: int) -> bool:
    """Whether the entry draws on anything that is shared."""
    if entry[Q_FORM] != E_INSTRUCTION:
        return True
    if duration < 0:
        return False
    return bool(x.draw[0, duration, instance] + x.draw[1, duration, instance] + x.draw[2, duration, instance] > 0)


@bare
def serve_entry(
    net: Net, x: Numbers, servers: Ints, entry: Ints, instance: int, rank: int, ranks: int, duration: int, start: int,
    end: int,
) -> tuple[int, int]:  # fmt: skip
    """End of an entry that starts now, and what made it later than `end`: 0 nothing, 1 l2, 2 l2_read, 3 hbm, 4 link."""
    why = 0
    form = entry[Q_FORM]
    if form == E_INSTRUCTION:
        for k in range(3):
            done = serve(servers, 3 * rank + k, x.draw[k, duration, instance], start)
            if done > end:
                end, why = done, k + 1
        return end, why
    v, kind, piece, peer = entry[Q_VARIANT], entry[Q_KIND], entry[Q_PIECE], entry[Q_PEER]
    get = net.calls[net.ops[entry[Q_PC], 1], T_GET]
    l2, l2_read = x.units[v, kind, piece, U_L2], x.units[v, kind, piece, U_L2_READ]
    # what is read, and what is written: of this rank or of the other one
    loads, stores = form != 2, form == 2 or form == E_COPY
    far_load, far_store = get == 1 and peer != rank, get == 0 and peer != rank
    for whose in range(2):  # own rank, other rank
        at = 3 * rank if whose == 0 else 3 * peer
        if loads and far_load == (whose == 1):
            done = serve(servers, at, l2, start)
            if done > end:
                end, why = done, 1
            done = serve(servers, at + 1, l2_read, start)
            if done > end:
                end, why = done, 2
        if stores and far_store == (whose == 1):
            done = serve(servers, at, l2, start)
            if done > end:
                end, why = done, 1
    if (loads and far_load) or (stores and far_store):
        a, b = (peer, rank) if get == 1 else (rank, peer)
        for scope in range(3):
            units = x.units[v, kind, piece, U_OUT + scope]
            done = serve(servers, link_server(ranks, kind, get, scope, a, b), units, start)
            if done > end:
                end, why = done, 4
    return end, why
