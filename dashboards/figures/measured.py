"""A measured timeline as the data that the predicted one is drawn from: both over the same stretch of time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dashboards.figures.timeline import TimelineData, timeline_data
from dashboards.figures.timeline_spans import OF_PIPE, SCALAR, Spans, Tokens

if TYPE_CHECKING:
    from pto_tune.explaining.explanation import Explanation
    from pto_tune.tracing.comparing import Comparison
    from pto_tune.tracing.tracks import Tracks


def both_timelines(comparison: Comparison, explanation: Explanation) -> tuple[TimelineData, TimelineData] | None:
    """The measured and the predicted timeline, both from the same moment to the same moment; None where the run has no
    events. The predicted one has its waits and flags where it is the block that an explanation shows."""
    measured, predicted = comparison.measured, comparison.predicted
    if measured is None or predicted is None:
        return None
    # least squares may move an event to before the prediction's start
    begin = min(0.0, float(measured.start.min()))
    clock = comparison.clock_mhz
    run = of_tracks(measured.moved(-begin), clock, "the run")
    ahead = of_tracks(predicted.moved(-begin), clock, "the prediction")
    whole = timeline_data(explanation) if not explanation.problem.workload.has_ranks else None
    # several blocks reach beyond the one that is explained
    if whole is not None and begin == 0 and float(predicted.end.max()) <= whole.cycles:
        ahead = whole
    cycles = max(run.cycles, ahead.cycles)
    return replace(run, cycles=cycles), replace(ahead, cycles=cycles)


def of_tracks(tracks: Tracks, clock_mhz: float, title: str) -> TimelineData:
    """Events of pipes as a timeline without waits and flags, rounded to cycles."""
    kinds = np.array([OF_PIPE.get(pipe.rpartition(".")[2], SCALAR) for pipe in tracks.pipes] or [SCALAR])
    start = np.rint(tracks.start).astype(np.int64)
    end = np.maximum(np.rint(tracks.end).astype(np.int64), start)
    none = np.zeros(0, dtype=np.int64)
    spans = Spans(tracks.pipe, start, end, kinds[tracks.pipe], tracks.name, tracks.names)
    tokens = Tokens(none, none, none, none, none.astype(bool), none, none, ())
    return TimelineData(tracks.pipes, spans, tokens, int(end.max(initial=0)), clock_mhz, title)
