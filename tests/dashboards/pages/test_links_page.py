"""The page of links: what an address asks for, and what its callbacks answer, without a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from page_calls import calls_of

from dashboards.pages.links import calls
from dashboards.pages.links.calls import Asked
from dashboards.pages.links.page import PAGE
from dashboards.site.page import place
from dashboards.site.state import Site
from db import open_store

MENUS = (["ascend910b2"], "time", 4, 2**20, 1)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The page needs no run: the store is empty."""
    with open_store(f"sqlite:///{tmp_path_factory.mktemp('links') / 'runs.db'}") as store:
        found = Site(store)
        yield found
        found.close()


@pytest.fixture(scope="module")
def answers(site: Site) -> dict[str, Callable[..., Any]]:
    """The page's callbacks by name."""
    return calls_of(PAGE, site)


def test_an_address_says_what_is_shown_and_the_default_says_nothing() -> None:
    assert Asked.of({}) == Asked()
    assert Asked().query() == {}
    asked = Asked(("ascend910c",), "bandwidth", 8, 2**16, 4, "tput_pingpong", "blocks", "ping_pong")
    assert Asked.of(asked.query()) == asked


def test_what_an_address_asks_for_in_vain_is_named_and_replaced() -> None:
    asked = Asked.of({"platforms": "ascend910b2,<b>", "view": "3d", "tile": "5", "other": "gemm", "by": "nope"})
    assert (asked.platforms, asked.view, asked.tile, asked.other) == (("ascend910b2",), "time", 4, "allgather_gemm")
    assert asked.complaints[0] == "there is no built-in platform '<b>'"
    assert [c.split()[0] for c in asked.complaints[1:]] == ["other", "by", "view", "tile"]


def test_lines_over_and_by_one_tunable_are_kept_apart() -> None:
    asked = Asked.of({"other": "tput_pingpong", "x": "wait"})
    assert asked.x == "wait"
    assert asked.by != "wait"


def test_workloads_with_ranks_are_offered() -> None:
    found = calls.workloads_with_ranks()
    assert {"tget_bandwidth", "tput_pingpong", "gemm_allreduce"} <= set(found)
    assert "gemm" not in found


@pytest.mark.parametrize("search", ["", "?platforms=none", "?view=bandwidth&blocks=16&tile=32", "?other=moe_dispatch"])
def test_the_page_of_an_address(site: Site, search: str) -> None:
    assert "Links" in str(PAGE.layout(site, place({}, search)))


def test_figures_follow_the_menus(answers: dict[str, Any]) -> None:
    get, _, put, _, _, note = answers["draw_sizes"](*MENUS, "light")
    assert [trace.name for trace in get.data] == ["TGET", "TGET, ping-pong", "TGET_ASYNC (SDMA)"]
    assert [trace.name for trace in put.data] == ["TPUT", "TPUT, ping-pong"]
    assert note.startswith("Staging tile of 16 KiB, one block.")
    two = answers["draw_sizes"](["ascend910b2", "ascend910c"], *MENUS[1:], "dark")[0]
    assert len(two.data) == 6
    tiles, _, _ = answers["draw_tiles"](*MENUS, "light")
    assert len(tiles.data) == 4
    waits, _, less, _, _ = answers["draw_waits"](MENUS[0], "bandwidth", *MENUS[2:], "light")
    assert waits.layout.yaxis.title.text == "Effective bandwidth (GB/s)"
    assert less.layout.yaxis.title.text == "Difference (ns)"


def test_a_workload_with_ranks_over_a_tunable(answers: dict[str, Any]) -> None:
    figure, _, note = answers["draw_other"](*MENUS, "tput_pingpong", "blocks", "wait", "light")
    assert [trace.name for trace in figure.data] == ["wait TWAIT", "wait TTEST"]
    assert note.startswith("tput_pingpong on ascend910b2.")
    names, x, _, by = answers["offer"]("tput_pingpong")
    assert x in names
    assert by in names
    assert x != by


def test_one_tunable_for_both_is_told(answers: dict[str, Any]) -> None:
    figure = answers["draw_other"](*MENUS, "tput_pingpong", "wait", "wait", "light")[0]
    assert not figure.data
    assert "two different tunables" in figure.layout.annotations[0].text.replace("<br>", " ")


def test_without_a_platform_the_page_says_what_to_do(answers: dict[str, Any]) -> None:
    get, *_ = answers["draw_sizes"]([], *MENUS[1:], "light")
    assert "Choose a platform" in get.layout.annotations[0].text


def test_the_menus_stand_in_the_address(answers: dict[str, Any]) -> None:
    assert answers["keep"](list(Asked().platforms), *MENUS[1:], *("allgather_gemm", "stage_rows", "wait")) == {}
    said = answers["keep"]([], "bandwidth", *MENUS[2:], "allgather_gemm", "stage_rows", "wait")
    assert said == {"platforms": "none", "view": "bandwidth"}


def test_lines_are_evaluated_once() -> None:
    asked = Asked(("ascend910b2",))
    assert calls.lines_of("size", asked)[0] is calls.lines_of("size", asked)[0]
    with pytest.raises(ValueError, match="no part 'else'"):
        calls.lines_of("else", asked)
