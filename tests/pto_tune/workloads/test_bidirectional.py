"""One DIR_BOTH pipe: two rings, two ways of waiting for each other."""

from collections.abc import Callable

import numpy as np
import pytest

from pto_tune.evaluation import Evaluation

Evaluate = Callable[..., Evaluation]
Verdict = Callable[..., str]

A2, A5 = "ascend910b2", "ascend950pr"
both_chips = pytest.mark.parametrize("chip", [A2, A5])
SLOT = 128 * 64 * 4


def test_two_rings_in_gm_or_one_in_the_memory_of_each_consumer(evaluate: Evaluate) -> None:
    config = {"rows": 128}  # one block
    a2, a5 = (evaluate("bidirectional", chip, config) for chip in (A2, A5))
    assert a2.bytes["GM_ring"][0] == 2 * 4 * SLOT
    assert a5.bytes["GM_ring"][0] == 0
    own_ub, own_l1 = 2 * 64 * 64 * 2 + 64 * 64 * 4, 128 * 128 * 2 + 4 * 64 * 128 * 2
    assert (a2.bytes["UB"][0], a2.bytes["L1"][0]) == (2 * SLOT + own_ub, 2 * SLOT + own_l1)
    assert (a5.bytes["UB"][0], a5.bytes["L1"][0]) == (4 * SLOT + own_ub, 4 * SLOT + own_l1)


@both_chips
@pytest.mark.parametrize(("preload", "depth", "expected"), [(1, 1, "ok"), (2, 1, "ok"), (8, 1, "hang"), (8, 6, "ok")])
def test_a_preload_beyond_both_rings_hangs(
    chip: str, preload: int, depth: int, expected: str, verdict: Verdict
) -> None:
    config = {"preload": preload, "fifo_depth": depth, "tile_n": 32}
    assert verdict("bidirectional", chip, config) == expected


def test_waiting_on_a_pipe_lets_the_cube_run_further_ahead(verdict: Verdict) -> None:
    """A2/A3: the space wait holds the whole core, the second product included; 950: the fixpipe alone."""
    config = {"preload": 4, "fifo_depth": 1}
    assert (verdict("bidirectional", A2, config), verdict("bidirectional", A5, config)) == ("hang", "ok")


def test_odd_depths_overwrite_where_the_preload_reaches_them(verdict: Verdict) -> None:
    """SlotNum 5, SyncPeriod 2: the first wait comes at the sixth tile."""
    deep = {"fifo_depth": 5, "tile_n": 32}
    assert verdict("bidirectional", A2, {**deep, "preload": 6}).startswith("overwrite")
    assert verdict("bidirectional", A2, {**deep, "preload": 2}) == "ok"


@both_chips
def test_running_ahead_hides_the_way_there_and_back(chip: str, evaluate: Evaluate) -> None:
    e = evaluate("bidirectional", chip, {"preload": np.array([1, 2, 4])})
    assert e.cycles[0] > e.cycles[1] >= e.cycles[2]


def test_up_down_beats_left_right_beats_no_split_where_the_vector_binds(evaluate: Evaluate) -> None:
    config = {"head": 32, "tile_m": 64, "tile_n": 128, "fifo_depth": 8, "preload": 4}
    e = evaluate("bidirectional", A2, {**config, "split": np.array([1, 2, 0])})
    assert all(bound.endswith(".V") for bound in e.bound_names())
    assert e.cycles[0] < e.cycles[1] < e.cycles[2]
    # one sub-core of two does all of the vector work, and flags and loads remain as they are
    assert e.cycles[2] > 1.4 * e.cycles[0]


def test_left_right_of_narrow_tiles_is_refused_on_950(verdict: Verdict) -> None:
    narrow = {"tile_n": 16, "split": 2}
    assert verdict("bidirectional", A5, narrow).startswith("refused")
    assert verdict("bidirectional", A2, narrow) == "ok"


def test_on_chip_rings_beat_rings_in_gm(evaluate: Evaluate) -> None:
    """The same work in microseconds: what a 950 saves is the way through GM."""
    a2, a5 = (evaluate("bidirectional", chip).bytes["GM_traffic"][0] for chip in (A2, A5))
    assert a5 < a2 / 3


@both_chips
@pytest.mark.parametrize("rules", ["rendezvous", "full-period"])
def test_other_headers_are_not_faster(chip: str, rules: str, evaluate: Evaluate) -> None:
    family = "a2a3" if chip == A2 else "a5"
    default = evaluate("bidirectional", chip, {}, family).cycles[0]
    assert evaluate("bidirectional", chip, {}, f"{family}-{rules}").cycles[0] >= default
