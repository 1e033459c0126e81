"""What TPUT, TGET and the signals allow: each rule a function that returns a sentence, or None where it is kept.

A sentence says what is wrong and what would be right. The library checks types and layouts at compile time (comm/a2a3/
TPut.hpp:263-267, TNotify.hpp:40 of pto-isa), divisibility in debug builds alone (TPut.hpp:202-213), and nothing else:
a call that breaks another rule compiles and moves wrong data. Those come from the pages docs/isa/comm of the ISA.
`transfer_faults` and `signal_faults` apply all of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pto_tune.legality.tiles import ATOMIC_ADD as ATOMIC_ADD_TYPES
from pto_tune.remote.staging import TGET, TPUT, StagingTile, check_op, check_shape, fits, is_empty

TNOTIFY, TWAIT, TTEST = SIGNAL_OPS = ("TNOTIFY", "TWAIT", "TTEST")
ATOMIC_NONE, ATOMIC_ADD = ATOMICS = ("AtomicNone", "AtomicAdd")

ELEMENT_BYTES = {
    "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "half": 2, "bfloat16": 2,
    "int32": 4, "uint32": 4, "float": 4, "int64": 8, "uint64": 8,
}  # fmt: skip
"""Element types that TSTORE moves from UB on both families (npu/a2a3/TStore.hpp, npu/a5/TStore.hpp)."""

SIGNAL_TYPE, SIGNAL_ALIGN, SIGNAL_DIMS = "int32", 4, 5


@dataclass(frozen=True)
class Side:
    """A GlobalTensor of a transfer: its element type, its layout (ND, DN, NZ ...) and whether its address is remote."""

    elem: str
    layout: str
    remote: bool


@dataclass(frozen=True)
class Placed:
    """A staging tile at a byte offset of UB, with its element type (one of ELEMENT_BYTES, else ValueError)."""

    tile: StagingTile
    elem: str
    offset_bytes: int

    def __post_init__(self) -> None:
        if self.elem not in ELEMENT_BYTES:
            raise ValueError(f"unknown element type {self.elem!r}: choose one of {', '.join(ELEMENT_BYTES)}")
        if self.offset_bytes < 0:
            raise ValueError(f"UB offset {self.offset_bytes} of a staging tile: expected 0 or more")

    @property
    def byte_range(self) -> tuple[int, int]:
        """First byte of UB and the one behind the last."""
        return self.offset_bytes, self.offset_bytes + self.tile.rows * self.tile.cols * ELEMENT_BYTES[self.elem]


@dataclass(frozen=True)
class Transfer:
    """A TPUT or TGET: the source's extents d0..d4, both sides, one staging tile or ping and pong, and the atomic type,
    which is a template argument unless `atomic_at_run_time`."""

    op: str
    shape: tuple[int, int, int, int, int]
    src: Side
    dst: Side
    tiles: tuple[Placed, ...]
    atomic: str = ATOMIC_NONE
    atomic_at_run_time: bool = False

    def __post_init__(self) -> None:
        check_op(self.op)
        check_shape(self.shape)
        if len(self.tiles) not in (1, 2):
            raise ValueError(f"{self.op} with {len(self.tiles)} staging tiles: expected 1, or 2 as ping and pong")


@dataclass(frozen=True)
class Fault:
    """A rule that is broken, by name, and the sentence."""

    rule: str
    sentence: str


def transfer_faults(call: Transfer) -> list[Fault]:
    """Every rule that a transfer breaks; a call with one is refused."""
    return [Fault(rule, sentence) for rule, sentence in _of_transfer(call) if sentence is not None]


def _of_transfer(call: Transfer) -> Iterator[tuple[str, str | None]]:
    op, tiles = call.op, call.tiles
    yield "remote-element-type", element_types(op, call.src.elem, call.dst.elem, [t.elem for t in tiles])
    yield "remote-layout", layouts(op, call.src.layout, call.dst.layout)
    yield "remote-side", sides(op, call.src.remote, call.dst.remote)
    yield "staging-memory", staging_memory(op, [t.tile for t in tiles])
    if len(tiles) == 2:
        yield "ping-pong-shape", ping_pong_shape(op, *tiles)
        yield "ping-pong-overlap", ping_pong_overlap(op, *tiles)
    yield "remote-atomic", atomic(op, call.atomic, call.src.elem)
    yield "run-time-atomic", run_time_atomic(op, call.atomic_at_run_time, len(tiles) == 2)
    yield "static-valid-shape", divisibility(op, call.shape, tiles[0].tile)


def element_types(op: str, src: str, dst: str, tiles: Sequence[str]) -> str | None:
    """Source, destination and every staging tile have one element type (comm/a2a3/TPut.hpp:263-267)."""
    if {src, dst, *tiles} == {src}:
        return None
    names = ["staging tile"] if len(tiles) == 1 else ["ping", "pong"]
    of_tiles = " and ".join(f"{name} of {elem}" for name, elem in zip(names, tiles, strict=True))
    return f"{op} from {src} to {dst} through {of_tiles}: all must have the same element type, such as {src}"


def layouts(op: str, src: str, dst: str) -> str | None:
    """Both sides have one layout (comm/a2a3/TPut.hpp:263-267)."""
    if src == dst:
        return None
    return f"{op} from layout {src} to layout {dst}: both sides must have the same one, such as {src}"


def sides(op: str, src_remote: bool, dst_remote: bool) -> str | None:
    """TPUT writes from local to remote memory, TGET reads from remote into local memory (docs/isa/comm/TPUT.md,
    TGET.md)."""
    if (src_remote, dst_remote) == (op == TGET, op == TPUT):
        return None
    has = f"source is {_place(src_remote)} and its destination {_place(dst_remote)}"
    return f"{op}'s {has}: its source must be {_place(op == TGET)} and its destination {_place(op == TPUT)}"


def staging_memory(op: str, tiles: Sequence[StagingTile]) -> str | None:
    """Staging tiles lie in UB (docs/isa/comm/TPUT.md, TGET.md)."""
    wrong = [t.location for t in tiles if t.location != "Vec"]
    return f"{op} through a staging tile of type {wrong[0]}: it must be of type Vec, in UB" if wrong else None


def ping_pong_shape(op: str, ping: Placed, pong: Placed) -> str | None:
    """Ping and pong are of one type: extents, static valid extents, layouts and elements.

    What is valid of a dynamic axis is no part of the type, and that of pong is overwritten before it counts.
    """
    kinds = [_kind(tile) for tile in (ping, pong)]
    if kinds[0] == kinds[1]:
        return None
    both = " and ".join(
        f"{name} is {_kind(tile)} at bytes [{tile.byte_range[0]}, {tile.byte_range[1]}) of UB"
        for name, tile in (("ping", ping), ("pong", pong))
    )
    return f"{op}: {both}: both must have the same type and shape"


def _kind(placed: Placed) -> str:
    t = placed.tile
    rows = "dynamic" if t.dynamic_rows else t.valid_rows
    cols = "dynamic" if t.dynamic_cols else t.valid_cols
    layout = f"{t.location}, {t.block_layout}, {t.fractal_layout}"
    return f"{t.rows} x {t.cols} {placed.elem} ({layout}; valid rows {rows}, valid columns {cols})"


def ping_pong_overlap(op: str, ping: Placed, pong: Placed) -> str | None:
    """Ping and pong share no byte of UB; ranges are half-open."""
    (a, b), (c, d) = ping.byte_range, pong.byte_range
    shared = min(b, d) - max(a, c)
    if shared <= 0:
        return None
    return (
        f"{op}: ping takes bytes [{a}, {b}) of UB and pong [{c}, {d}), {shared} of them shared: "
        f"they must not overlap, for instance pong from {b}"
    )


def atomic(op: str, kind: str, elem: str) -> str | None:
    """AtomicAdd is for TPUT and six element types (common/arch/memory/tstore_common.hpp:152-155, npu/a5/TStore.hpp)."""
    if kind not in ATOMICS:
        return f"{op} with {kind}: expected one of {', '.join(ATOMICS)}"
    if kind == ATOMIC_NONE:
        return None
    if op == TGET:
        return f"TGET with {kind}: TGET has no atomic form, only {TPUT} adds to its destination"
    if elem not in ATOMIC_ADD_TYPES:
        return f"{op} with {kind} of {elem}: expected one of {', '.join(ATOMIC_ADD_TYPES)}"
    return None


def run_time_atomic(op: str, at_run_time: bool, ping_pong: bool) -> str | None:
    """Only the single-tile TPUT takes the atomic type as an argument (comm/pto_comm_inst.hpp:37-72)."""
    if not at_run_time:
        return None
    if op == TGET:
        return "TGET with an atomic type at run time: TGET has no such argument, only single-tile TPUT has"
    if ping_pong:
        return f"{op} through ping and pong with an atomic type at run time: give it as a template argument"
    return None


def divisibility(op: str, shape: Sequence[int], tile: StagingTile) -> str | None:
    """A static valid extent of the (ping) tile divides d3 or d4 wherever the call is cut (comm/a2a3/TPut.hpp:202-213).

    The sentence names both remainders, and the nearest extents that divide and fit into the tile.
    """
    rows, cols = shape[3], shape[4]
    over = (rows % tile.valid_rows, cols % tile.valid_cols)
    if is_empty(shape) or fits(shape, tile):
        return None
    wrong = []
    if over[0] and not tile.dynamic_rows:
        wrong.append(f"{_nearest_divisor(rows, tile.valid_rows, tile.rows)} valid rows")
    if over[1] and not tile.dynamic_cols:
        wrong.append(f"{_nearest_divisor(cols, tile.valid_cols, tile.cols)} valid columns")
    if not wrong:
        return None
    static = [axis for axis, dynamic in (("rows", tile.dynamic_rows), ("columns", tile.dynamic_cols)) if not dynamic]
    return (
        f"{op} of {rows} x {cols} through a tile of {tile} leaves remainders of {over[0]} rows and {over[1]} columns, "
        f"and its valid {' and '.join(static)} are static: make them dynamic, or take {' and '.join(wrong)}"
    )


def unequal_valid_shape(op: str, shape: Sequence[int], tile: StagingTile) -> str | None:
    """A call that is not cut moves the valid shape of the tile, whatever the tensor has.

    For row-major tiles; no part of `transfer_faults`. TLOAD and TSTORE assert in debug builds that both agree; in
    release builds too few rows do no harm, but every row is as long as the valid columns (TLoadGm2ubNd2nd in
    common/arch/memory/tload_common.hpp, TStoreUb2gmNd2nd in npu/a2a3/TStore.hpp).
    """
    if is_empty(shape) or not fits(shape, tile) or tile.block_layout != "RowMajor":
        return None
    rows, cols = math.prod(shape[:4]), shape[4]
    if cols < tile.valid_cols:
        harm = f"each row is moved as {tile.valid_cols} columns, beyond what the tensor has"
    elif rows < tile.valid_rows:
        harm = "debug builds stop at it"
    else:
        return None
    return f"{op} of {rows} x {cols} at once through a tile of {tile}: {harm}; set the valid shape to {rows} x {cols}"


def signal_faults(op: str, elem: str, remote: bool, byte_address: int, dims: Sequence[int]) -> list[Fault]:
    """Every rule that TNOTIFY, TWAIT or TTEST breaks with a signal of `dims` at a byte address; ValueError for another
    instruction."""
    if op not in SIGNAL_OPS:
        raise ValueError(f"unknown signal instruction {op!r}: choose one of {', '.join(SIGNAL_OPS)}")
    found = (
        ("signal-type", signal_type(op, elem)),
        ("signal-side", signal_side(op, remote)),
        ("signal-align", signal_align(op, byte_address)),
        ("signal-dims", signal_dims(op, len(dims))),
    )
    return [Fault(rule, sentence) for rule, sentence in found if sentence is not None]


def signal_type(op: str, elem: str) -> str | None:
    """Signals are int32 (comm/a2a3/TNotify.hpp:40)."""
    return None if elem == SIGNAL_TYPE else f"{op} on a signal of {elem}: expected {SIGNAL_TYPE}"


def signal_side(op: str, remote: bool) -> str | None:
    """TNOTIFY writes a remote signal, TWAIT and TTEST read a local one."""
    if remote == (op == TNOTIFY):
        return None
    does = "writes" if op == TNOTIFY else "reads"
    return f"{op} on a {_place(remote)} signal: it {does} a {_place(not remote)} one"


def signal_align(op: str, byte_address: int) -> str | None:
    """Signals are 4-byte aligned."""
    over = byte_address % SIGNAL_ALIGN
    if not over:
        return None
    return (
        f"{op} on a signal at byte {byte_address}, {over} beyond a multiple of {SIGNAL_ALIGN}: "
        f"expected {SIGNAL_ALIGN}-byte alignment, nearest below {byte_address - over}"
    )


def signal_dims(op: str, dims: int) -> str | None:
    """A signal tensor has 1 to 5 dimensions."""
    if 1 <= dims <= SIGNAL_DIMS:
        return None
    return f"{op} on a signal tensor of {dims} dimensions: expected 1 to {SIGNAL_DIMS}"


def _place(remote: bool) -> str:
    return "remote" if remote else "local"


def _nearest_divisor(extent: int, asked: int, most: int) -> int:
    """The divisor of `extent`, at most `most`, that is nearest to `asked`; the smaller of two."""
    small = [k for k in range(1, math.isqrt(extent) + 1) if extent % k == 0]
    divisors = [k for k in {*small, *(extent // k for k in small)} if k <= most]
    return min(divisors, key=lambda k: (abs(k - asked), k))
