"""The page of `pto-tune validate --html`: it opens offline, and text of cases cannot become code."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from dashboards.report.validation import render_parity
from pto_tune.validating.report import Report


def test_the_page_stands_alone(report: Report) -> None:
    page = render_parity(report)
    assert len(page.encode()) < 7_000_000
    assert not re.search(r"<(?:script|link|img|iframe)[^>]*\s(?:src|href)=", page)
    figures = re.search(r'<script type="application/json" id="figure-data">(.*?)</script>', page, re.DOTALL)
    assert figures is not None
    assert set(json.loads(figures[1])) == {"parity"}
    assert "vendor-a2-1-MTE2" in page


def test_names_stay_text(report: Report) -> None:
    first = report.outcomes[0]
    evil = replace(first, case=replace(first.case, id="</script><script>alert(1)</script>"))
    page = render_parity(replace(report, outcomes=(evil, *report.outcomes[1:])))
    assert "<script>alert(1)" not in page
