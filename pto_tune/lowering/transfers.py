"""What the transfers of TileData calls cost, as costs of a latency model.

A tile goes out of L0C through fixpipe, out of UB by MTE3, and from a ring in GM into UB or L1 by MTE2. Rows are stored
densely with the valid columns as row stride, so that a part is one burst, but for a half by columns: a burst a row.
A drain
into UB that is split goes to both sub-cores at the same time, so that it lasts as long as one part.
An atomic addition is taken to last as long as a plain store: nothing is published.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pto_tune.model.expr import Expr, expr, maximum, where
from pto_tune.model.fixpipe import output_bytes
from pto_tune.model.nodes import LEFT_RIGHT, LEFT_RIGHT_ODD, NO_SPLIT, UP_DOWN
from pto_tune.model.vocabulary import dma, drain, drain_ub

if TYPE_CHECKING:
    from pto_tune.model.nodes import Cost, TConfig, Tile
    from pto_tune.rule_sets import Way


DUAL_SPLITS = {2: UP_DOWN, 3: LEFT_RIGHT}
"""Split of a drain into UB by SubBlockId (AccToVecMode)."""


def store_costs(core: str, way: Way, tile: Tile, config: TConfig | None, split: Expr) -> tuple[Cost, ...]:
    """TPUSH of a tile by AIC (fixpipe) or AIV (MTE3) into the ring of its way."""
    if core == "AIC":
        out: Expr | int = tile.elem_bytes
        if config is not None and config.quant != "NoQuant":
            out = output_bytes(config.quant)
        if way.ring == "GM":
            return (drain(tile.rows, tile.cols, out),)
        if config is not None:  # by SubBlockId: one sub-core, or both by rows or by columns
            split = expr(DUAL_SPLITS.get(config.sub_block_id, NO_SPLIT))
        # the odd splits are refused here
        rows = where(split.eq(UP_DOWN), maximum(tile.rows // 2, 1), tile.rows)
        cols = where(split.eq(LEFT_RIGHT), maximum(tile.cols // 2, 1), tile.cols)
        return (drain_ub(rows, cols, out),)
    path = "ub_to_gm" if way.ring == "GM" else "ub_to_l1"
    return (dma(path, _bytes(tile), _burst(core, tile, split)),)


def load_costs(core: str, tile: Tile, split: Expr) -> tuple[Cost, ...]:
    """TPOP of a tile from a ring in GM into L1 (AIC) or UB (AIV)."""
    path = "gm_to_l1" if core == "AIC" else "gm_to_ub"
    return (dma(path, _bytes(tile), _burst(core, tile, split)),)


def _bytes(tile: Tile) -> Expr:
    return tile.rows * tile.cols * tile.elem_bytes


def _burst(core: str, tile: Tile, split: Expr) -> Expr:
    if core == "AIC":
        return _bytes(tile)
    by_columns = split.eq(LEFT_RIGHT).or_(split.eq(LEFT_RIGHT_ODD))
    return where(by_columns, tile.cols * tile.elem_bytes, _bytes(tile))
