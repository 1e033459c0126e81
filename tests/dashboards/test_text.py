"""Text in figures shows as it is, and numbers carry few digits and a unit."""

from __future__ import annotations

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboards.text import byte_count, microseconds, percent, plain, plain_in_template, shorten, wrapped


@given(st.text(alphabet=st.characters(exclude_characters="\n\r\t")))
def test_plain_text_is_what_a_reader_of_html_sees(text: str) -> None:
    shown = plain(text)
    assert "<" not in shown
    assert ">" not in shown
    assert html.unescape(shown) == html.unescape(html.escape(text, quote=False))


@given(st.text())
def test_a_name_never_opens_a_variable_of_a_hover_template(text: str) -> None:
    assert "%" not in plain_in_template(text)
    assert "<" not in plain_in_template(text)


def test_text_is_cut_before_it_is_escaped_so_that_no_entity_is_cut() -> None:
    assert plain("<<<<<<", 4) == "&lt;&lt;&lt;…"
    assert shorten("abcd", 4) == "abcd"


def test_a_sentence_is_wrapped_and_each_line_escaped() -> None:
    assert wrapped("a <b> c", 4) == "a<br>&lt;b&gt;<br>c"


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.1234, "0.123"), (88.9, "88.90"), (123.456, "123.5"), (1506.2, "1,506"), (1234567.0, "1,234,567")],
)
def test_times(value: float, shown: str) -> None:
    assert microseconds(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0 B"),
        (1023, "1,023 B"),
        (1024, "1 KiB"),
        (1536, "1.5 KiB"),
        (3 * 1024**2, "3 MiB"),
        (2**60, "1,048,576 TiB"),
    ],
)
def test_bytes(value: int, shown: str) -> None:
    assert byte_count(value) == shown


@pytest.mark.parametrize(
    ("part", "whole", "shown"),
    [
        (0, 10, "0 %"),
        (1, 8, "12.5 %"),
        (1, 10**6, "< 0.1 %"),
        (99_999, 100_000, "99.9 %"),
        (5, 5, "100 %"),
        (1, 0, "0 %"),
    ],
)
def test_shares_never_claim_all_or_nothing_wrongly(part: int, whole: int, shown: str) -> None:
    assert percent(part, whole) == shown
