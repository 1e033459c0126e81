"""Single values of a recommendation: sentences for what is no whole number in its range, or no known choice."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator

UINT8_MAX = 2**8 - 1
UINT32_MAX = 2**32 - 1
INT64_MAX = 2**63 - 1


def range_faults(what: str, value: object, low: int, high: int) -> Iterator[str]:
    """The sentence for a value that is no whole number from `low` to `high`."""
    number = _whole(value)
    if number is None:
        yield f"{what} is {value!r}: a whole number would be right"
    elif not low <= number <= high:
        yield f"{what} is {number}: a value from {low} to {high} would be right"


def choice_faults(what: str, value: object, choices: Iterable[str]) -> Iterator[str]:
    """The sentence for a value that is none of `choices`."""
    known = tuple(choices)
    if value not in known:
        yield f"{what} is {value!r}: one of {', '.join(known)} would be right"


def _whole(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None
