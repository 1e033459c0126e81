"""The page of `pto-tune trace --html`: it opens offline, and names of a trace cannot become code."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from dashboards.report.tracing import render_trace
from pto_tune import api
from pto_tune.explaining.explanation import Explanation
from pto_tune.tracing.comparing import compare

EVIL = "</script><script>alert(1)</script>"


@pytest.fixture(scope="module")
def stream() -> Explanation:
    return api.explain("stream", {"tiles": 12})


def figures(page: str) -> dict[str, object]:
    found = re.search(r'<script type="application/json" id="figure-data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return dict(json.loads(found[1]))


def test_the_page_stands_alone(stream: Explanation, tmp_path: Path) -> None:
    stream.write_trace(tmp_path / "t.json")
    page = render_trace(compare(tmp_path / "t.json", stream), stream, "t.json", "run 1")
    assert len(page.encode()) < 7_000_000
    assert not re.search(r"<(?:script|link|img|iframe)[^>]*\s(?:src|href)=", page)
    assert list(figures(page)) == ["run", "prediction"]
    assert "later than in the table" not in page


def test_names_stay_text(stream: Explanation, tmp_path: Path) -> None:
    events = [
        {"ph": "X", "pid": "AIC", "tid": "FIX", "ts": 0, "dur": 1, "name": EVIL},
        {"ph": "X", "pid": EVIL, "tid": "x", "ts": 0, "dur": 90, "name": "\ud800"},
        {"ph": "X", "pid": "AIC", "tid": "FIX", "ts": 30, "dur": 1, "name": "%{y}"},
    ]
    (tmp_path / "t.json").write_text(json.dumps(events))
    page = render_trace(compare(tmp_path / "t.json", stream, method="least-squares"), stream, EVIL, EVIL)
    assert "<script>alert(1)" not in page
    assert "µs later than in the table" in page
    page.encode("utf-8")


def test_without_events_of_pipes_there_is_a_table_alone(stream: Explanation, tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(json.dumps([{"ph": "X", "ts": 0, "dur": 3, "name": "op"}]))
    page = render_trace(compare(tmp_path / "t.json", stream, op="op"), stream, "t.json", "run 1")
    assert figures(page) == {}
    assert 'id="figure-run"' not in page
    assert "the op took 3.000 us" in page
