"""The timeline of a block: spans, stalls, flags, and what is drawn of a stretch of time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dashboards.figures.timeline import MOST_TOKENS, TimelineData, timeline_data, window
from dashboards.figures.timeline_drawing import legend, timeline_figure
from dashboards.figures.timeline_spans import COMPUTE, DATA, DMA, KINDS, Spans, Tokens
from dashboards.theme import DARK, LIGHT
from pto_tune import api
from pto_tune.explaining.explanation import Explanation


@pytest.fixture(scope="module")
def attention() -> Explanation:
    """One block of flash attention."""
    return api.explain("flash_attention", {"s0": 128, "s1": 2048})


def made(start: list[int], end: list[int], kind: list[int], tokens: int = 0) -> TimelineData:
    """Spans of one track, and flags at times 0, 1, 2 ..."""
    n = len(start)
    none = np.arange(tokens)
    return TimelineData(
        ("AIC.M",),
        Spans(np.zeros(n, np.int64), np.array(start), np.array(end), np.array(kind), np.arange(n),
              tuple(f"<i>{i}</i>" for i in range(n))),
        Tokens(0 * none, none, 0 * none, none + 1, none < 0, none, 0 * none, ("qk & ready",)),
        max(end),
        1000.0,
    )  # fmt: skip


def test_spans_are_the_events_of_the_explanation(attention: Explanation) -> None:
    data = timeline_data(attention)
    names = np.array(data.spans.names, dtype=object)[data.spans.name]
    tracks = np.array(data.tracks, dtype=object)[data.spans.track]
    work = data.spans.kind < KINDS.index("waits for data")
    drawn = sorted(zip(tracks[work], names[work], data.spans.start[work], data.spans.end[work], strict=True))
    t = attention.block
    events = [e for e in attention.timeline() if not e.pipe.endswith(".S") and not t.is_signal(e.operation)]
    pipes = sorted((e.pipe, e.name, e.start, e.end) for e in events)
    assert [d for d in drawn if not d[0].endswith(".S")] == pipes


def test_spans_of_a_track_do_not_overlap(attention: Explanation) -> None:
    s = timeline_data(attention).spans
    same = s.track[1:] == s.track[:-1]
    assert (s.start[1:][same] >= s.end[:-1][same]).all()
    assert (s.end > s.start).all()


@pytest.mark.parametrize("name", ["flash_attention", "stream", "matmul_epilogue"])
def test_stalls_add_up_to_the_stall_account(name: str) -> None:
    sizes = {
        "flash_attention": {"s0": 128, "s1": 1024},
        "stream": {},
        "matmul_epilogue": {},
    }
    explanation = api.explain(name, sizes[name])
    # the account is of the block that ends last: here all blocks are one wave of equal ones
    assert int(explanation.evaluation.cycles[0]) == explanation.block.cycles
    stalls = sum(cycles for _, _, cycles in timeline_data(explanation).stalls)
    assert stalls == sum(explanation.accounts.waits.values())


def test_every_tile_has_a_flag_from_push_to_pop_and_none_goes_back_in_time(attention: Explanation) -> None:
    tokens = timeline_data(attention).tokens
    ready = [tokens.names[i] == "qk ready AIV0" for i in tokens.name]
    tiles = len({int(n) for n in tokens.number[ready]})
    assert tiles == sum(ready) == 2048 // 256
    assert (tokens.taken >= tokens.sent).all()


def test_a_flag_says_that_slots_are_free_only_where_it_is_a_credit(attention: Explanation) -> None:
    tokens = timeline_data(attention).tokens
    assert [bool(c) for c in tokens.credit] == [" free " in tokens.names[i] for i in tokens.name]


def test_no_times_no_timeline() -> None:
    with pytest.raises(ValueError, match="there is no timeline"):
        timeline_data(api.explain("flash_attention", {"fifo_depth": 1, "qk_preload": 2}))


def test_few_spans_are_drawn_as_they_are() -> None:
    w = window(made([0, 10, 30], [10, 30, 31], [COMPUTE, DATA, DMA]))
    assert w.start.tolist() == [0, 10, 30]
    assert w.kind.tolist() == [COMPUTE, DATA, DMA]
    assert w.merged == 0


def test_only_the_stretch_is_drawn() -> None:
    w = window(made([0, 10, 30], [10, 30, 31], [COMPUTE, DATA, DMA]), 10, 30)
    assert (w.begin, w.end) == (10, 30)
    assert w.start.tolist() == [10]


@pytest.mark.parametrize(("begin", "end"), [(50, 60), (5, 5), (9, 3), (-4, 0)])
def test_a_stretch_outside_is_all(begin: int, end: int) -> None:
    w = window(made([0, 10], [10, 31], [COMPUTE, DATA]), begin, end)
    assert (w.begin, w.end) == (0, 31)


def test_short_spans_are_merged_and_say_what_is_in_them() -> None:
    # 1,000 pairs of 3 cycles of compute and 1 of waiting, then a long one
    start = [v for i in range(1000) for v in (4 * i, 4 * i + 3)] + [4000]
    end = [v for i in range(1000) for v in (4 * i + 3, 4 * i + 4)] + [9000]
    w = window(made(start, end, [COMPUTE, DATA] * 1000 + [DMA]), limit=50)
    assert len(w.texts) <= 50
    assert int(w.members.sum()) == 2001
    long = int(np.flatnonzero(w.stop - w.start == 5000)[0])
    assert w.members[long] == 1
    short = w.members > 1
    assert set(w.kind[short].tolist()) == {COMPUTE}
    assert all("compute 75 %, waits for data 25 %" in w.texts[i] for i in np.flatnonzero(w.members % 4 == 0))


def test_merged_bars_cover_what_they_stand_for(attention: Explanation) -> None:
    data = timeline_data(attention)
    w = window(data, limit=100)
    assert len(w.texts) <= 100
    assert int(w.members.sum()) == len(data.spans)
    for track in np.unique(data.spans.track):
        mine = data.spans.track == track
        assert w.start[w.track == track].min() == data.spans.start[mine].min()
        assert w.stop[w.track == track].max() == data.spans.end[mine].max()


def test_flags_are_drawn_where_they_are_few_enough() -> None:
    assert len(window(made([0], [500], [0], tokens=MOST_TOKENS)).tokens) == MOST_TOKENS
    many = made([0], [500], [0], tokens=MOST_TOKENS + 1)
    assert (len(window(many).tokens), window(many).hidden_tokens) == (0, MOST_TOKENS + 1)
    assert len(window(many, 100, 120).tokens) == 22


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_the_library_takes_the_figure_and_names_are_text(theme: Any) -> None:
    w = window(made([0, 10], [10, 31], [COMPUTE, DATA], tokens=3))
    figure = timeline_figure(w, theme)
    bars = [trace for trace in figure.data if trace.type == "bar"]
    assert bars[0].customdata[0][0] == "&lt;i&gt;0&lt;/i&gt;"
    assert bars[1].base.tolist() == [0.01]
    assert bars[1].x.tolist() == [pytest.approx(0.021)]
    assert figure.layout.xaxis.title.text == "Time (µs)"
    assert tuple(figure.layout.xaxis2.range) == (0, 31)
    marks = next(trace for trace in figure.data if trace.type == "scatter" and trace.mode == "markers")
    assert marks.customdata[0][0] == "qk &amp; ready"
    assert [name for name, _, _ in legend(w, theme)] == ["compute", "waits for data", "a tile is ready"]


def test_a_block_of_ranks_has_its_instructions_and_signals() -> None:
    explanation = api.explain("tput_pingpong", {"bytes": 65536, "rounds": 2, "blocks": 2})
    data = timeline_data(explanation, 1)
    assert "block 1 of rank 0" in data.title
    assert len(data.spans)
    assert len(data.tokens)
    with pytest.raises(ValueError, match="there is no block 99"):
        timeline_data(explanation, 99)
