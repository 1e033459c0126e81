"""The registry of export formats."""

from __future__ import annotations

import pytest

from dashboards.exports import FORMATS, format_named
from pto_tune import api
from pto_tune.exporters.formats import format_named as registered
from pto_tune.exporters.formats import render


def test_every_format_renders_a_safe_configuration() -> None:
    values = {"s0": 1024, "s1": 1024, "cube_s0": 128, "tile_s1": 256, "fifo_depth": 8, "split": "UP_DOWN"}
    rec = api.recommendation("flash_attention", values)
    for form in FORMATS:
        assert form.render(rec) == render(registered(form.key), [rec])
        assert format_named(form.key) is form


def test_every_format_that_needs_no_further_file_is_offered() -> None:
    assert [f.key for f in FORMATS] == ["header", "cmake", "definitions", "json", "cases", "python"]


def test_what_a_format_cannot_express_is_refused() -> None:
    rec = api.recommendation("matmul_epilogue", {})
    with pytest.raises(ValueError, match="no public scripts"):
        format_named("cases").render(rec)


def test_an_unknown_format_is_told_with_those_that_there_are() -> None:
    with pytest.raises(ValueError, match="no export format 'pdf': choose one of header"):
        format_named("pdf")


@pytest.mark.parametrize(
    ("run", "row", "name"),
    [
        ("fa-1", 17, "fa-1-17.hpp"),
        ('../../etc/<b>"x"</b>', 2, "etc-b-x-b-2.hpp"),
        ("管道 🚀", None, "run-changed.hpp"),
    ],
)
def test_file_names_are_plain(run: str, row: int | None, name: str) -> None:
    assert format_named("header").file_name(run, row) == name
