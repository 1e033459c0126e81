"""Bulk copies between ranks: how the time of a block behaves, and which there are numbers for."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cost_models import Platform, bulk, load_platform
from cost_models.platform import check_file

Write = Callable[..., Path]

CHIPS = {name: load_platform(name) for name in ("ascend910b2", "ascend910c")}
EVERY = [
    (chip, link, transport, direction)
    for chip, platform in CHIPS.items()
    for link in bulk.LINKS
    for transport in bulk.TRANSPORTS
    for direction in bulk.DIRECTIONS
    if bulk.has(platform, link, transport, direction)
]


def us(chip: str, link: str, transport: str, direction: str, size: int) -> float:
    platform = CHIPS[chip]
    return float(bulk.block_cycles(platform, link, transport, direction, size)) / platform["clock.core_mhz"]


def test_910b_copies_between_devices_by_hccs_and_anywhere_by_roce() -> None:
    found = {(link, transport, d) for chip, link, transport, d in EVERY if chip == "ascend910b2"}
    hccs = {("hccs", t, d) for t in ("hixl_cs", "domain") for d in ("d2rd", "rd2d")}
    assert found == hccs | {("roce", t, d) for t in ("hixl_cs", "domain") for d in bulk.DIRECTIONS}


def test_910c_maps_memory_in_a_node_and_in_a_supernode() -> None:
    found = {(link, transport) for chip, link, transport, _ in EVERY if chip == "ascend910c"}
    assert found == {
        *(("hccs", t) for t in bulk.TRANSPORTS),
        *(("supernode", t) for t in bulk.TRANSPORTS if t != "hixl_cs"),
        ("roce", "hixl_cs"), ("roce", "domain"),
    }  # fmt: skip


def test_950_has_none() -> None:
    pr = load_platform("ascend950pr")
    assert not any(bulk.has(pr, x, y, z) for x in bulk.LINKS for y in bulk.TRANSPORTS for z in bulk.DIRECTIONS)
    with pytest.raises(ValueError, match="has no numbers for d2rd by domain over roce: choose another platform or dir"):
        bulk.block_cycles(pr, "roce", "domain", "d2rd", 1)


def test_small_blocks_take_what_posting_takes_and_large_ones_their_bytes() -> None:
    c = CHIPS["ascend910c"]
    way = ("hccs", "fabric_streams", "d2rd")
    assert bulk.block_cycles(c, *way, 16384) == c["bulk.hccs.fabric_streams.interval"]
    assert bulk.block_cycles(c, *way, 2**24) == pytest.approx(
        c["bulk.hccs.fabric_streams.startup"] + 2**24 / c["link.hccs.put.pair_capacity"]
    )


def test_host_memory_has_rates_of_its_own_but_over_roce() -> None:
    c = CHIPS["ascend910c"]
    big = 2**30
    for direction, rate in (
        ("rd2d", "link.hccs.get.pair_capacity"), ("d2rh", "bulk.hccs.d2rh_rate"), ("rh2h", "bulk.hccs.h2rh_rate")
    ):  # fmt: skip
        assert big / bulk.block_cycles(c, "hccs", "fabric_aicpu", direction, big) == pytest.approx(c[rate], rel=1e-3)
    assert len({float(bulk.block_cycles(c, "roce", "hixl_cs", d, big)) for d in bulk.DIRECTIONS}) == 1


def test_host_memory_on_either_side_delays_posting() -> None:
    c = CHIPS["ascend910c"]
    bare, near, far = (c[f"bulk.hccs.fabric_aicpu.{p}"] for p in ("interval", "near_host", "far_host"))
    for direction, expected in (
        ("d2rd", bare), ("d2rh", bare + far), ("rh2d", bare + far), ("h2rd", bare + near), ("rd2h", bare + near),
        ("h2rh", bare + near + far), ("rh2h", bare + near + far),
    ):  # fmt: skip
        assert bulk.block_cycles(c, "hccs", "fabric_aicpu", direction, 1) == expected, direction


@given(st.sampled_from(EVERY), st.integers(0, 2**30), st.integers(0, 2**30))
def test_more_bytes_are_never_cheaper_nor_slower_by_the_byte(case: tuple[str, str, str, str], a: int, b: int) -> None:
    chip, *way = case
    less, more = bulk.block_cycles(CHIPS[chip], *way, np.array(sorted((a, b))))
    assert less <= more
    if min(a, b):
        assert more * min(a, b) <= less * max(a, b) * (1 + 1e-12)


def test_times_do_not_scale_with_the_core() -> None:
    b2 = CHIPS["ascend910b2"]
    slow = load_platform("ascend910b2", {"clock.core_mhz": 900})
    way = ("roce", "hixl_cs", "d2rh", 2**20)
    assert bulk.block_cycles(slow, *way) * 2 == pytest.approx(bulk.block_cycles(b2, *way), rel=1e-6)


# hicann/hixl benchmarks/performance_en.md: GB/s of 128 MiB; none of these rows is fitted to
@pytest.mark.parametrize(
    ("chip", "link", "transport", "direction", "kib", "gb_s"),
    [
        ("ascend910b2", "hccs", "hixl_cs", "d2rd", 128, 17.787), ("ascend910b2", "hccs", "hixl_cs", "rd2d", 32, 15.453),
        ("ascend910b2", "roce", "domain", "h2rd", 32, 1.432), ("ascend910b2", "roce", "hixl_cs", "d2rd", 1024, 23.596),
        ("ascend910c", "hccs", "fabric_streams", "rd2d", 32, 5.677),
        ("ascend910c", "hccs", "fabric_aicpu", "rd2d", 128, 90.275),
        ("ascend910c", "supernode", "fabric_aicpu", "rh2h", 128, 16.304),
        ("ascend910c", "supernode", "fabric_streams", "d2rh", 1024, 62.579),
    ],
)  # fmt: skip
def test_published_bandwidths(chip: str, link: str, transport: str, direction: str, kib: int, gb_s: float) -> None:
    size = kib * 1024
    assert size / us(chip, link, transport, direction, size) / 1e3 == pytest.approx(gb_s, rel=0.2)


@pytest.mark.parametrize(
    ("way", "message"),
    [
        (("sio", "domain", "d2rd"), "unknown link 'sio'; choose one of hccs, supernode, roce"),
        (("hccs", "rdma", "d2rd"), "unknown transport 'rdma'; choose one of hixl_cs, domain, fabric_aicpu"),
        (("hccs", "domain", "d2d"), "unknown direction 'd2d'; choose one of d2rd, rd2d"),
        (("hccs", "domain", "h2rd"), "for h2rd by domain over hccs: choose one of hixl_cs over roce, domain over roce"),
    ],
)
def test_what_there_is_not_is_refused(way: tuple[str, str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bulk.block_cycles(CHIPS["ascend910b2"], *way, 1)


def test_less_than_no_bytes_are_refused() -> None:
    with pytest.raises(ValueError, match="bytes_"):
        bulk.block_cycles(CHIPS["ascend910b2"], "roce", "domain", "d2rd", -1)


def test_a_transport_is_given_as_a_whole(write: Write) -> None:
    key = "bulk.supernode.hixl_cs.interval"
    head = '[platform]\nname = "board"\ninherits = "ascend910c"\ndescription = "a board of the user"\n'
    number = f'[{key}]\nvalue = 1\nunit = "ns"\nkind = "assumed"\nsource = "assumed: for a test"\n'
    (error,) = check_file(write(number, head=head))
    other = re.escape("bulk.supernode.hixl_cs.startup: is missing; give bulk.supernode.hixl_cs.interval and ")
    assert re.search(other, error)


@pytest.mark.parametrize("platform", CHIPS.values(), ids=lambda p: p.name)
def test_every_number_has_a_range_and_all_but_those_that_nothing_is_seen_of_are_fitted(platform: Platform) -> None:
    numbers = [n for key, n in platform.numbers.items() if key.startswith("bulk.")]
    unseen = {"ascend910b2": {"bulk.hccs.hixl_cs.interval"}, "ascend910c": {"bulk.hccs.fabric_streams.startup"}}[
        platform.name
    ]
    assert unseen < {n.key for n in numbers}
    for n in numbers:
        assert n.base_low is not None
        assert n.base_high is not None
        if n.key in unseen:
            assert n.kind == "assumed"
        else:
            assert n.kind == "fitted"
            assert n.source.startswith("pto-tune calibrate: ")
            assert n.source.endswith(" from hicann/hixl benchmarks/performance_en.md")
