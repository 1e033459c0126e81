"""Types in both of their spellings, and folded numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pto_tune.kernels.types import PointerType, ScalarType, TileType, ViewType, element_bytes, read_type
from pto_tune.kernels.values import combine, number
from pto_tune.model.expr import evaluate, name


def test_a_tile_is_the_same_in_both_spellings() -> None:
    long = (
        "!pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=64, v_row=?, v_col=32, blayout=row_major, slayout=none_box, "
        "fractal=512, pad=0>"
    )
    short = read_type("!pto.tile_buf<vec, 16x64xf32, valid=?x32>")
    assert isinstance(short, TileType)
    found = read_type(long)
    assert isinstance(found, TileType)
    assert (found.loc, found.dtype, found.rows, found.cols) == (short.loc, short.dtype, short.rows, short.cols)
    assert (found.valid_rows, found.valid_cols) == (short.valid_rows, short.valid_cols) == (None, 32)
    assert found.bytes == 4096


def test_a_memref_is_a_tile_in_a_memory_of_a_core_and_a_view_elsewhere() -> None:
    assert read_type("memref<16x16xf16, #pto.address_space<left>>") == TileType("left", "f16", 16, 16, 16, 16)
    assert read_type("memref<?x16xf32>") == ViewType((None, 16), "f32")


def test_other_types() -> None:
    assert read_type("!pto.partition_tensor_view<8 x 128 x f32>") == ViewType((8, 128), "f32")
    assert read_type("!pto.ptr<f32, gm>") == PointerType("f32")
    assert read_type("index") == ScalarType("index", True)
    assert read_type("f32") == ScalarType("f32", False)
    assert read_type("!half", {"!half": "!pto.tile_buf<vec, 8x8xf16>"}) == TileType("vec", "f16", 8, 8, 8, 8)


@pytest.mark.parametrize(("dtype", "size"), [("f32", 4), ("bf16", 2), ("i8", 1), ("f8E4M3FN", 1), ("i64", 8)])
def test_elements_have_their_bytes(dtype: str, size: int) -> None:
    assert element_bytes(dtype) == size


def test_aliases_that_go_round_end() -> None:
    assert isinstance(read_type("!a", {"!a": "!b", "!b": "!a"}), ScalarType)


@given(
    st.sampled_from(["+", "-", "*", "//", "%", "ceildiv", "min", "max", "==", "!=", "<", "<=", ">", ">=", "and", "or"]),
    st.integers(0, 40), st.integers(1, 40), st.booleans(), st.booleans(),
)  # fmt: skip
def test_folding_changes_no_value(op: str, x: int, y: int, named_x: bool, named_y: bool) -> None:
    a = number(name("x")) if named_x else number(x)
    b = number(name("y")) if named_y else number(y)
    folded = combine(op, a, b)
    constants = combine(op, number(x), number(y))
    assert folded.expr is not None
    assert constants.constant is not None
    assert int(evaluate(folded.expr, {"x": x, "y": y})) == constants.constant


def test_numbers_beyond_the_model_are_not_known() -> None:
    huge = combine("*", number(2**30), number(2**30))
    assert huge.expr is None
    assert huge.why
    assert combine("+", huge, number(1)).why == huge.why
