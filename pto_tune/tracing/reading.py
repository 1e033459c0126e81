"""A Chrome trace as the work of pipes: one core group, in cycles from its first event."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from fnmatch import fnmatchcase
from pathlib import Path

from pto_tune.measuring.faults import quoted
from pto_tune.tracing.events import Span, read_spans
from pto_tune.tracing.naming import LONGEST, Names, Rule, TraceError
from pto_tune.tracing.tracks import Recorded, tracks_of

ROUNDED = 3
"""Decimal places of a cycle: what times in nanoseconds tell, and nothing of what division leaves behind."""

SHOWN = 6


def read_trace(
    path: str | os.PathLike[str],
    pipes: Sequence[str],
    clock_mhz: float,
    *,
    rules: Sequence[Rule] = (),
    group: str | None = None,
    prefer: str = "",
    op: str | None = None,
    repeat: int | None = None,
    unit: str = "us",
) -> Recorded:
    """The work of one core group in a trace.

    Args:
        pipes: those of the workload, as "AIC.MTE2"; others of the trace come behind them.
        rules: names of the file that say which pipe an event is on, before those that are known (`naming`).
        group: which core group ("core3", "group0"); None is `prefer` where there is one, else the first.
        op: take the time of the op of this name (`*` and `?` for what varies) alone; `repeat` of those, from 1
            (None: the last, since the first ones warm up).

    Raises:
        TraceError: as `read_spans`; no such group, op or repeat; nothing that is the work of a pipe, and no `op`.
    """
    names = Names(pipes, rules, Path(path).absolute().parent.name)
    by_group: dict[str, list[tuple[str, Span]]] = {}
    others: Counter[str] = Counter()
    ops: list[Span] = []
    pattern = None if op is None else op[:LONGEST].casefold()
    for span in read_spans(path, unit):
        place = names.place(span.process, span.thread, span.name)
        if place is None:
            continue
        if place.pipe:
            if span.end > span.start:
                by_group.setdefault(place.group, []).append((place.pipe, span))
            continue
        if pattern is not None and fnmatchcase(span.name[:LONGEST].casefold(), pattern):
            ops.append(span)
        else:
            others[_shown(span)] += 1
    groups = tuple(sorted(by_group, key=_natural))
    if pattern is not None and not ops:
        raise TraceError(f"{path} has no op {quoted(op)}; it has {_listed(others)}")
    if not groups and not ops:
        raise TraceError(
            f"{path} has no event on a pipe that is known; it has {_listed(others)}: say which is what, as in "
            f"'NAME={pipes[0]}'"
        )
    chosen = _group(groups, group, prefer)
    taken = by_group.get(chosen, [])
    window = _window(ops, op, repeat)
    if window is not None:
        taken = [(pipe, span) for pipe, span in taken if window.start <= span.start < window.end]
    origin = min((span.start for _, span in taken), default=Decimal(0))
    rows = (
        (pipe, span.name, _cycles(span.start - origin, clock_mhz), _cycles(span.end - origin, clock_mhz))
        for pipe, span in taken
    )
    op_us = None if window is None else float(window.end - window.start)
    return Recorded(tracks_of(rows, pipes), chosen, groups, dict(others), op_us, len(ops))


def _window(ops: list[Span], op: str | None, repeat: int | None) -> Span | None:
    if op is None:
        if repeat is not None:
            raise TraceError(f"repeat {repeat} of no op: name the op as well")
        return None
    if repeat is not None and not 1 <= repeat <= len(ops):
        raise TraceError(f"there is no repeat {repeat} of the op {quoted(op)}: it has {len(ops)}")
    ordered = sorted(ops, key=lambda span: span.start)
    return ordered[-1 if repeat is None else repeat - 1]


def _group(groups: tuple[str, ...], wanted: str | None, preferred: str) -> str:
    if wanted is not None:
        if wanted.lower() not in groups:
            have = ", ".join(g or "(no name)" for g in groups[:SHOWN]) or "none"
            raise TraceError(f"the trace has no core group {quoted(wanted)}: it has {have}")
        return wanted.lower()
    return preferred if preferred in groups else next(iter(groups), "")


def _cycles(time_us: Decimal, clock_mhz: float) -> float:
    return round(float(time_us) * clock_mhz, ROUNDED)


def _natural(text: str) -> list[tuple[int, int | str]]:
    """core2 before core10."""
    import re

    return [(0, int(part)) if part.isdigit() else (1, part) for part in re.split(r"(\d{1,9})", text) if part]


def _shown(span: Span) -> str:
    where = " ".join(part for part in (span.process[:40], span.thread[:40]) if part)
    return f"{where}: {span.name[:60]}" if where else span.name[:60]


def _listed(others: Counter[str]) -> str:
    if not others:
        return "no other events"
    names = [quoted(name) for name, _ in others.most_common(SHOWN)]
    return ", ".join(names) + (", ..." if len(others) > SHOWN else "")
