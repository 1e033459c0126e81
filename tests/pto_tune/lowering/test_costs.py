"""Durations and bytes of the costs that stay within a cube core and its vector sub-cores."""

import pytest

from cost_models import dma, fixpipe, load_platform
from pto_tune.lowering.costs import MODELS, cost_bytes, cost_cycles
from pto_tune.model import vocabulary as v
from pto_tune.model.expr import name
from pto_tune.model.nodes import Cost

PR = load_platform("ascend950pr")
B2 = load_platform("ascend910b2")


def test_a_drain_into_ub_is_priced_by_the_fixpipe_and_moves_nothing_through_l2() -> None:
    cost = v.drain_ub(name("rows"), 128, 4)
    assert tuple(key for key, _ in cost.args) == MODELS["drain_ub"] == ("rows", "cols", "out_bytes")
    assert cost_cycles(PR, cost, {"rows": 64}) == fixpipe.drain_cycles(PR, 64, 128, 4, "ub")
    assert cost_bytes(PR, cost, {"rows": 64}) == (0, 0, 0)


def test_a_copy_from_ub_to_l1_moves_nothing_through_l2() -> None:
    cost = v.dma("ub_to_l1", 16384, 2048)
    assert cost_cycles(PR, cost, {}) == dma.transfer_cycles(PR, "ub_to_l1", 16384, 2048)
    assert cost_bytes(PR, cost, {}) == (0, 0, 0)


@pytest.mark.parametrize("cost", [v.drain_ub(64, 128, 4), v.dma("ub_to_l1", 16384, 2048)], ids=lambda c: c.model)
def test_a_platform_without_the_path_says_so(cost: Cost) -> None:
    with pytest.raises(ValueError, match=r"platform 'ascend910b2' \(family a2a3\) has no "):
        cost_cycles(B2, cost, {})


def test_a_byte_from_hbm_holds_the_way_from_l2_for_as_long_as_hbm_takes() -> None:
    """Cold and warm reads add up: of 4 MB, one of them cold, reading takes what 1 MB from HBM and 3 from L2 take."""
    l2, reads, hbm = cost_bytes(B2, v.dma("gm_to_ub", 4_000_000, 4096, 1_000_000), {})
    assert (l2, hbm) == (4_000_000, 1_000_000)
    both = 3_000_000 / B2["l2.read_bandwidth"] + 1_000_000 / B2["hbm.bandwidth"]
    assert reads / B2["l2.read_bandwidth"] == pytest.approx(both, rel=1e-6)
    assert cost_bytes(B2, v.dma("gm_to_ub", 4096, 4096), {}) == (4096, 4096, 0)
    assert cost_bytes(B2, v.dma("ub_to_gm", 4096, 4096, 4096), {}) == (4096, 0, 4096)


def test_a_wait_for_hbm_takes_what_all_active_cores_bring_and_moves_nothing_itself() -> None:
    cost = v.hbm_wait(name("bytes"), name("blocks"))
    assert tuple(key for key, _ in cost.args) == MODELS["hbm_wait"]
    few, all_cores, waves = (cost_cycles(B2, cost, {"bytes": 6000, "blocks": n}) for n in (6, 24, 48))
    assert all_cores == pytest.approx(24 * 6000 / B2["hbm.bandwidth"])
    assert few == all_cores / 4
    assert waves == all_cores, "more blocks than cores take turns"
    assert cost_bytes(B2, cost, {"bytes": 6000, "blocks": 24}) == (0, 0, 0)
