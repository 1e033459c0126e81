"""What the transfer of a TileData call costs: the store of a push and the load of a pop."""

from pto_tune.model.expr import maximum
from pto_tune.model.fixpipe import output_bytes
from pto_tune.model.nodes import LEFT_RIGHT, LEFT_RIGHT_ODD, UP_DOWN, Cost, Tile, Tpop, Tpush
from pto_tune.model.vocabulary import dma, drain, drain_ub

PATHS = {
    ("TPUSH", "AIV", "GM"): "ub_to_gm",
    ("TPUSH", "AIV", "L1"): "ub_to_l1",
    ("TPOP", "AIV", "GM"): "gm_to_ub",
    ("TPOP", "AIC", "GM"): "gm_to_l1",
}


def transfer_costs(call: Tpush | Tpop, tile: Tile, ring: str, core: str, split: int) -> tuple[Cost, ...]:
    """Accumulators leave through the fixpipe, everything else by DMA in bursts: of a row where columns are split
    between the sub-cores, of the whole part otherwise, because rows are dense."""
    if isinstance(call, Tpush) and core == "AIC":
        quantised = call.config is not None and call.config.quant != "NoQuant"
        out_bytes = output_bytes(call.config.quant) if call.config and quantised else tile.elem_bytes
        if ring == "GM":
            return (drain(tile.rows, tile.cols, out_bytes),)
        # both sub-cores are filled at the same time, each with its part
        parts = {2: UP_DOWN, 3: LEFT_RIGHT}.get(call.config.sub_block_id, 0) if call.config else split
        rows = tile.rows // 2 if parts == UP_DOWN else tile.rows
        cols = tile.cols // 2 if parts == LEFT_RIGHT else tile.cols
        return (drain_ub(maximum(rows, 1), maximum(cols, 1), out_bytes),)
    row = tile.cols * tile.elem_bytes
    by_columns = core == "AIV" and split in (LEFT_RIGHT, LEFT_RIGHT_ODD)
    path = PATHS["TPUSH" if isinstance(call, Tpush) else "TPOP", core, ring]
    return (dma(path, tile.rows * row, row if by_columns else tile.rows * row),)
