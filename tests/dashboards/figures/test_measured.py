"""A measured timeline as the data of a figure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dashboards.figures.measured import both_timelines, of_tracks
from dashboards.figures.timeline import timeline_data, window
from dashboards.figures.timeline_spans import COMPUTE, DMA, FIXPIPE
from pto_tune import api
from pto_tune.explaining.explanation import Explanation
from pto_tune.tracing.comparing import compare
from pto_tune.tracing.tracks import tracks_of


@pytest.fixture(scope="module")
def stream() -> Explanation:
    return api.explain("stream", {"tiles": 12})


def test_both_show_the_same_stretch_and_the_run_has_the_work_of_the_prediction(
    stream: Explanation, tmp_path: Path
) -> None:
    stream.write_trace(tmp_path / "t.json")
    both = both_timelines(compare(tmp_path / "t.json", stream), stream)
    assert both is not None
    run, ahead = both
    assert run.cycles == ahead.cycles == stream.block.cycles
    # the prediction keeps its waits and flags; the run has work alone
    assert len(ahead.spans) == len(timeline_data(stream).spans)
    assert len(ahead.tokens)
    assert len(run.tokens) == 0

    def busy(data: object, kind: int) -> int:
        spans = data.spans  # type: ignore[attr-defined]
        return int((spans.end - spans.start)[spans.kind == kind].sum())

    for kind in (DMA, FIXPIPE):
        assert busy(run, kind) == busy(ahead, kind) > 0


def test_a_longer_run_stretches_both_and_nothing_begins_before_0(stream: Explanation, tmp_path: Path) -> None:
    mhz = stream.problem.clock_mhz
    events = [
        {"ph": "X", "pid": "AIC", "tid": "FIX", "ts": 0, "dur": 1, "name": "first"},
        {"ph": "X", "pid": "AIC", "tid": "FIX", "ts": 100, "dur": 1, "name": "last"},
    ]
    (tmp_path / "t.json").write_text(json.dumps(events))
    both = both_timelines(compare(tmp_path / "t.json", stream, method="least-squares"), stream)
    assert both is not None
    run, ahead = both
    assert run.cycles == ahead.cycles == round(101 * mhz)
    assert run.spans.start.tolist() == [0, round(100 * mhz)]
    assert int(ahead.spans.start.min()) > 0


def test_kinds_names_and_order() -> None:
    data = of_tracks(
        tracks_of([("AIV0.V", "exp", 1.4, 3.6), ("AIC.M", "mm", 0.0, 2.0), ("X.Y", "z", 5, 5.2)]), 1800, "t"
    )
    assert data.tracks == ("AIC.M", "AIV0.V", "X.Y")
    assert [data.spans.names[i] for i in data.spans.name] == ["mm", "exp", "z"]
    assert data.spans.kind.tolist()[:2] == [COMPUTE, COMPUTE]
    assert data.spans.start.tolist() == [0, 1, 5]
    assert (data.spans.end >= data.spans.start).all()
    assert window(data).texts[:2] == ["mm", "exp"]


def test_without_events_there_is_no_figure(stream: Explanation, tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(json.dumps([{"ph": "X", "ts": 0, "dur": 3, "name": "op"}]))
    assert both_timelines(compare(tmp_path / "t.json", stream, op="op"), stream) is None
