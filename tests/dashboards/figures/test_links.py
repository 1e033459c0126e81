"""Transfers between ranks over size, staging tile and way of waiting."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from cost_models.platform import load_platform
from dashboards.figures import links
from dashboards.figures.links import ROUNDS, SIZES, TILE_COLUMNS, TILE_ROWS, TIMING, Line
from dashboards.figures.links_drawing import BANDWIDTH, DIFFERENCE, TIME, links_figure
from pto_tune.api import evaluate
from pto_tune.evaluation import Problem
from pto_tune.workloads import workload


@cache
def problem_of(name: str) -> Problem:
    return Problem.of(workload(name), load_platform("ascend910b2"), timing=TIMING)


def made(**more: object) -> Line:
    fields: dict[str, object] = {
        "workload": "w", "platform": "p", "kind": "k", "x_name": "bytes", "x": (4096, 8192),
        "time_us": np.array([2.0, np.nan]), "moved": np.array([4096, 8192]), "why": ("", "refused: too <large>"),
        "values": {"tile_rows": 4},
    }  # fmt: skip
    return Line(**{**fields, **more})  # type: ignore[arg-type]


def test_tget_over_sizes_is_what_the_workload_takes() -> None:
    found = {line.kind: line for line in links.over_sizes(problem_of, 4)}
    expected = evaluate(
        "tget_bandwidth",
        {"bytes": list(SIZES), "tile_rows": 4, "tile_cols": TILE_COLUMNS, "ping_pong": 1},
        timing=TIMING,
    )
    assert found["TGET, ping-pong"].time_us == pytest.approx(expected["time_us"].to_numpy())
    assert found["TGET"].x == SIZES


def test_tput_is_the_time_of_one_way() -> None:
    found = {line.kind: line for line in links.over_sizes(problem_of, 4, blocks=2)}
    whole = evaluate(
        "tput_pingpong",
        {"bytes": [2**20], "tile_rows": 4, "tile_cols": TILE_COLUMNS, "blocks": 2, "rounds": ROUNDS},
        timing=TIMING,
    )["time_us"][0]
    assert found["TPUT"].time_us[SIZES.index(2**20)] == pytest.approx(whole / (2 * ROUNDS))


def test_effective_bandwidth_is_bytes_over_time() -> None:
    # 4096 bytes in 2 us
    assert made().bandwidth == pytest.approx([2.048, np.nan], nan_ok=True)
    assert np.isnan(made(moved=np.zeros(2, dtype=np.int64)).bandwidth).all()


def test_staging_tiles_are_given_in_bytes_and_too_large_ones_say_why() -> None:
    found = {line.kind: line for line in links.over_tiles(problem_of, 2**20)}
    assert set(found) == {"TGET", "TPUT", "TGET, ping-pong", "TPUT, ping-pong"}
    line = found["TGET, ping-pong"]
    assert line.x == tuple(rows * TILE_COLUMNS * 4 for rows in TILE_ROWS)
    # two tiles of 128 KiB do not fit into 192 KiB of UB
    assert np.isnan(line.time_us[-1])
    assert line.why[-1].startswith("refused: UB")
    assert line.why[0] == ""


def test_ping_pong_never_makes_a_tget_of_many_tiles_slower() -> None:
    off, on = links.over_sizes(problem_of, 4)[:2]
    assert (on.time_us <= off.time_us).all()
    assert on.time_us[-1] < off.time_us[-1]


def test_ttest_less_twait_is_their_difference_by_platform() -> None:
    waits = links.over_waits(problem_of, 4, 1)
    assert [line.kind for line in waits] == ["TWAIT", "TTEST"]
    (less,) = links.differences(waits)
    assert less.time_us == pytest.approx(waits[1].time_us - waits[0].time_us)
    assert less.kind == "TTEST less TWAIT"


def test_any_tunable_of_a_workload_with_ranks() -> None:
    found = links.over_tunable(problem_of("tput_pingpong"), "tile_rows", "wait")
    assert [line.kind for line in found] == ["wait TWAIT", "wait TTEST"]
    assert found[0].x == (1, 2, 4, 8, 16, 32)
    with pytest.raises(ValueError, match=r"choose two different tunables of tile_rows, .* not tile_rows and tile_rows"):
        links.over_tunable(problem_of("tput_pingpong"), "tile_rows", "tile_rows")


def test_a_file_has_every_point_and_why_one_has_no_time() -> None:
    assert links.rows([made()]) == [
        links.TITLES,
        ("w", "p", "k", "tile_rows=4", "bytes", 4096, 2.0, 4096, pytest.approx(2.048), ""),
        ("w", "p", "k", "tile_rows=4", "bytes", 8192, None, 8192, None, "refused: too <large>"),
    ]


def test_points_without_a_time_are_counted_and_the_first_explained() -> None:
    assert links.missing([made()]) == "1 of 2 points have no time, such as one of k on p: refused: too <large>."
    assert links.missing([made(why=("", ""))]) == ""


def test_axes_are_logarithmic_with_units() -> None:
    lines = links.over_sizes(problem_of, 4)
    time, rate = links_figure(lines, TIME), links_figure(lines, BANDWIDTH)
    assert time.layout.xaxis.type == time.layout.yaxis.type == "log"
    assert time.layout.yaxis.title.text == "Time (µs)"
    assert rate.layout.yaxis.title.text == "Effective bandwidth (GB/s)"
    assert "4 KiB" in time.layout.xaxis.ticktext


def test_differences_are_drawn_in_nanoseconds_on_a_linear_axis() -> None:
    figure = links_figure([made(time_us=np.array([0.5, -0.25]))], DIFFERENCE)
    assert list(figure.data[0].y) == [500.0, -250.0]
    assert figure.layout.yaxis.type is None


def test_words_on_the_axis_are_places() -> None:
    figure = links_figure([made(x_name="mode <i>", x=("a&b", "c"), time_us=np.array([1.0, 2.0]))])
    assert figure.layout.xaxis.type == "category"
    assert list(figure.data[0].x) == ["a&amp;b", "c"]
    assert figure.layout.xaxis.title.text == "mode &lt;i&gt;"


def test_without_a_single_time_the_figure_says_why() -> None:
    figure = links_figure([made(time_us=np.array([np.nan, np.nan]))])
    assert "too &lt;large&gt;" in figure.layout.annotations[0].text.replace("<br>", " ")
