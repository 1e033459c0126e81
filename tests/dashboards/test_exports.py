"""The registry of export formats."""

from __future__ import annotations

import pytest

from dashboards.exports import FORMATS, format_named
from pto_tune import api


def test_every_format_renders_a_safe_configuration() -> None:
    rec = api.recommendation("flash_attention", {"s0": 128, "s1": 512})
    for form in FORMATS:
        assert form.render(rec)
        assert format_named(form.key) is form


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
