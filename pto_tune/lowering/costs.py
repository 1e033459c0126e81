"""Durations of costs over columns: the one place where programs meet latency models.

Models and their arguments: `dma` (path, bytes, burst_bytes, hbm_bytes), `matmul` (m, k, n, elem_bytes), `drain`
(rows, cols, out_bytes, hbm_bytes), `drain_ub` (rows, cols, out_bytes; family `a5` only), `vector` (family, rows,
cols, elem_bytes), `hbm_wait` (bytes, blocks), `bulk` (link, transport, direction: places in the lists of
`cost_models.bulk`; bytes), `cycles` (cycles).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pto_tune.model.expr import Expr, evaluate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cost_models.platform import Platform
    from pto_tune.model.nodes import Cost

MODELS: Mapping[str, tuple[str, ...]] = {
    "dma": ("path", "bytes", "burst_bytes", "hbm_bytes"),
    "matmul": ("m", "k", "n", "elem_bytes"),
    "drain": ("rows", "cols", "out_bytes", "hbm_bytes"),
    "drain_ub": ("rows", "cols", "out_bytes"),
    "vector": ("family", "rows", "cols", "elem_bytes"),
    "hbm_wait": ("bytes", "blocks"),
    "bulk": ("link", "transport", "direction", "bytes"),
    "cycles": ("cycles",),
}

MOST_BYTES = 2**53
"""Most bytes of one transfer: float64 holds every integer up to here."""

L2_PATHS = ("gm_to_l1", "gm_to_ub", "ub_to_gm")
"""DMA paths through L2; the others, and drains into UB, stay within a cube core and its vector sub-cores."""

L2_READS = ("gm_to_l1", "gm_to_ub")


def cost_cycles(platform: Platform, cost: Cost, env: Mapping[str, Any]) -> NDArray[np.float64]:
    """Cycles of one cost, not rounded; broadcast over the columns of `env`."""
    import numpy as np

    from cost_models import cube, dma, fixpipe, sharing, vector

    a: dict[str, Any] = {k: evaluate(v, env) if isinstance(v, Expr) else v for k, v in cost.args}
    match cost.model:
        case "dma":
            r = dma.transfer_cycles(platform, a["path"], a["bytes"], np.maximum(a["burst_bytes"], 1))
        case "matmul":
            r = cube.matmul_cycles(platform, a["m"], a["k"], a["n"], a["elem_bytes"])
        case "drain":
            r = fixpipe.drain_cycles(platform, a["rows"], a["cols"], a["out_bytes"], target="gm")
        case "drain_ub":
            r = fixpipe.drain_cycles(platform, a["rows"], a["cols"], a["out_bytes"], target="ub")
        case "vector":
            r = vector.op_cycles(platform, a["family"], a["rows"], a["cols"], a["elem_bytes"])
        case "hbm_wait":
            r = sharing.wait_cycles(platform, a["bytes"], np.maximum(a["blocks"], 1))
        case "bulk":
            r = _bulk_cycles(platform, a)
        case _:
            r = a["cycles"]
    return np.asarray(r, dtype=np.float64)


def _bulk_cycles(platform: Platform, a: Mapping[str, Any]) -> NDArray[np.float64]:
    """Cycles of a block, by the link, transport and direction of each row."""
    import numpy as np

    from cost_models import bulk

    columns = np.broadcast_arrays(*(a[name] for name in MODELS["bulk"]))
    link, transport, direction, size = (np.atleast_1d(c) for c in columns)
    out = np.zeros(link.shape, dtype=np.float64)
    for x, y, z in np.unique(np.stack([link, transport, direction]).reshape(3, -1), axis=1).T:
        names = bulk.LINKS[x], bulk.TRANSPORTS[y], bulk.DIRECTIONS[z]
        here = (link == x) & (transport == y) & (direction == z)
        out[here] = bulk.block_cycles(platform, *names, size[here])
    return out.reshape(columns[0].shape)


def cost_bytes(platform: Platform, cost: Cost, env: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """Bytes that one execution moves through L2, reads from L2 (weighted by `sharing.read_weight` where they come from
    HBM), and moves from or to HBM (`sharing.RESOURCES`)."""
    import numpy as np

    from cost_models.sharing import read_weight

    a: dict[str, Any] = {k: evaluate(v, env) if isinstance(v, Expr) else v for k, v in cost.args}
    if cost.model == "dma" and a["path"] in L2_PATHS:
        _check_bytes(a["bytes"], a["hbm_bytes"])
        if a["path"] not in L2_READS:
            return a["bytes"], 0, a["hbm_bytes"]
        # a byte less, so that HBM is the scarcer one where all reads come from it
        more = np.floor((read_weight(platform) - 1.0) * np.minimum(a["hbm_bytes"], a["bytes"])).astype(np.int64) - 1
        return a["bytes"], a["bytes"] + np.maximum(more, 0), a["hbm_bytes"]
    if cost.model == "drain":
        _check_bytes(np.multiply(a["rows"], a["cols"], dtype=np.float64) * a["out_bytes"], a["hbm_bytes"])
        return a["rows"] * a["cols"] * a["out_bytes"], 0, a["hbm_bytes"]
    return 0, 0, 0


def _check_bytes(*sizes: Any) -> None:
    import numpy as np

    for size in sizes:
        most = np.max(size, initial=0)
        if most > MOST_BYTES:
            raise ValueError(f"a transfer has {most:.3g} bytes; give at most 2^53")
