"""Write a timeline as a Chrome trace (JSON), which Perfetto and chrome://tracing open."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pto_tune.explaining.columns import CHANNEL, END, FIRST, KIND, PRODUCER, START

if TYPE_CHECKING:
    from collections.abc import Callable

    from pto_tune.explaining.timeline import Timeline


def trace_events(t: Timeline, clock_mhz: float) -> list[dict[str, Any]]:
    """Trace events: one process a core, one thread a pipe, times in microseconds, a flow arrow from every signal to the
    wait that takes it."""
    cores = {name: i + 1 for i, name in enumerate(t.code.cores)}
    tracks = [*t.code.pipes, *(f"{core}.S" for core in t.code.cores)]
    threads = {track: i + 1 for i, track in enumerate(tracks)}
    out: list[dict[str, Any]] = [
        {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": core}} for core, pid in cores.items()
    ]
    for track, tid in threads.items():
        core, pipe = track.split(".")
        out.append({"ph": "M", "name": "thread_name", "pid": cores[core], "tid": tid, "args": {"name": pipe}})

    def place(track: str) -> dict[str, int]:
        return {"pid": cores[track.split(".")[0]], "tid": threads[track]}

    for event in t.events():
        out.append(
            {
                "ph": "X",
                "name": event.name,
                "ts": event.start / clock_mhz,
                "dur": (event.end - event.start) / clock_mhz,
                "args": {
                    "start_cycles": event.start,
                    "end_cycles": event.end,
                    # a flag for another core does not hold its pipe
                    **({"signal": True} if t.is_signal(event.operation) else {}),
                },
                **place(event.pipe),
            }
        )
    out += _flows(t, clock_mhz, place)
    return out


def _flows(t: Timeline, clock_mhz: float, place: Callable[[str], dict[str, int]]) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    bounds = [*(int(v) for v in t.table[:, FIRST]), t.sources.shape[0]]
    number = 0
    for i in range(t.table.shape[0]):
        if int(t.table[i, KIND]) >= 0:
            continue
        for source in range(bounds[i], bounds[i + 1]):
            channel, producer = int(t.sources[source, CHANNEL]), int(t.sources[source, PRODUCER])
            if channel < 0 or producer < 0 or not t.code.channels[channel].counter:
                continue
            number += 1
            common = {"cat": "fifo", "name": t.code.channels[channel].name, "id": number}
            begin, end = int(t.table[producer, START]), int(t.table[i, END])
            out.append({"ph": "s", "ts": begin / clock_mhz, **common, **place(t.pipe_of(producer))})
            out.append({"ph": "f", "bp": "e", "ts": end / clock_mhz, **common, **place(t.pipe_of(i))})
    return out


def write_trace(t: Timeline, clock_mhz: float, path: str | Path) -> None:
    """Write the trace file, complete or not at all."""
    write_json({"traceEvents": trace_events(t, clock_mhz), "displayTimeUnit": "ns"}, path)


def write_json(data: dict[str, Any], path: str | Path) -> None:
    """Write JSON, complete or not at all."""
    target = Path(path)
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as f:
            json.dump(data, f, separators=(",", ":"))
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise
