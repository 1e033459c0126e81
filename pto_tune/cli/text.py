"""Values as text: numbers with their units, names that a terminal cannot take for commands."""

from __future__ import annotations

import math
import unicodedata
from typing import Any

NOTHING = "-"
"""Shown where there is no value."""


def printable(text: object) -> str:
    """Text without characters that move the cursor, switch colours or cannot be encoded."""
    return "".join("?" if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") else c for c in str(text))


def microseconds(value: float | None) -> str:
    """A time in microseconds with four digits or more: 88.93, 1,506.2."""
    if value is None or not math.isfinite(value):
        return NOTHING
    digits = 3 if abs(value) < 10 else 2 if abs(value) < 1000 else 1
    return f"{value:,.{digits}f}"


def percent(share: float | None) -> str:
    """A share between 0 and 1 as per cent."""
    return NOTHING if share is None or not math.isfinite(share) else f"{100 * share:.1f} %"


def size(number: int | None) -> str:
    """Bytes in the largest binary unit that leaves 1 or more: 640 B, 96 KiB, 12.5 MiB."""
    if number is None:
        return NOTHING
    value, unit = float(number), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if abs(value) < 1024:
            break
        value, unit = value / 1024, larger
    return f"{value:,.1f}".removesuffix(".0") + f" {unit}"


def count(number: int | None) -> str:
    """A whole number with thousands separated."""
    return NOTHING if number is None else f"{number:,}"


def settings(values: dict[str, Any]) -> str:
    """Names and values on one line: a=1, b=UP_DOWN."""
    return ", ".join(f"{name}={value}" for name, value in values.items())


def bar(share: float, width: int = 30) -> str:
    """A bar of `width` characters at share 1."""
    if not math.isfinite(share):
        return ""
    return "#" * max(0, min(width, round(share * width)))
