"""Text for figures: numbers with units, and names that show as they are.

Plotly reads a little HTML (tags and entities) in every text it draws, and ``%{...}`` in hover templates. A
run, a rule or a tunable may carry any characters, so whatever comes from outside goes through `plain` or
`plain_in_template`.
"""

from __future__ import annotations

from textwrap import wrap

_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\n": " ", "\r": " ", "\t": " "})


def plain(text: object, limit: int | None = None) -> str:
    """`text` so that plotly draws every character of it; longer than `limit` characters, it ends in an
    ellipsis.
    """
    return shorten(str(text), limit).translate(_ENTITIES)


def plain_in_template(text: object, limit: int | None = None) -> str:
    """Like `plain`, for use inside a hover template: ``%`` must not open a variable."""
    return plain(text, limit).replace("%", "&#37;")


def shorten(text: str, limit: int | None) -> str:
    """`text` cut to at most `limit` characters, the last of them an ellipsis where something was cut."""
    if limit is None or len(text) <= limit:
        return text
    return text[: limit - 1] + "…"


def wrapped(sentence: str, width: int) -> str:
    """`sentence` escaped for plotly and broken into lines of at most `width` characters."""
    return "<br>".join(plain(line) for line in wrap(sentence, width))


def microseconds(value_us: float) -> str:
    """A time in microseconds with about four significant digits and no exponent, without the unit."""
    for floor, digits in ((1000.0, 0), (100.0, 1), (10.0, 2)):
        if abs(value_us) >= floor:
            return f"{value_us:,.{digits}f}"
    return f"{value_us:.3f}"


def byte_count(value: float) -> str:
    """Bytes with a binary unit: ``1.5 KiB``; bytes below 1,024 are exact."""
    if abs(value) < 1024:
        return f"{value:,.0f} B"
    units = ("KiB", "MiB", "GiB", "TiB")
    power = next((p for p in range(1, len(units)) if abs(value) < 1024 ** (p + 1)), len(units))
    return f"{value / 1024**power:,.1f}".removesuffix(".0") + f" {units[power - 1]}"


def percent(part: float, whole: float) -> str:
    """A share as ``12.3 %``; an empty whole gives ``0 %`` and a part that rounds to nothing ``< 0.1 %``."""
    if whole <= 0 or part <= 0:
        return "0 %"
    share = 100.0 * part / whole
    if share < 0.1:
        return "< 0.1 %"
    # A share that is not the whole is never shown as the whole.
    shown = share if part >= whole else min(share, 99.9)
    return f"{shown:.1f}".removesuffix(".0") + " %"
