"""Events of a Chrome trace from a file that may hold anything: JSON of a limited size, times without loss."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from pto_tune.measuring.faults import MeasurementFileError, quoted
from pto_tune.measuring.files import read_text
from pto_tune.tracing.naming import TraceError

MAX_TRACE_BYTES = 128 * 1024 * 1024
LARGEST_US = Decimal(10) ** 18
UNITS_US = {"us": Decimal(1), "ns": Decimal(1) / 1000, "ps": Decimal(1) / 1_000_000, "ms": Decimal(1000)}
"""What one unit of a time in the file is, in microseconds; a Chrome trace has microseconds."""

MOST_OPEN = 10_000
"""Events that have begun and not ended, on one track."""


@dataclass(frozen=True)
class Span:
    """An event with a duration. Times are microseconds since whatever the file counts from."""

    process: str
    thread: str
    name: str
    start: Decimal
    end: Decimal


def read_spans(path: str | os.PathLike[str], unit: str = "us") -> Iterator[Span]:
    """The complete events of a file and its pairs of begin and end, in the order of their ends.

    The file is an object with `traceEvents` or a list of events, whose last bracket may be missing, as the format
    allows. Flags that take no time of a pipe are left out (`args.signal`).

    Raises:
        TraceError: no such file, too long, no JSON, no trace, or an event without usable times.
    """
    if unit not in UNITS_US:
        raise TraceError(f"the unit {quoted(unit)} is none of {', '.join(UNITS_US)}")
    file = Path(path)
    events = _events(file)
    scale = UNITS_US[unit]
    processes, threads = _labels(events)
    open_: dict[tuple[str, str], list[tuple[str, Decimal]]] = {}
    for number, event in enumerate(events, 1):
        kind = event.get("ph") if isinstance(event, dict) else None
        if kind not in ("X", "B", "E"):
            continue
        try:
            pid, tid = _identity(event, "pid"), _identity(event, "tid")
            start, name = _time(event, "ts") * scale, _text(event.get("name", ""))
            if kind == "X":
                length = _time(event, "dur") * scale
                if length < 0:
                    raise TraceError("its duration is below 0")
                end = start + length
            else:
                begun = open_.setdefault((pid, tid), [])
                if kind == "B":
                    if len(begun) >= MOST_OPEN:
                        raise TraceError(f"{MOST_OPEN:,} events of its track have begun and not ended")
                    begun.append((name, start))
                    continue
                if not begun:
                    raise TraceError("it ends what has not begun")
                end = start
                name, start = begun.pop()
                if end < start:
                    raise TraceError("it ends before it begins")
        except TraceError as error:
            raise TraceError(f"{file}: event {number} cannot be used, {error}: write the trace again") from None
        signal = event.get("args")
        if not (isinstance(signal, dict) and signal.get("signal") is True):
            yield Span(processes.get(pid, pid), threads.get((pid, tid), tid), name, start, end)


def _events(file: Path) -> list[Any]:
    try:
        text = read_text(file, MAX_TRACE_BYTES)
    except MeasurementFileError as error:
        raise TraceError(
            str(error).replace(": split it", ": take the trace of one op or core, or a shorter run")
        ) from None
    data = _parsed(text, file)
    events = data.get("traceEvents") if isinstance(data, dict) else data
    if not isinstance(events, list):
        raise TraceError(f"{file} is no Chrome trace: expected a list of events, or an object with traceEvents")
    return events


def _parsed(text: str, file: Path) -> Any:
    def constant(word: str) -> Any:
        raise TraceError(f"{file} has {word}, which is no number of JSON: write the trace again")

    # floats stay texts: times since 1970 in microseconds have more digits than a float
    def loads(source: str) -> Any:
        return json.loads(source, parse_float=str, parse_constant=constant)

    try:
        return loads(text)
    except TraceError:
        raise
    except json.JSONDecodeError as error:
        start = text.lstrip()
        if start.startswith("[") and error.pos >= len(text.rstrip()) - 1:  # only its last bracket is missing
            try:
                return loads(start.rstrip().removesuffix(",") + "]")
            except (ValueError, RecursionError):
                pass
        raise TraceError(
            f"{file} is no JSON: {error.msg} in line {error.lineno}, column {error.colno}; write the trace again"
        ) from None
    except (ValueError, RecursionError):  # Python's own limits on the digits of an integer and on depth
        raise TraceError(f"{file} is nested too deeply, or has a number that is too long: it is no trace") from None


def _labels(events: list[Any]) -> tuple[dict[str, str], dict[tuple[str, str], str]]:
    """Names of processes and threads by their numbers, from the metadata."""
    processes: dict[str, str] = {}
    threads: dict[tuple[str, str], str] = {}
    for event in events:
        if not isinstance(event, dict) or event.get("ph") != "M" or not isinstance(event.get("args"), dict):
            continue
        try:
            pid, label = _identity(event, "pid"), _text(event["args"].get("name"))
            if label and event.get("name") == "process_name":
                processes[pid] = label
            elif label and event.get("name") == "thread_name":
                threads[pid, _identity(event, "tid")] = label
        except TraceError:
            continue
    return processes, threads


def _identity(event: dict[str, Any], key: str) -> str:
    value = event.get(key, "")
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise TraceError(f"its {key} is no number or text")
    return _text(value)


def _text(value: object) -> str:
    """A name that can be printed and written; "" for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return ""
    return str(value).encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else str(value)


def _time(event: dict[str, Any], key: str) -> Decimal:
    value = event.get(key)
    if not isinstance(value, bool) and isinstance(value, int | str):
        try:
            time = Decimal(value)
        except (InvalidOperation, ValueError):
            time = Decimal("NaN")
        if time.is_finite() and abs(time) <= LARGEST_US:
            return time
    shown = quoted(value, 40) if isinstance(value, int | str) else "missing"
    raise TraceError(f"its {key} is {shown} and no time")
