"""A real run beside its prediction, pipe by pipe: busy time, first start, last end, share and gaps."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pto_tune.tracing.aligning import START, Alignment, align, check_method
from pto_tune.tracing.naming import TraceError, rules_of
from pto_tune.tracing.summaries import Summary, is_summary, read_summary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pto_tune.explaining.explanation import Explanation
    from pto_tune.tracing.tracks import Recorded, Tracks


@dataclass(frozen=True)
class Use:
    """What one pipe did, in cycles. busy: the time in which it had work, events that overlap counted once; share: of
    `Comparison.measured_cycles` or `predicted_cycles`; gap: idle between its first start and last end. What a
    summary does not tell is None."""

    busy: float
    share: float | None = None
    start: float | None = None
    end: float | None = None
    gap: float | None = None
    events: int | None = None


@dataclass(frozen=True)
class PipeRow:
    """One pipe; None where only the other side has work on it."""

    pipe: str
    measured: Use | None
    predicted: Use | None

    def difference(self, what: str) -> float | None:
        """Measured less predicted of a field of `Use`; None where one side does not have it."""
        a = None if self.measured is None else getattr(self.measured, what)
        b = None if self.predicted is None else getattr(self.predicted, what)
        return None if a is None or b is None else a - b


@dataclass(frozen=True, eq=False)
class Comparison:
    """A run beside its prediction.

    Attributes:
        kind: "trace" or "summary".
        rows: by pipe, those of the workload first.
        measured_cycles, predicted_cycles: from the first start to the last end of all pipes; of a summary the op's
            duration (None where the file does not have it) and the predicted time of the whole.
        op_us, predicted_us: duration of the op where it was named or stands in the summary, and predicted time.
        notes: what the comparison leaves out, in sentences.
        measured, predicted: the timelines, the measured one moved as `alignment` says; None for a summary.
    """

    kind: str
    clock_mhz: float
    rows: tuple[PipeRow, ...]
    measured_cycles: float | None
    predicted_cycles: float
    op_us: float | None
    predicted_us: float
    notes: tuple[str, ...] = ()
    group: str = ""
    groups: tuple[str, ...] = ()
    others: Mapping[str, int] = field(default_factory=dict)
    alignment: Alignment | None = None
    measured: Tracks | None = None
    predicted: Tracks | None = None

    def as_plain(self) -> dict[str, Any]:
        """Everything but the events, times in microseconds."""
        a = self.alignment
        return {
            "kind": self.kind,
            "measured_us": self._us(self.measured_cycles),
            "predicted_us": self._us(self.predicted_cycles),
            "op_us": self.op_us,
            "predicted_time_us": self.predicted_us,
            "group": self.group,
            "groups": list(self.groups),
            "alignment": None if a is None else {
                "method": a.method, "shift_us": self._us(a.shift_cycles), "scale": a.scale, "marks": a.marks,
                "rms_us": self._us(a.rms_cycles),
            },
            "pipes": [
                {"pipe": row.pipe, "measured": self._use(row.measured), "predicted": self._use(row.predicted),
                 "difference": self._difference(row)}
                for row in self.rows
            ],
            "others": dict(self.others),
            "notes": list(self.notes),
        }  # fmt: skip

    def _us(self, cycles: float | None) -> float | None:
        return None if cycles is None else cycles / self.clock_mhz

    def _use(self, use: Use | None) -> dict[str, Any] | None:
        if use is None:
            return None
        times = {f"{name}_us": self._us(getattr(use, name)) for name in ("busy", "start", "end", "gap")}
        return {**times, "share": use.share, "events": use.events}

    def _difference(self, row: PipeRow) -> dict[str, Any]:
        times = {f"{name}_us": self._us(row.difference(name)) for name in ("busy", "start", "end", "gap")}
        return {**times, "share": row.difference("share"), "events": row.difference("events")}


def compare(
    path: str | os.PathLike[str],
    explanation: Explanation,
    *,
    maps: Sequence[str] = (),
    group: str | None = None,
    op: str | None = None,
    repeat: int | None = None,
    method: str = START,
    unit: str = "us",
    all_blocks: bool = False,
) -> Comparison:
    """A Chrome trace, or a summary of the profiler (.csv), beside the prediction of the configuration that ran.

    Args:
        maps: `NAME=PIPE` for names of a trace that are not known (`naming`).
        group, op, repeat, unit: as of `reading.read_trace`; `op` of a summary as well.
        method: "start" or "least-squares", see `Alignment`.
        all_blocks: compare with every block that the first core runs, not with the first one.

    Raises:
        TraceError: what cannot be read or compared.
    """
    check_method(method)
    rules = rules_of(maps, explanation.problem.code.pipes)
    if not explanation.timed:
        raise TraceError(f"there is nothing to compare with: {explanation.evaluation.reason(0)}")
    if is_summary(path):
        if rules or group is not None or repeat is not None:
            raise TraceError(f"{path} is a summary: mappings, groups and repeats are of traces")
        return _of_summary(read_summary(path, op), explanation)
    from pto_tune.tracing.reading import read_trace
    from pto_tune.tracing.tracks import predicted, preferred_group

    recorded = read_trace(
        path, explanation.problem.code.pipes, explanation.problem.clock_mhz,
        rules=rules, group=group, prefer=preferred_group(explanation), op=op, repeat=repeat, unit=unit,
    )  # fmt: skip
    ahead = predicted(explanation, recorded.group, all_blocks)
    return _of_trace(recorded, ahead, explanation, method, all_blocks)


def _of_trace(recorded: Recorded, ahead: Tracks, x: Explanation, method: str, all_blocks: bool) -> Comparison:
    from pto_tune.tracing.tracks import blocks_of_a_core

    notes = []
    alignment = None
    measured = recorded.tracks
    if len(measured):
        alignment = align(measured, ahead, method)
        measured = measured.moved(alignment.shift_cycles)
    else:
        notes.append(
            "the op has no events of pipes in this file, so that only its duration is compared: profile it with "
            "msprof's instruction profiling, or run it in the simulator of msprof op"
        )
    blocks = blocks_of_a_core(x)
    if blocks > 1 and not all_blocks:
        notes.append(
            f"a core runs {blocks} blocks one after the other, and the predicted timeline is of the first: where the "
            "trace has all of them, compare with all blocks"
        )
    if recorded.others:
        count = sum(recorded.others.values())
        names = ", ".join(repr(name) for name in list(recorded.others)[:3])
        notes.append(
            f"{count} {'event' if count == 1 else 'events'} on no pipe that is known left out ({names}"
            f"{', ...' if len(recorded.others) > 3 else ''})"
        )
    span_m, span_p = _span(measured), _span(ahead)
    pipes = [p for p in dict.fromkeys((*ahead.pipes, *measured.pipes)) if p in (*ahead.used, *measured.used)]
    rows = tuple(PipeRow(p, _use(measured, p, span_m), _use(ahead, p, span_p)) for p in pipes)
    return Comparison(
        "trace", x.problem.clock_mhz, rows, span_m if len(measured) else None, span_p, recorded.op_us,
        float(x.evaluation.time_us[0]), tuple(notes), recorded.group, recorded.groups, recorded.others, alignment,
        measured if len(measured) else None, ahead,
    )  # fmt: skip


def _span(tracks: Tracks) -> float:
    return float(tracks.end.max() - tracks.start.min()) if len(tracks) else 0.0


def _use(tracks: Tracks, pipe: str, span: float) -> Use | None:
    start, end = tracks.of(pipe)
    if not len(start):
        return None
    busy = covered(start, end)
    first, last = float(start[0]), float(end.max())
    return Use(busy, busy / span if span else None, first, last, last - first - busy, len(start))


def covered(start: NDArray[np.float64], end: NDArray[np.float64]) -> float:
    """The time that events cover, counted once where they overlap; `start` is sorted."""
    reached = np.maximum.accumulate(end)
    before = np.concatenate([start[:1], reached[:-1]])
    return float(np.maximum(reached - np.maximum(start, before), 0).sum())


def _of_summary(summary: Summary, x: Explanation) -> Comparison:
    e = x.evaluation
    mhz, pipes = x.problem.clock_mhz, x.problem.code.pipes
    predicted = {pipe: float(v) for pipe, v in zip(pipes, e.busy[0], strict=True)}
    for name in {p.rpartition(".")[2] for p in pipes if p.startswith("AIV")}:
        own = [predicted[p] for p in pipes if p.startswith("AIV") and p.endswith(f".{name}")]
        if f"AIV.{name}" in summary.busy_us:  # of all vector cores together: so is what it is compared with
            for p in [p for p in pipes if p.startswith("AIV") and p.endswith(f".{name}")]:
                del predicted[p]
            predicted[f"AIV.{name}"] = sum(own) / len(own)
    total = float(e.time_us[0]) * mhz
    duration = None if summary.duration_us is None else summary.duration_us * mhz
    rows = []
    for pipe in sorted(predicted.keys() | summary.busy_us.keys(), key=_order):
        busy, ahead = summary.busy_us.get(pipe), predicted.get(pipe)
        if not busy and not ahead:
            continue
        rows.append(
            PipeRow(
                pipe,
                None if busy is None else Use(busy * mhz, busy * mhz / duration if duration else None),
                None if ahead is None else Use(ahead, ahead / total if total else None),
            )
        )
    taken = f"means of {summary.rows} rows" if summary.rows > 1 else "of one row"
    note = f"measured times are {taken}; a summary does not say when a pipe was busy"
    return Comparison("summary", mhz, tuple(rows), duration, total, summary.duration_us, float(e.time_us[0]), (note,))


def _order(pipe: str) -> tuple[str, int]:
    core, _, name = pipe.rpartition(".")
    known = ("MTE2", "MTE1", "M", "FIX", "V", "MTE3", "SDMA")
    return core, known.index(name) if name in known else len(known)
