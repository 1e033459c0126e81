"""Chrome traces as they come: both forms, pairs, texts for times, and what is refused."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pto_tune.tracing import events
from pto_tune.tracing.events import Span, read_spans
from pto_tune.tracing.naming import TraceError

Write = Callable[..., Path]


def complete(**changes: Any) -> dict[str, Any]:
    return {"ph": "X", "pid": 1, "tid": 2, "name": "TLOAD", "ts": 1.5, "dur": 2, **changes}


LABELS = [
    {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "AIC"}},
    {"ph": "M", "name": "thread_name", "pid": 1, "tid": 2, "args": {"name": "MTE2"}},
]
SPAN = Span("AIC", "MTE2", "TLOAD", Decimal("1.5"), Decimal("3.5"))


def test_an_object_and_a_list_are_the_same(write: Write) -> None:
    data = [*LABELS, complete()]
    assert list(read_spans(write({"traceEvents": data, "displayTimeUnit": "ns"}))) == [SPAN]
    assert list(read_spans(write(data))) == [SPAN]


@pytest.mark.parametrize("end", ["", ",", ",\n", "\n"])
def test_the_last_bracket_of_a_list_may_be_missing(end: str, write: Write) -> None:
    text = json.dumps([*LABELS, complete()]).removesuffix("]") + end
    assert list(read_spans(write(text))) == [SPAN]


def test_names_that_no_metadata_gives_are_the_numbers_or_texts_themselves(write: Write) -> None:
    (span,) = read_spans(write([complete(pid="core0.cubecore0", tid="CUBE")]))
    assert (span.process, span.thread) == ("core0.cubecore0", "CUBE")
    (span,) = read_spans(write([{"ph": "X", "ts": 0, "dur": 1}]))
    assert (span.process, span.thread, span.name) == ("", "", "")


def test_pairs_of_begin_and_end_nest(write: Write) -> None:
    data = [
        complete(ph="B", name="outer", ts=0),
        complete(ph="B", name="inner", ts=1),
        complete(ph="E", ts=2),
        complete(ph="E", ts=5),
        complete(ph="B", name="open", ts=6),
    ]
    found = [(s.name, float(s.start), float(s.end)) for s in read_spans(write(data))]
    assert found == [("inner", 1, 2), ("outer", 0, 5)]


def test_times_as_texts_keep_digits_that_no_float_has(write: Write) -> None:
    (span,) = read_spans(write([complete(ts="1718180918999104.757", dur="0.003")]))
    assert (span.start, span.end) == (Decimal("1718180918999104.757"), Decimal("1718180918999104.760"))
    (span,) = read_spans(write('[{"ph": "X", "ts": 1718180918999104.757, "dur": 1}]'))
    assert span.start == Decimal("1718180918999104.757")


def test_other_units(write: Write) -> None:
    (span,) = read_spans(write([complete(ts=1500, dur=2000)]), "ns")
    assert (span.start, span.end) == (Decimal("1.5"), Decimal("3.5"))
    with pytest.raises(TraceError, match="'h' is none of us, ns, ps, ms"):
        list(read_spans(write([]), "h"))


def test_flags_and_other_kinds_are_left_out(write: Write) -> None:
    data = [complete(args={"signal": True}), complete(ph="s"), complete(ph="i"), 3, None, [], {"ph": []}, complete()]
    assert len(list(read_spans(write(data)))) == 1


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        (complete(ts=None), "event 2 cannot be used, its ts is missing and no time"),
        (complete(ts="soon"), "its ts is 'soon' and no time"),
        (complete(ts="NaN"), "its ts is 'NaN' and no time"),
        (complete(ts="1e400"), "its ts is '1e400' and no time"),
        (complete(ts=True), "its ts is 'True' and no time"),
        (complete(dur=-1), "its duration is below 0"),
        (complete(pid=[[]]), "its pid is no number or text"),
        (complete(tid=1.5), None),
        (complete(ph="E"), "it ends what has not begun"),
    ],
)
def test_an_event_without_usable_times_is_named(event: dict[str, Any], sentence: str | None, write: Write) -> None:
    path = write([complete(), event])
    if sentence is None:  # a number with a point is a text here
        assert len(list(read_spans(path))) == 2
        return
    with pytest.raises(TraceError) as refused:
        list(read_spans(path))
    (line,) = str(refused.value).splitlines()
    assert sentence in line
    assert line.startswith(f"{path}: ")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is no JSON"),
        ("{", "is no JSON: Expecting property name enclosed in double quotes in line 1, column 2"),
        ("3", "is no Chrome trace: expected a list of events"),
        ("{}", "is no Chrome trace"),
        ('{"traceEvents": {}}', "is no Chrome trace"),
        ("[NaN]", "has NaN, which is no number of JSON"),
        ('[{"ph": "X", "ts": Infinity}]', "has Infinity"),
        ("[" * 200_000, "is nested too deeply"),
        ('{"a":' * 200_000, "is nested too deeply"),
        ('[{"ph": "X", "args": ' + "[" * 200_000 + "]" * 200_000 + "}]", "is nested too deeply"),
        ("[" + "9" * 10_000 + "]", "has a number that is too long"),
        ('[{"ph": "X"}, {"ph', "is no JSON"),
    ],
)
def test_what_is_no_trace_is_refused_at_once_in_a_sentence(text: str, sentence: str, write: Write) -> None:
    begun = time.monotonic()
    with pytest.raises(TraceError) as refused:
        list(read_spans(write(text)))
    assert time.monotonic() - begun < 5
    (line,) = str(refused.value).splitlines()
    assert sentence in line


def test_no_file_no_text_and_too_long(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TraceError, match="does not exist"):
        list(read_spans(tmp_path / "none.json"))
    with pytest.raises(TraceError, match="is a folder"):
        list(read_spans(tmp_path))
    (tmp_path / "binary.json").write_bytes(b"[\xff\xfe]")
    with pytest.raises(TraceError, match="is no UTF-8 text"):
        list(read_spans(tmp_path / "binary.json"))
    monkeypatch.setattr(events, "MAX_TRACE_BYTES", 100)
    with pytest.raises(TraceError, match="has more than 100 bytes: take the trace of one op or core"):
        list(read_spans(write([complete()] * 3)))


def test_half_of_a_character_can_be_printed_and_written(write: Write) -> None:
    (span,) = read_spans(write('[{"ph": "X", "ts": 0, "dur": 1, "name": "a\\ud800b", "pid": "\\udfff"}]'))
    assert (span.name, span.process) == ("a?b", "?")


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["X", "B", "E", "M"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["ph", "ts", "dur", "pid", "tid", "name", "args", "traceEvents"]), inner)
    ),
    max_leaves=20,
)


@given(JSON)
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_json_is_read_or_refused(write: Write, data: Any) -> None:
    try:
        found = list(read_spans(write(data)))
    except TraceError as error:
        assert str(error)  # noqa: PT017
    else:
        assert all(s.end >= s.start for s in found)
