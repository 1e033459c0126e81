"""The examples of the ISA's pages of TPUT and TGET: what they move, how long it takes, and that nothing is refused.

Both families run the same code (comm/a5/TPut.hpp:10, TGet.hpp:10), so that an example has one answer.
"""

import pytest

from pto_tune.remote.columns import call_cycles, calls
from pto_tune.remote.rules import ATOMIC_ADD, ATOMIC_NONE, Placed, Side, Transfer, transfer_faults, unequal_valid_shape
from pto_tune.remote.sliding import ONCE, PING_PONG, plan
from pto_tune.remote.staging import OPS, TGET, TPUT, StagingTile

both_ops = pytest.mark.parametrize("op", OPS)
BASIC = (1, 1, 1, 16, 16)
LOAD, STORE, BARRIER = 700, 900, 11


def example(
    op: str, shape: tuple[int, int, int, int, int], *tiles: Placed, atomic: str = ATOMIC_NONE, at_run_time: bool = False
) -> Transfer:
    elem = tiles[0].elem
    src, dst = (Side(elem, "ND", remote) for remote in (op == TGET, op == TPUT))
    return Transfer(op, shape, src, dst, tiles, atomic, at_run_time)


@both_ops
@pytest.mark.parametrize("elem", ["half", "float", "int32", "int8", "bfloat16"])
def test_basic_usage(op: str, elem: str) -> None:
    tile = StagingTile.full(16, 16)  # the template's default: a static valid shape
    assert transfer_faults(example(op, BASIC, Placed(tile, elem, 0))) == []
    assert unequal_valid_shape(op, BASIC, tile) is None
    p = plan(op, BASIC, tile)
    assert (p.form, p.rows.tolist(), p.cols.tolist(), p.left) == (ONCE, [16], [16], (tile,))
    barriers = 1 if op == TGET else 0
    c = calls(op, BASIC, 16, 16, dynamic_rows=False, dynamic_cols=False)
    assert call_cycles(c, LOAD, STORE, BARRIER).tolist() == [LOAD + STORE + barriers * BARRIER]


@pytest.mark.parametrize("at_run_time", [False, True], ids=["template-argument", "run-time-argument"])
def test_remote_write_with_atomic_add(at_run_time: bool) -> None:
    tile = Placed(StagingTile.full(16, 16), "float", 0)
    assert transfer_faults(example(TPUT, BASIC, tile, atomic=ATOMIC_ADD, at_run_time=at_run_time)) == []


def ub_bytes() -> int:
    """Bytes of a 64 x 64 float tile, rounded up to 1 KB."""
    return (64 * 64 * 4 + 1023) // 1024 * 1024


@both_ops
@pytest.mark.parametrize(
    ("shape", "form", "chunks", "left"),
    [
        ((1, 1, 1, 64, 64), ONCE, 1, ["64 x 64", "64 x 64"]),
        ((1, 1, 1, 256, 64), PING_PONG, 4, ["64 x 64", "64 x 64"]),
        ((1, 1, 1, 100, 200), PING_PONG, 8, ["36 x 64 of 64 x 64", "36 x 8 of 64 x 64"]),
        ((2, 1, 1, 64, 96), PING_PONG, 4, ["64 x 64", "64 x 32 of 64 x 64"]),
    ],
    ids=str,
)
def test_ping_pong_at_offsets_rounded_to_1_kb(
    op: str, shape: tuple[int, int, int, int, int], form: str, chunks: int, left: list[str]
) -> None:
    tile = StagingTile.full(64, 64, dynamic=True)  # its constructor takes the valid shape
    assert ub_bytes() == 16384
    assert transfer_faults(example(op, shape, Placed(tile, "float", 0), Placed(tile, "float", ub_bytes()))) == []
    p = plan(op, shape, tile, tile)
    assert (p.form, len(p), p.barriers.tolist()) == (form, chunks, [1] * chunks)
    assert [str(t) for t in p.left] == left
    c = calls(op, shape, 64, 64, ping_pong=True)
    slower = max(LOAD, STORE)
    assert call_cycles(c, LOAD, STORE, BARRIER).tolist() == [LOAD + (chunks - 1) * slower + STORE + chunks * BARRIER]


@both_ops
def test_rounding_to_1_kb_keeps_odd_tiles_apart(op: str) -> None:
    tile = StagingTile.full(10, 30, dynamic=True)  # 600 bytes of half
    offset = (10 * 30 * 2 + 1023) // 1024 * 1024
    apart = example(op, (1, 1, 1, 50, 30), Placed(tile, "half", 0), Placed(tile, "half", offset))
    assert (offset, transfer_faults(apart)) == (1024, [])
    together = example(op, (1, 1, 1, 50, 30), Placed(tile, "half", 0), Placed(tile, "half", 512))
    assert [f.rule for f in transfer_faults(together)] == ["ping-pong-overlap"]


def test_ping_pong_with_atomic_add_as_a_template_argument() -> None:
    tile = StagingTile.full(64, 64, dynamic=True)
    tiles = (Placed(tile, "float", 0), Placed(tile, "float", ub_bytes()))
    assert transfer_faults(example(TPUT, (1, 1, 1, 256, 64), *tiles, atomic=ATOMIC_ADD)) == []
