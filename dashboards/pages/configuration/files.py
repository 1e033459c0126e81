"""Downloads of the configuration page: the data of each part as CSV, and the trace of a changed configuration."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dashboards.figures.bounds import bounds_data
from dashboards.figures.causes import causes_data
from dashboards.figures.occupancy import fifos_of
from dashboards.figures.timeline import timeline_data
from dashboards.figures.timeline_spans import KINDS
from dashboards.pages.configuration.work import Stored, neighbours

if TYPE_CHECKING:
    from pto_tune.explaining.explanation import Explanation

MOST_LINES = 200_000


def text_of(lines: Iterable[Sequence[Any]]) -> str:
    """Lines as CSV; the first are the titles. A text that a spreadsheet would take for a formula gets a quote."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for line in lines:
        writer.writerow([f"'{v}" if isinstance(v, str) and v[:1] in ("=", "+", "-", "@") else v for v in line])
    return out.getvalue()


def lines_of(
    what: str,
    of: Stored,
    shown: Sequence[tuple[str, Explanation]],
    window_us: Mapping[str, float] | None,
    block: int | None,
) -> list[Sequence[Any]]:
    """Titles and lines of a part. `shown`: what the page shows, the stored configuration first and the changed one, if
    any, last. ValueError where there is no such part or it has no data."""
    explanation = shown[-1][1] if shown else None
    if what == "neighbours":
        return [
            ("tunable", "value", "row", "verdict", "time_us"),
            *((n.tunable, n.value, n.row, n.verdict, n.time_us) for n in neighbours(of)),
        ]
    if explanation is None or not explanation.timed:
        raise ValueError("there are no times, so there is no data to download")
    if what == "causes":
        found = [causes_data(e, label) for label, e in shown]
        return [
            ("configuration", "cause", "cycles", "time_us"),
            *((c.label, cause, k, k / c.clock_mhz) for c in found if c for cause, k in c.by_cause.items()),
        ]
    if what == "path":
        data = causes_data(explanation)
        assert data is not None
        return [("cause", "name", "cycles"), *data.parts]
    if what == "bounds":
        return [("name", "cycles"), *bounds_data(explanation).bounds]
    if what == "timeline":
        return _timeline(explanation, window_us, block)
    if what == "fifo":
        columns = ("taken", "full", "read", "done", "freed")
        return [
            ("fifo", "slot_num", "sync_period", "tile", *(f"{c}_cycle" for c in columns)),
            *(
                (f.name, f.slot_num, f.period, tile, *times)
                for f in fifos_of(explanation)
                for tile, times in enumerate(np.stack([getattr(f, c) for c in columns], axis=1).tolist())
            ),
        ]
    if what == "leans":
        titles = ("key", "value", "unit", "low", "high", "kind", "share", "swing_us", "source")
        return [titles, *(tuple(getattr(lean, t) for t in titles) for lean in explanation.leans_on)]
    raise ValueError(f"there is no part {what!r} to download")


def _timeline(
    explanation: Explanation, window_us: Mapping[str, float] | None, block: int | None
) -> list[Sequence[Any]]:
    data = timeline_data(explanation, block)
    s, mhz = data.spans, data.clock_mhz
    keep = np.ones(len(s), dtype=bool)
    if window_us is not None:
        keep = (s.end > window_us["from"] * mhz) & (s.start < window_us["to"] * mhz)
    return [
        ("track", "what", "name", "start_cycle", "end_cycle", "start_us", "end_us"),
        *(
            (data.tracks[track], KINDS[kind], s.names[name], start, end, start / mhz, end / mhz)
            for track, kind, name, start, end in np.stack([s.track, s.kind, s.name, s.start, s.end], axis=1)[keep][
                :MOST_LINES
            ].tolist()
        ),
    ]
