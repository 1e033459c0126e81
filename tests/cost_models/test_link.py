"""Links between ranks: which one joins two ranks, and how the cost of an operation behaves."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cost_models import Platform, PlatformError, dma, link, load_platform, platform_names
from cost_models.keys import OPTIONAL_KEYS
from cost_models.platform import check_file

Write = Callable[..., Path]

A3 = """
[platform]
name = "board"
inherits = "ascend910c-base"
description = "a board of the user"
"""
A3_DIE = "".join(
    f'[{key}]\nvalue = {value}\nunit = "{unit}"\nkind = "assumed"\nsource = "assumed: for a test"\n'
    for key, value, unit in (
        ("clock.core_mhz", 1850, "MHz"),
        ("cores.cube", 24, "count"),
        ("memory.l2", 192, "MiB"),
    )
)
PLATFORMS = [load_platform(name) for name in platform_names()]


@pytest.fixture
def a3(write: Write) -> Platform:
    return load_platform(write(A3_DIE, head=A3))


# topology


def test_a_node_of_910b_is_a_full_mesh_of_eight(b2: Platform) -> None:
    for a in range(8):
        for b in range(8):
            if a != b:
                assert link.kind_between(b2, a, b) == "hccs"
    assert link.kind_between(b2, 7, 8) == "roce"
    assert link.kind_between(b2, 8, 15) == "hccs"


def test_a_job_may_have_fewer_ranks_on_a_node(b2: Platform) -> None:
    assert link.kind_between(b2, 3, 4, ranks_per_node=4) == "roce"
    assert link.kind_between(b2, 4, 7, ranks_per_node=4) == "hccs"


def test_two_dies_of_a_910c_package_have_a_link_of_their_own(a3: Platform) -> None:
    assert link.kind_between(a3, 0, 1) == "sio"
    assert link.kind_between(a3, 1, 2) == "hccs"
    assert link.kind_between(a3, 14, 15) == "sio"
    assert link.kind_between(a3, 15, 16) == "supernode"
    assert link.kind_between(a3, 0, 16 * 48 - 1) == "supernode"
    assert link.kind_between(a3, 0, 16 * 48) == "roce"


def test_a_rank_a_node_is_no_pair_of_a_package(a3: Platform) -> None:
    assert link.kind_between(a3, 0, 1, ranks_per_node=1) == "supernode"


def test_950_is_joined_by_its_bus_throughout_a_supernode(pr: Platform) -> None:
    assert link.kind_between(pr, 0, 7) == "ub"
    several = pr.with_values({"topology.nodes_per_supernode": 4})
    assert link.kind_between(several, 0, 31) == "ub"
    with pytest.raises(ValueError, match="'ascend950pr' has no link between ranks 0 and 32 with 8 ranks a node"):
        link.kind_between(several, 0, 32)


@given(st.integers(0, 2000), st.integers(0, 2000))
def test_both_ranks_see_the_same_link(a: int, b: int) -> None:
    if a != b:
        assert link.kind_between(PLATFORMS[0], a, b) == link.kind_between(PLATFORMS[0], b, a)


@pytest.mark.parametrize(
    ("ranks", "message"),
    [
        ((-1, 2), "rank_a is -1; give a whole number of at least 0"),
        ((1, -2), "rank_b is -2; give a whole number of at least 0"),
        ((3, 3), "both 3; give two different ranks"),
        ((0, 1, 0), "ranks_per_node is 0"),
    ],
)
def test_ranks_that_no_link_joins(b2: Platform, ranks: tuple[int, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        link.kind_between(b2, *ranks)


def test_a_node_does_not_split_a_package(a3: Platform) -> None:
    with pytest.raises(ValueError, match="ranks_per_node is 3; give a multiple of the 2 ranks of a package"):
        link.kind_between(a3, 0, 1, ranks_per_node=3)


def test_a_level_without_numbers_says_so(b2: Platform) -> None:
    pairs = b2.with_values({"topology.ranks_per_package": 2})
    with pytest.raises(ValueError, match="no numbers for the link 'sio' between ranks 0 and 1"):
        link.kind_between(pairs, 0, 1)


# what a file says about links


def test_kinds_by_platform(b2: Platform, pr: Platform, a3: Platform) -> None:
    assert link.kinds(b2) == ["hccs", "roce"]
    assert link.kinds(pr) == ["ub"]
    assert link.kinds(a3) == ["sio", "hccs", "supernode", "roce"]
    assert {key for key in OPTIONAL_KEYS if key.startswith("link.")} <= set(a3)


def test_the_die_of_910c_has_to_be_given(write: Write) -> None:
    with pytest.raises(PlatformError) as caught:
        load_platform(write("", head=A3))
    missing = [line.split(": ")[1] for line in str(caught.value).splitlines()]
    assert missing == ["clock.core_mhz", "cores.cube", "memory.l2"]


def test_links_state_times_that_do_not_scale_with_the_core(b2: Platform) -> None:
    number = b2.numbers["link.hccs.get.latency"]
    assert (number.unit, number.base_unit) == ("ns", "cycles")
    assert number.base == pytest.approx(number.value * 1.8)
    slow = b2.with_values({"clock.core_mhz": 900})
    assert slow["link.hccs.get.latency"] == pytest.approx(number.base / 2)
    assert slow["link.hccs.get.startup"] == b2["link.hccs.get.startup"]


def _number(key: str, value: float, unit: str) -> str:
    return f'[{key}]\nvalue = {value}\nunit = "{unit}"\nkind = "spec"\nsource = "data sheet"\n'


def test_a_kind_of_link_is_given_as_a_whole(write: Write) -> None:
    errors = check_file(write(_number("link.sio.put.rate", 20, "GB/s")))
    assert len(errors) == 15
    assert all(error.endswith("is missing; give all numbers of a kind of link together") for error in errors)


def test_pairs_need_the_link_between_them(write: Write) -> None:
    (error,) = check_file(write(_number("topology.ranks_per_package", 2, "count")))
    assert error.endswith("topology.ranks_per_package: is 2, but there is no link.sio; give its numbers, or 1")


def test_packages_fill_a_node(write: Write) -> None:
    path = write(A3_DIE + _number("topology.ranks_per_node", 7, "count"), head=A3)
    (error,) = check_file(path)
    assert error.endswith("topology.ranks_per_node: is 7; give a multiple of the 2 ranks of a package")


@pytest.mark.parametrize("key", ["link.ub.put.rate", "link.hccs.put.rte", "link.sio.put.rte"])
def test_other_links_are_refused(write: Write, key: str) -> None:
    (error,) = check_file(write(_number(key, 20, "GB/s")))
    assert f"{key}: " in error


@pytest.mark.parametrize("platform", PLATFORMS, ids=lambda p: p.name)
def test_what_one_core_does_is_named_as_assumed(platform: Platform) -> None:
    for kind in link.kinds(platform):
        for direction in link.DIRECTIONS:
            kinds = {key: platform.numbers[key].kind for key in link.number_keys(platform, kind, direction)}
            assert kinds[f"link.{kind}.{direction}.rate"] == "assumed"


# costs


def test_an_operation_is_start_up_and_bytes(b2: Platform) -> None:
    start, rate = b2["link.hccs.put.startup"], b2["link.hccs.put.rate"]
    assert link.transfer_cycles(b2, "hccs", "put", 65536, 512) == pytest.approx(start + 65536 / rate)
    adding = link.transfer_cycles(b2, "hccs", "put", 65536, 512, atomic=True)
    assert adding == pytest.approx(start + 2 * 65536 / rate)
    assert link.drawn_bytes(b2, 65536, atomic=True) == 2 * 65536
    assert link.drawn_bytes(b2, 65536) == 65536


def test_short_bursts_cost_what_they_cost_locally(b2: Platform) -> None:
    cycles = link.transfer_cycles(b2, "hccs", "get", 64 * 32, 32)
    assert cycles == pytest.approx(b2["link.hccs.get.startup"] + 64 * b2["dma.gm_to_ub.burst"])


def test_arrays_and_scalars_broadcast(b2: Platform) -> None:
    sizes = np.array([[4096.0], [65536.0]])
    for engine in link.ENGINES:
        found = link.transfer_cycles(b2, "hccs", "get", sizes, [512, 1024, 4096], engine)
        assert found.shape == (2, 3)
        assert found.dtype == np.float64
        assert found[1, 2] == link.transfer_cycles(b2, "hccs", "get", 65536, 4096, engine)


@pytest.mark.parametrize("platform", PLATFORMS, ids=lambda p: p.name)
@given(
    small=st.integers(0, 1 << 22),
    more=st.integers(0, 1 << 22),
    burst=st.integers(32, 1 << 16),
    slower=st.floats(0.05, 1.0),
)
def test_more_bytes_are_never_cheaper_and_slower_links_never_faster(
    platform: Platform, small: int, more: int, burst: int, slower: float
) -> None:
    for kind in link.kinds(platform):
        for direction in link.DIRECTIONS:
            for engine in link.engines(platform, kind):
                few, many = link.transfer_cycles(platform, kind, direction, [small, small + more], burst, engine)
                assert 0 <= few <= many
                rate = f"link.{kind}.{direction}.{'rate' if engine == 'core' else 'sdma_rate'}"
                slow = platform.with_values({rate: slower * platform[rate]})
                assert link.transfer_cycles(slow, kind, direction, small, burst, engine) >= few


@pytest.mark.parametrize("platform", PLATFORMS, ids=lambda p: p.name)
def test_remote_is_never_cheaper_than_local(platform: Platform) -> None:
    sizes, bursts = [0, 512, 4096, 65536], [512, 512, 512, 512]
    for kind in link.kinds(platform):
        for direction, path in (("put", "ub_to_gm"), ("get", "gm_to_ub")):
            remote = link.transfer_cycles(platform, kind, direction, sizes, bursts)
            assert (remote >= dma.transfer_cycles(platform, path, sizes, bursts)).all()
            assert link.latency_cycles(platform, kind, direction) >= dma.latency_cycles(platform, path)


@pytest.mark.parametrize("platform", PLATFORMS, ids=lambda p: p.name)
def test_what_is_shared_is_no_less_than_its_parts(platform: Platform) -> None:
    for kind in link.kinds(platform):
        for direction in link.DIRECTIONS:
            pair, out, into = (link.capacity_bytes_per_cycle(platform, kind, direction, scope) for scope in link.SCOPES)
            assert platform[f"link.{kind}.{direction}.rate"] <= pair <= min(out, into)


def test_words_that_are_no_link(b2: Platform, pr: Platform) -> None:
    with pytest.raises(ValueError, match="unknown link 'pcie'; choose one of hccs, roce"):
        link.latency_cycles(b2, "pcie", "put")
    with pytest.raises(ValueError, match="platform 'ascend950pr' has no link 'hccs'; choose one of ub"):
        link.transfer_cycles(pr, "hccs", "put", 1, 1)
    with pytest.raises(ValueError, match="unknown direction 'push'; choose one of put, get"):
        link.latency_cycles(b2, "hccs", "push")
    with pytest.raises(ValueError, match="unknown scope 'all'; choose one of pair, out, in"):
        link.capacity_bytes_per_cycle(b2, "hccs", "put", "all")
    with pytest.raises(ValueError, match="link 'roce' has no engine 'sdma'; choose one of core"):
        link.transfer_cycles(b2, "roce", "get", 1, 1, "sdma")
    with pytest.raises(ValueError, match="link 'roce' has no engine 'sdma'"):
        link.number_keys(b2, "roce", "get", "sdma")
    with pytest.raises(ValueError, match="bytes_ contains -1"):
        link.transfer_cycles(b2, "hccs", "get", -1, 1)
    with pytest.raises(ValueError, match="burst_bytes contains 0"):
        link.transfer_cycles(b2, "hccs", "get", 1, 0, "sdma")


@pytest.mark.parametrize(("direction", "engine"), [("get", "core"), ("put", "sdma"), ("get", "sdma")])
def test_only_a_put_of_a_core_adds(b2: Platform, direction: str, engine: str) -> None:
    with pytest.raises(ValueError, match="can not add; give atomic with a put of engine 'core' only"):
        link.transfer_cycles(b2, "hccs", direction, 64, 64, engine, atomic=True)
