"""Which calls a configuration makes: conditions, sub-cores, and blocks that differ."""

from collections.abc import Callable

import pytest

from pto_tune.legality.rules import RuleColumn
from pto_tune.model.expr import ceildiv, expr, minimum, name
from pto_tune.model.nodes import UP_DOWN, Fifo, Launch, Loop, Workload
from pto_tune.model.vocabulary import loop, talloc, tfree, tile, tpop, tpush, when

Kernel = Callable[..., Workload]
Broken = Callable[..., dict[str, str]]
AllColumns = Callable[..., dict[str, RuleColumn]]
MakeFifo = Callable[..., Fifo]

BLOCK, SUB = name("block"), name("sub")
VEC = tile("Vec", 8, 8)


@pytest.mark.parametrize("inside", [when, loop])
def test_a_call_counts_where_every_loop_around_it_runs(
    inside: Callable[..., Loop], kernel: Kernel, all_columns: AllColumns, fifo: MakeFifo
) -> None:
    aic = (inside(name("a"), loop(2, inside(name("b"), tpush("f", tile("Acc", 8, 8, 1024))))),)
    work = kernel(aic, (tpop("f", VEC),), fifo(), values={"a": 0, "b": 0})
    rows = {"a": [0, 1, 0, 1, 3, -1], "b": [0, 0, 1, 1, 2, 1]}
    assert all_columns(work, **rows)["f-slot-size"].broken.tolist() == [False, False, False, True, True, False]


def test_both_flows_may_stand_in_one_program(kernel: Kernel, all_columns: AllColumns, fifo: MakeFifo) -> None:
    flow = name("flow")
    aic = (when(flow.eq(0), talloc("f"), tpush("f")), when(flow.eq(1), tpush("f", tile("Acc", 8, 8))))
    aiv = (when(flow.eq(0), tpop("f"), tfree("f")), when(flow.eq(1), tpop("f", VEC)))
    found = all_columns(kernel(aic, aiv, fifo(), values={"flow": 0}), "a5", flow=[0, 1])
    assert found["f-global-data"].broken.tolist() == [True, False]
    assert not any(c.broken[1] for c in found.values())


def blocks(kernel: Kernel, fifo: MakeFifo, varying: int = 1) -> Workload:
    """The last block has what is left of the rows."""
    rows = minimum(64, name("rows") - 64 * BLOCK)
    launch = Launch(ceildiv(name("rows"), 64), expr(varying))
    push, pop = tpush("f", tile("Acc", rows, 64)), tpop("f", tile("Vec", name("part"), 64))
    return kernel((push,), (pop,), fifo(split=UP_DOWN), values={"rows": 128, "part": 32}, launch=launch, derived=())


def test_a_tile_of_a_later_block_counts(
    kernel: Kernel, broken: Broken, all_columns: AllColumns, fifo: MakeFifo
) -> None:
    work = blocks(kernel, fifo)
    assert broken(work) == {}
    found = broken(work, rows=[64, 128, 130])  # the third block has 2 rows, and pops 32
    assert "TPUSH of 2 x 64 on AIC" in found["f-ratio"]
    assert all_columns(work, rows=[64, 128, 130])["f-ratio"].broken.tolist() == [False, False, True]
    assert all_columns(work, rows=[130, 64])["f-ratio"].broken.tolist() == [True, False]
    assert broken(blocks(kernel, fifo, varying=0), rows=[130]) == {}  # every block is the first one


def test_what_derives_from_the_block_is_derived_for_every_block(kernel: Kernel, broken: Broken, fifo: MakeFifo) -> None:
    derived = (("twice", 2 * BLOCK), ("rows", 8 + name("twice")))
    push, pop = tpush("f", tile("Acc", name("rows"), 8)), tpop("f", tile("Vec", name("rows"), 8))
    launch = Launch(name("blocks"), expr(1))
    work = kernel((push,), (pop,), fifo(slot_bytes=10 * 32), values={"blocks": 2}, launch=launch, derived=derived)
    assert broken(work) == {}
    assert "cannot hold a tile of 384" in broken(work, blocks=[3])["f-slot-size"]


def test_a_call_that_only_some_blocks_make_counts(kernel: Kernel, broken: Broken, fifo: MakeFifo) -> None:
    push = when(BLOCK.ge(2), tpush("f", tile("Vec", 8, 8)))
    work = kernel((push,), (tpop("f", VEC),), fifo(), values={"blocks": 2}, launch=Launch(name("blocks"), expr(1)))
    assert broken(work) == {}
    assert broken(work, blocks=[3]).keys() == {"f-tile-kind"}


def test_sub_cores_have_splits_and_shapes_of_their_own(kernel: Kernel, broken: Broken, fifo: MakeFifo) -> None:
    pop = tpop("f", tile("Vec", 8 + SUB, 8), split=SUB * 9)
    found = broken(kernel((tpush("f", tile("Acc", 8, 8)),), (pop,), fifo()))
    assert found["f-split"].startswith("FIFO f: Split 9 is none of")
    assert "TPOP of 8 x 8 on AIV0" in found["f-ratio"] or "9 x 8" in found["f-layout"]


def test_sizes_beyond_64_bits_are_an_error_and_no_answer(tiles: Kernel, broken: Broken) -> None:
    huge = 2**31
    with pytest.raises(ValueError, match="too large"):
        broken(tiles(tile("Acc", huge, huge), tile("Vec", huge, huge)))
