"""Every way in which a transfer of a workload can be cut, with its prices.

A tail leaves the staging tile with another valid shape, which cuts the next call differently; so a call has one variant
for each valid shape that its tile can have when it is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cost_models import dma, link
from cost_models.rounding import to_cycles
from cost_models.sharing import capacity_bytes_per_cycle
from pto_tune.executor.extent import whole_units
from pto_tune.model.expr import evaluate
from pto_tune.ranks import tables as t
from pto_tune.remote import columns as cut
from pto_tune.remote.rules import ELEMENT_BYTES
from pto_tune.remote.staging import BARRIERS_ONCE

if TYPE_CHECKING:
    from cost_models.platform import Platform
    from pto_tune.lowering.code import RankCode, TransferCall
    from pto_tune.model.nodes import Workload

    Ints = NDArray[np.int64]

MOST_VARIANTS = 4096
"""Most valid shapes of all tiles together that calls may leave behind."""


@dataclass(frozen=True)
class _Tile:
    """A staging tile in one instance: allocated rows and columns, which axes are dynamic, whether it can be halved."""

    rows: int
    cols: int
    valid: tuple[int, int]  # at the start
    dynamic: tuple[bool, bool]
    halves: bool


@dataclass(frozen=True)
class _Call:
    """A call in one instance."""

    number: int
    op: str
    shape: tuple[int, int, int, int, int]
    tile: int
    pong: int
    two: bool
    copies: bool


@dataclass
class Variants:
    """The variants of all calls as tables; see `tables.Numbers`."""

    of: Ints
    rows: Ints
    times: Ints
    units: Ints
    tile_start: Ints


def variants(
    workload: Workload, code: RankCode, platform: Platform, kinds: Sequence[str], env: dict[str, Any], n: int
) -> Variants:
    """Variants over the n instances of `env`; `kinds` are the kinds of link in use. ValueError where there are more
    than `MOST_VARIANTS`."""
    tiles = _tiles(workload, env, n)
    made: dict[tuple[Any, ...], tuple[int, int]] = {}
    calls: list[tuple[_Call, int, int]] = []  # with valid rows and columns
    shapes: list[tuple[_Tile | None, _Tile | None]] = []  # of tile and pong
    of = np.zeros((n, max(1, len(code.transfers)), 2), dtype=np.int64)
    columns = [_columns(c, env, n) for c in code.transfers]
    # instances that are alike share their variants
    seen = [np.zeros(n, dtype=np.int64), *tiles.values(), *(v for col in columns for v in col)]
    every = np.stack(seen, axis=1)
    _, first, inverse = np.unique(every, axis=0, return_index=True, return_inverse=True)
    for group, i in enumerate(first):
        own_tiles = [_tile(workload, tiles, k, int(i)) for k in range(len(workload.staging))]
        own = [_call(number, c, columns[number], int(i)) for number, c in enumerate(code.transfers)]
        reached = _reached(own, own_tiles)
        for call in own:
            states = [(0, 0)] if call.copies else sorted(reached[call.tile])
            key = (call, tuple(own_tiles), tuple(states))
            if key not in made:
                a = len(calls)
                for valid in states:
                    calls.append((call, *valid))
                    shapes.append((None if call.copies else own_tiles[call.tile], _pong(call, own_tiles)))
                made[key] = (a, len(calls))
                if len(calls) > MOST_VARIANTS:
                    raise ValueError(
                        f"calls leave staging tiles in more than {MOST_VARIANTS} valid shapes: "
                        "expected tiles that divide what goes through them, or static ones"
                    )
            of[np.asarray(inverse).reshape(-1) == group, call.number] = made[key]
    start = np.zeros((n, max(1, len(workload.staging)), 2), dtype=np.int64)
    for k in range(len(workload.staging)):
        start[:, k, 0], start[:, k, 1] = tiles[k, "valid_rows"], tiles[k, "valid_cols"]
    rows, times, units = _priced(code, platform, kinds, calls, shapes)
    return Variants(of, rows, times, units, start)


def _tiles(workload: Workload, env: dict[str, Any], n: int) -> dict[tuple[int, str], Ints]:
    out: dict[tuple[int, str], Ints] = {}
    for k, s in enumerate(workload.staging):
        for what, e in (
            ("rows", s.rows), ("cols", s.cols), ("valid_rows", s.valid_rows or s.rows),
            ("valid_cols", s.valid_cols or s.cols), ("dynamic_rows", s.dynamic_rows), ("dynamic_cols", s.dynamic_cols),
        ):  # fmt: skip
            out[k, what] = np.broadcast_to(np.asarray(evaluate(e, env), dtype=np.int64), n)
    return out


def _columns(c: TransferCall, env: dict[str, Any], n: int) -> list[Ints]:
    own = {**env, "sub": np.int64(c.sub)}
    return [np.broadcast_to(np.asarray(evaluate(e, own), dtype=np.int64), n) for e in (*c.node.shape, c.node.use_pong)]


def _tile(workload: Workload, tiles: dict[tuple[int, str], Ints], k: int, i: int) -> _Tile:
    s = workload.staging[k]
    rows, cols, vr, vc, dr, dc = (
        int(tiles[k, what][i]) for what in ("rows", "cols", "valid_rows", "valid_cols", "dynamic_rows", "dynamic_cols")
    )
    plain = (s.location, s.block_layout, s.fractal_layout) == ("Vec", "RowMajor", "NoneBox")
    return _Tile(rows, cols, (vr, vc), (dr != 0, dc != 0), plain)


def _call(number: int, c: TransferCall, columns: list[Ints], i: int) -> _Call:
    d0, d1, d2, d3, d4 = (int(v[i]) for v in columns[:5])
    op = type(c.node).__name__.upper()
    two = c.pong >= 0 and int(columns[5][i]) != 0
    return _Call(number, op, (d0, d1, d2, d3, d4), c.tile, c.pong if two else -1, two, c.node.asynchronous)


def _reached(calls: list[_Call], tiles: list[_Tile]) -> dict[int, set[tuple[int, int]]]:
    """The valid shapes in which each tile may be when a call begins, whatever the order of the calls."""
    reached = {k: {tile.valid} for k, tile in enumerate(tiles)}
    todo = [(call, tile.valid) for k, tile in enumerate(tiles) for call in calls if call.tile == k]
    while todo:
        call, valid = todo.pop()
        if call.copies:
            continue
        row = _layout(call, tiles[call.tile], _pong(call, tiles), *valid)
        left = [(call.tile, (row[t.V_PING_ROWS], row[t.V_PING_COLS]))]
        if row[t.V_PONG_ROWS] > 0:
            left.append((call.pong, (row[t.V_PONG_ROWS], row[t.V_PONG_COLS])))
        for k, after in left:
            if after not in reached[k]:
                reached[k].add(after)
                todo += [(c, after) for c in calls if c.tile == k]
                if sum(map(len, reached.values())) > MOST_VARIANTS:
                    return reached
    return reached


def _pong(call: _Call, tiles: list[_Tile]) -> _Tile | None:
    return tiles[call.pong] if call.two else None


def _layout(call: _Call, tile: _Tile | None, pong: _Tile | None, valid_rows: int, valid_cols: int) -> list[int]:
    """The row of `tables.Numbers.variant`: how the call is cut, and what it leaves in its tiles."""
    row = [0] * t.V_SIZE
    d0, d1, d2, d3, d4 = call.shape
    row[t.V_ROWS], row[t.V_COLS] = valid_rows, valid_cols
    row[t.V_PING_ROWS], row[t.V_PING_COLS] = valid_rows, valid_cols
    slices = d0 * d1 * d2
    if slices * d3 * d4 == 0:
        row[t.V_FORM] = t.EMPTY
        return row
    row[t.V_CHUNKS] = 1
    if tile is None:
        row[t.V_FORM] = t.COPY
        return row
    row[t.V_PING_PONG] = int(call.two)
    if slices * d3 <= valid_rows and d4 <= valid_cols:
        row[t.V_FORM] = t.ONCE
        row[t.V_BARRIER_ONCE] = 1 if call.two else BARRIERS_ONCE[call.op]
        return row
    row[t.V_FORM] = t.CUT
    bands, across = -(-d3 // valid_rows), -(-d4 // valid_cols)
    n = slices * bands * across
    row[t.V_CHUNKS] = n
    row[t.V_FULL_ROWS], row[t.V_FULL_COLS] = d3 // valid_rows, d4 // valid_cols
    row[t.V_ROW_TAIL], row[t.V_COL_TAIL] = int(d3 % valid_rows > 0), int(d4 % valid_cols > 0)
    cuts = cut.calls(
        call.op, call.shape, tile.rows, tile.cols, valid_rows=valid_rows, valid_cols=valid_cols,
        dynamic_rows=tile.dynamic[0], dynamic_cols=tile.dynamic[1], ping_pong=call.two, half_tile=tile.halves,
    )  # fmt: skip
    row[t.V_HALVED] = int(cut.halved_chunks(cuts)[0] > 0)

    def after(index: int, through: _Tile) -> tuple[int, int]:
        """Valid shape that chunk `index` leaves; of a static axis, that of the start."""
        r, c = (index // across) % bands, index % across
        rows, cols = min(valid_rows, d3 - r * valid_rows), min(valid_cols, d4 - c * valid_cols)
        return (rows if through.dynamic[0] else through.valid[0]), (cols if through.dynamic[1] else through.valid[1])

    if pong is None:
        row[t.V_PING_ROWS], row[t.V_PING_COLS] = after(n - 1, tile)
        return row
    last = (n - 1, n - 2) if n % 2 else (n - 2, n - 1)
    row[t.V_PING_ROWS], row[t.V_PING_COLS] = after(last[0], tile)
    row[t.V_PONG_ROWS], row[t.V_PONG_COLS] = after(last[1], pong)
    return row


def _priced(
    code: RankCode,
    platform: Platform,
    kinds: Sequence[str],
    calls: list[tuple[_Call, int, int]],
    shapes: list[tuple[_Tile | None, _Tile | None]],
) -> tuple[Ints, Ints, Ints]:
    """Rows, times (V, kinds + 1, 6, 2) and units (V, kinds + 1, 6, 5) of the variants."""
    n, k = max(1, len(calls)), len(kinds)
    rows = np.zeros((n, t.V_SIZE), dtype=np.int64)
    times = np.zeros((n, k + 1, len(cut.PIECES), 2), dtype=np.int64)
    units = np.zeros((n, k + 1, len(cut.PIECES), 5), dtype=np.int64)
    for v, (call, valid_rows, valid_cols) in enumerate(calls):
        node = code.transfers[call.number].node
        rows[v] = _layout(call, *shapes[v], valid_rows, valid_cols)
        high, wide = _pieces(call, shapes[v][0], rows[v])
        elem = ELEMENT_BYTES.get(node.elem, 4)
        size, burst = high * wide * elem, np.maximum(wide * elem, 1)
        add = node.atomic != "AtomicNone"
        get = call.op == "TGET"
        if not call.copies:
            times[v, :, :, 0] = to_cycles(dma.transfer_cycles(platform, "gm_to_ub", size, burst))
            times[v, :, :, 1] = to_cycles(dma.transfer_cycles(platform, "ub_to_gm", size, burst))
        units[v, :, :, t.U_L2] = _units(size, capacity_bytes_per_cycle(platform, "l2"))
        units[v, :, :, t.U_L2_READ] = _units(size, capacity_bytes_per_cycle(platform, "l2_read"))
        direction = "get" if get else "put"
        for j, kind in enumerate(kinds):
            if call.copies:
                times[v, j] = -1  # no such engine on this link
                if "sdma" in link.engines(platform, kind):
                    whole = np.maximum(size, 1)
                    times[v, j, :, 0] = to_cycles(
                        link.transfer_cycles(platform, kind, direction, size, whole, engine="sdma")
                    )
            else:
                one = link.transfer_cycles(platform, kind, direction, size, burst, atomic=add and not get)
                times[v, j, :, 0 if get else 1] = to_cycles(one)
            drawn = link.drawn_bytes(platform, size, atomic=add and not get and not call.copies)
            for s, scope in enumerate(("out", "in", "pair")):
                capacity = link.capacity_bytes_per_cycle(platform, kind, direction, scope)
                units[v, j, :, t.U_OUT + s] = _units(drawn, capacity)
    return rows, times, units


def _pieces(call: _Call, tile: _Tile | None, row: Ints) -> tuple[Ints, Ints]:
    """Rows and columns of each of the six shapes of a piece; 0 where the call has none."""
    d0, d1, d2, d3, d4 = call.shape
    whole = d0 * d1 * d2 * d3
    if row[t.V_FORM] != t.CUT:
        return np.array([whole, 0, 0, 0, 0, 0]), np.array([d4, 0, 0, 0, 0, 0])
    assert tile is not None
    vr, vc = int(row[t.V_ROWS]), int(row[t.V_COLS])
    rt, ct = d3 % vr, d4 % vc
    return np.array([0, vr, tile.rows // 2, vr, rt, rt]), np.array([0, vc, vc, ct, vc, ct])


def _units(size: Any, capacity: float) -> Ints:
    """Parts of a cycle for which a server is taken."""
    return whole_units(t.UNIT * np.asarray(size, dtype=np.float64) / capacity)
