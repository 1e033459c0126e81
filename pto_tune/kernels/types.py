"""Types of the PTO dialect as far as they decide time and memory: tiles, views of global memory, pointers, scalars.

Tiles have two spellings, `tile_buf<loc=vec, dtype=f32, rows=16, cols=16, v_row=?, ...>` and the short
`tile_buf<vec, 16x16xf32, valid=?x16, ...>`; lowered files have `memref<16x16xf32, #pto.address_space<vec>>`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

MEMORY_OF = {"mat": "L1", "left": "L0A", "right": "L0B", "acc": "L0C", "vec": "UB", "bias": "BT", "scaling": "FB"}
"""Memory by the `loc` of a tile. The tables of bias and scaling factors are no memory of the model."""
KIND_OF = {"acc": "Acc", "vec": "Vec", "mat": "Mat"}
"""Type of a tile in a pipe call by its `loc`."""

_BYTES = {
    "f64": 8, "i64": 8, "ui64": 8, "si64": 8, "f32": 4, "i32": 4, "ui32": 4, "si32": 4, "tf32": 4, "f16": 2, "bf16": 2,
    "i16": 2, "ui16": 2, "si16": 2, "i8": 1, "ui8": 1, "si8": 1, "i1": 1, "hif8": 1,
}  # fmt: skip
ELEMENTS = {
    "f32": "float", "f16": "half", "bf16": "bfloat16", "i8": "int8", "ui8": "uint8", "i16": "int16", "ui16": "uint16",
    "i32": "int32", "ui32": "uint32", "i64": "int64", "ui64": "uint64",
}  # fmt: skip
"""Element types of remote transfers by MLIR's name."""

_INTEGER = re.compile(r"(?:[us]?i\d+|index)$")
_DIMS = re.compile(r"^((?:\s*(?:\d+|\?)\s*x)+)\s*(.+)$", re.S)


@dataclass(frozen=True)
class TileType:
    """A tile: its place, element type, extents, and what of them is valid (None: known at run time only)."""

    loc: str
    dtype: str
    rows: int
    cols: int
    valid_rows: int | None
    valid_cols: int | None
    layout: str = ""

    @property
    def bytes(self) -> int:
        """Bytes of the whole tile."""
        return self.rows * self.cols * element_bytes(self.dtype)


@dataclass(frozen=True)
class ViewType:
    """A view of global memory: extents (None: known at run time only) and element type."""

    dims: tuple[int | None, ...]
    dtype: str


@dataclass(frozen=True)
class PointerType:
    """A pointer into global memory."""

    dtype: str


@dataclass(frozen=True)
class ScalarType:
    """Integers and indices (`whole`), and everything else that is one value."""

    name: str
    whole: bool


Type = TileType | ViewType | PointerType | ScalarType


def element_bytes(dtype: str) -> int:
    """Bytes of an element; ValueError for a type of elements that is not known."""
    if dtype.lower().startswith(("f8", "fp8", "!pto.f8", "!pto.hif8", "hif8")):
        return 1
    if dtype not in _BYTES:
        raise ValueError(f"the type of elements {dtype!r} is not known: expected one of {', '.join(_BYTES)}")
    return _BYTES[dtype]


def read_type(text: str, aliases: Mapping[str, str] | None = None) -> Type:
    """The type that a text stands for. ValueError says what is wrong with a tile or view."""
    text = " ".join(text.split())
    for _ in range(8):
        text = (aliases or {}).get(text, text)
    head, _, rest = text.partition("<")
    inner = rest.rstrip()[:-1].strip() if rest else ""
    match head.removeprefix("!pto.").removeprefix("!"):
        case "tile_buf":
            return _tile(inner)
        case "tensor_view" | "partition_tensor_view":
            return _view(inner)
        case "memref":
            return _memref(inner)
        case "ptr":
            return PointerType(_parts(inner)[0] if inner else "")
    return ScalarType(text, bool(_INTEGER.match(text)))


def _parts(text: str) -> list[str]:
    """What stands between commas outside of brackets."""
    out, depth, start = list[str](), 0, 0
    for i, c in enumerate(text):
        if c in "<([{":
            depth += 1
        elif c in ">)]}":
            depth -= 1
        elif c == "," and depth == 0:
            out.append(text[start:i].strip())
            start = i + 1
    return [*out, text[start:].strip()]


def _extents(text: str) -> tuple[tuple[int | None, ...], str]:
    """`16x?xf32` as extents and what is left."""
    match = _DIMS.match(text)
    if not match:
        return (), text.strip()
    words = [d.strip() for d in match.group(1).strip().rstrip("x").split("x")]
    long = next((d for d in words if len(d) > 9), None)
    if long is not None:
        raise ValueError(f"an extent is {long[:20]}{'...' if len(long) > 20 else ''}: expected at most 9 digits")
    dims = tuple(None if d == "?" else int(d) for d in words)
    return dims, match.group(2).strip()


def _view(inner: str) -> ViewType:
    dims, dtype = _extents(_parts(inner)[0])
    return ViewType(dims, dtype)


def _memref(inner: str) -> Type:
    """A memref is a tile where its memory space is one of a core."""
    parts = _parts(inner)
    dims, dtype = _extents(parts[0])
    space = next((m.group(1) for p in parts[1:] if (m := re.search(r"address_space<(\w+)>", p))), "gm")
    if space not in MEMORY_OF:
        return ViewType(dims, dtype)
    rows, cols = _two(dims)
    return TileType(space, dtype, rows, cols, rows, cols)


def _two(dims: tuple[int | None, ...]) -> tuple[int, int]:
    if not dims or any(d is None for d in dims):
        raise ValueError("a tile has an extent that is known at run time only: expected numbers")
    known = [int(d or 0) for d in dims]
    rows = 1
    for d in known[:-1]:
        rows *= d
    return rows, known[-1]


def _tile(inner: str) -> TileType:
    named: dict[str, str] = {}
    plain: list[str] = []
    for part in _parts(inner):
        key, equals, value = part.partition("=")
        if equals:
            named[key.strip()] = value.strip()
        elif part:
            plain.append(part)
    dims: tuple[int | None, ...] = ()
    dtype = named.get("dtype", "")
    loc = named.get("loc", "")
    for part in plain:
        if part in MEMORY_OF:
            loc = part
        elif "x" in part:
            dims, dtype = _extents(part)
    if dims:
        rows, cols = _two(dims)
    else:
        rows, cols = (_number(named.get(key), key) for key in ("rows", "cols"))
    valid: tuple[int | None, ...] = (rows, cols)
    if "valid" in named:
        valid = _extents(named["valid"] + "xv")[0]
    elif "v_row" in named or "v_col" in named:
        given = (named.get("v_row", str(rows)), named.get("v_col", str(cols)))
        valid = tuple(None if v == "?" else _number(v, "v_row and v_col") for v in given)
    if loc not in MEMORY_OF:
        raise ValueError(f"a tile is in {loc or 'no memory'!r}: expected loc to be one of {', '.join(MEMORY_OF)}")
    if rows < 1 or cols < 1 or len(valid) != 2:
        raise ValueError(f"a tile of {rows} x {cols} elements: expected 1 or more of each")
    element_bytes(dtype)
    return TileType(loc, dtype, rows, cols, valid[0], valid[1], named.get("blayout", ""))


def _number(text: str | None, what: str) -> int:
    if text is None or not text.isdigit() or len(text) > 9:
        raise ValueError(f"a tile has {what} = {text}: expected a number")
    return int(text)
