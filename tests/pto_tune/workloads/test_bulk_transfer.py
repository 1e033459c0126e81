"""Bulk copies by a host library: what blocks take, and what is refused."""

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from cost_models import bulk, load_platform
from pto_tune.evaluation import Evaluation
from pto_tune.model import serial
from pto_tune.verdicts import VERDICTS
from pto_tune.workloads import workload
from pto_tune.workloads.bulk_transfer import TRANSPORTS

Evaluate = Callable[..., Evaluation]

DIRECTIONS = workload("bulk_transfer").problem[1].labels


def test_it_goes_through_json_and_the_check() -> None:
    work = workload("bulk_transfer")
    assert serial.check(work) == []
    assert serial.from_json(serial.to_json(work)) == work
    assert all(t.default in t.domain for t in work.tunables)


def test_its_words_are_those_of_the_model() -> None:
    assert tuple(label.lower() for label in DIRECTIONS) == bulk.DIRECTIONS
    assert bulk.LINKS == ("hccs", "supernode", "roce")
    assert [t.partition("_")[2] if t[:6] != "fabric" else t for t in TRANSPORTS] == [
        "hixl_cs", "domain", "hixl_cs", "domain", "fabric_aicpu", "fabric_streams"
    ]  # fmt: skip


@pytest.mark.parametrize("chip", ["ascend910b2", "ascend910c"])
def test_a_buffer_takes_its_blocks_one_after_the_other(chip: str, evaluate: Evaluate) -> None:
    """Every transport, direction and scope at once; what the platform has no numbers for is refused."""
    grid = np.array(list(product(range(len(TRANSPORTS)), range(8), range(2))))
    table = dict(zip(("transport", "direction", "scope"), grid.T, strict=True))
    e = evaluate("bulk_transfer", chip, {**table, "bytes": 2**27, "block_bytes": 2**17})
    platform = load_platform(chip)
    for i, (t, direction, scope) in enumerate(grid):
        link, _, how = TRANSPORTS[t].partition("_")
        way = (
            "roce" if link == "roce" else ("hccs", "supernode")[scope],
            TRANSPORTS[t] if link == "fabric" else how,
            DIRECTIONS[direction].lower(),
        )
        if bulk.has(platform, *way):
            assert e.verdict[i] == 0, e.reason(i)
            block = float(bulk.block_cycles(platform, *way, 2**17))
            assert e.cycles[i] == pytest.approx(2**10 * block, rel=1e-3)
        else:
            assert VERDICTS[e.verdict[i]] == "refused"
            assert f"no numbers for {way[2]} by {way[1]} over {way[0]}" in e.reason(i)
    assert (e.verdict == 0).sum() == {"ascend910b2": 2 * 16 + 2 * 2, "ascend910c": 2 * 16 + (4 + 3) * 8}[chip]


def test_the_last_block_has_what_is_left(evaluate: Evaluate) -> None:
    b2 = load_platform("ascend910b2")
    size = 3 * 2**20 + 2**19
    e = evaluate("bulk_transfer", "ascend910b2", {"bytes": [size, 2**19], "block_bytes": 2**20})
    full, part = (float(bulk.block_cycles(b2, "roce", "hixl_cs", "d2rd", n)) for n in (2**20, 2**19))
    assert e.cycles[0] == pytest.approx(3 * full + part, rel=1e-3)
    assert e.cycles[1] == pytest.approx(part, rel=1e-2)


def test_small_blocks_cost_more_and_the_time_is_in_proportion_to_the_bytes(evaluate: Evaluate) -> None:
    table = {"bytes": [2**27, 2**27, 2**30], "block_bytes": [2**14, 2**21, 2**21], "transport": 4}
    e = evaluate("bulk_transfer", "ascend910c", table)
    assert e.cycles[0] > 5 * e.cycles[1]
    assert e.cycles[2] == pytest.approx(8 * e.cycles[1], rel=1e-3)


def test_950_is_refused(evaluate: Evaluate) -> None:
    e = evaluate("bulk_transfer", "ascend950pr")
    assert e.reason(0).endswith("choose another platform or direction")
