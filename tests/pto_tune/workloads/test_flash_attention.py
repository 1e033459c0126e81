"""Flash attention of the public kernel: heads, causal masks, fewer blocks than cores, on both families."""

from collections.abc import Callable

import numpy as np
import pytest

from cost_models import load_platform
from pto_tune.evaluation import Evaluation

Evaluate = Callable[..., Evaluation]
Verdict = Callable[..., str]

CHIPS = {"ascend910b2": "a2a3", "ascend950pr": "a5"}
on_each_chip = pytest.mark.parametrize("chip", CHIPS)


@on_each_chip
@pytest.mark.parametrize(("head", "tiles"), [(64, 128), (128, 128), (192, 64), (256, 64)])
def test_heads_from_64_to_256(head: int, tiles: int, chip: str, verdict: Verdict) -> None:
    """L0A and L0B hold two tiles of `head` columns: from 192 on they have 64 rows."""
    config = {"head": head, "cube_s0": tiles, "cube_s1": tiles, "tile_s1": 256}
    assert verdict("flash_attention", chip, config, CHIPS[chip]) == "ok"
    if tiles == 64:
        assert verdict("flash_attention", chip, {**config, "cube_s0": 128, "cube_s1": 128}) == "refused"


@on_each_chip
def test_fewer_blocks_than_cores_take_no_longer_than_all(chip: str, evaluate: Evaluate) -> None:
    """A block shares nothing but bandwidth: one more than there are cores is a second wave."""
    cores = int(load_platform(chip)["cores.cube"])
    e = evaluate("flash_attention", chip, {"s0": np.array([1, cores, cores + 1]) * 128, "s1": 8192})
    one, all_cores, more = e.cycles
    assert one <= all_cores < more
    assert more < 2.1 * all_cores


@on_each_chip
def test_a_causal_mask_saves_up_to_half(chip: str, evaluate: Evaluate) -> None:
    full, masked = evaluate("flash_attention", chip, {"s0": 16384, "s1": 16384, "causal": np.array([0, 1])}).cycles
    assert 0.5 < masked / full < 0.7


def test_a_ring_without_flags_says_why_it_is_too_small(evaluate: Evaluate) -> None:
    """The factors of the running maximum: as many slots as tiles in flight, none for the tile that is being read."""
    config = {"s0": 1024, "s1": 4096, "cube_s0": 64, "tile_s1": 128, "qk_preload": 6, "fifo_depth": 6}
    e = evaluate("flash_attention", "ascend910b2", config)
    assert "AIV0.exp_max: tile 6" in e.reason(0)
    assert any("one for the tile that is read" in text for text in e.also(0))
