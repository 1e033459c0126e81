"""The numbers that are fitted: which may be, how far each may move, and by how much it is stepped.

How a number is known decides how far it may move: a specification not at all; what has a published range (low and high
in the file) only inside it; a measured number without a range not at all; a fitted or assumed one without a range by a
factor of `FREE_FACTOR` either way, which only keeps the search finite.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cost_models.keys import CLOCK_KEY, Key, find_key, to_base
from cost_models.schema import suggestion
from pto_tune.calibrating.algebra import rounded

if TYPE_CHECKING:
    from cost_models.number import Number
    from cost_models.platform import Platform

FREE_FACTOR = 100.0
"""How far a number without a published range may move."""

RELATIVE_STEP = 0.1
"""Of the value: the step of finite differences. Durations are whole cycles, so that a small step sees nothing or a
jump; with 10 % either way the curvature of bytes over rate costs the derivative 1 %."""

SCALE_STEP = 0.02
"""Of the start value (of the range, where that is 0): the least step."""

CYCLE_STEP = 1.0
"""Cycles: the least step of a number that is counted in cycles, the smallest that every instruction must notice."""

_IN_CYCLES = ("cycles", "cycles a burst", "cycles a row", "cycles a repeat", "delay")


class ParameterError(ValueError):
    """Numbers that cannot be fitted; one sentence a line."""


@dataclass(frozen=True)
class Parameter:
    """A number to fit. `value`, `low` and `high` are in base units, low < high; `published` says whether the bounds
    are the published range (on the sides that the file states)."""

    number: Number
    low: float
    high: float
    clock_mhz: float

    @property
    def key(self) -> str:
        return self.number.key

    @property
    def value(self) -> float:
        return self.number.base

    @property
    def scale(self) -> float:
        """What a change is large or small against, in base units; above 0."""
        return abs(self.value) or self.high - self.low

    @property
    def width(self) -> float:
        """How far the number may be from the truth before anything is measured: its published range, otherwise its
        own size."""
        n = self.number
        return self.high - self.low if n.low is not None and n.high is not None else self.scale

    def step(self, at: float) -> float:
        """The step of finite differences at the value `at`, in base units."""
        least = CYCLE_STEP if _key(self.key).dimension in _IN_CYCLES else 0.0
        return max(RELATIVE_STEP * abs(at), SCALE_STEP * self.scale, least)

    @property
    def unit_worth(self) -> float:
        """One of the file's unit in base units."""
        return to_base(1.0, self.number.unit, self.clock_mhz)

    def in_file(self, base: float) -> float:
        """`base` in the file's unit, to six digits and inside of the published range."""
        n = self.number
        at_end = {self.low: n.low, self.high: n.high}.get(base)
        value = at_end if at_end is not None else rounded(base / self.unit_worth)
        if n.low is not None:
            value = max(value, n.low)
        return value if n.high is None else min(value, n.high)

    def from_file(self, value: float) -> float:
        """A value in the file's unit in base units, as loading the file would give it."""
        return to_base(value, self.number.unit, self.clock_mhz)

    def bound_hit(self, value: float) -> str:
        """Which end of what it may be `value` (base units) is at: "low", "high" or ""."""
        near = 1e-9 * self.scale
        return "low" if value <= self.low + near else "high" if value >= self.high - near else ""

    def ran_away(self, value: float) -> bool:
        """Whether `value` (base units) is at an end that only keeps the search finite: neither published nor the least
        that is physical."""
        n, end = self.number, self.bound_hit(value)
        return (end == "high" and n.high is None) or (end == "low" and n.low is None and _key(self.key).above)


def parameters(platform: Platform, keys: Sequence[str]) -> list[Parameter]:
    """The numbers called `keys`, in their order.

    Raises:
        ParameterError: none is given, one twice, or some cannot be fitted; all of them, with the reason.
    """
    if not keys:
        raise ParameterError("no number to fit is named: give --fit KEY, such as --fit dma.gm_to_ub.rate")
    wrong = [f"--fit {key} is given twice: give it once" for key in dict.fromkeys(keys) if list(keys).count(key) > 1]
    found = []
    for key in dict.fromkeys(keys):
        number = platform.numbers.get(key)
        if number is None:
            near = suggestion(key, platform.numbers)
            wrong.append(f"--fit {key}: platform {platform.name!r} has no such number{near}; see 'pto-tune platforms'")
            continue
        refusal = _refusal(number)
        if refusal:
            wrong.append(f"--fit {key}: {refusal}")
            continue
        low, high = _bounds(number)
        found.append(Parameter(number, low, high, platform[CLOCK_KEY]))
    if wrong:
        raise ParameterError("\n".join(wrong))
    return found


def _key(name: str) -> Key:
    key = find_key(name)
    assert key is not None  # the platform was loaded with it
    return key


def _refusal(n: Number) -> str:
    """Why a number cannot be fitted and what would be right; "" where it can."""
    key = _key(n.key)
    if n.kind == "spec":
        return (
            "it is a specification, which no measurement moves; if it is wrong, state another source for it in a file"
        )
    if key.whole or key.dimension == "frequency":
        return f"it is a {key.dimension}, which is looked up and not fitted; state it in a platform file"
    if n.kind == "measured" and (n.low is None or n.high is None):
        return "it is measured and has no published range to move in; give it low and high in a platform file"
    low, high = _bounds(n)
    if not low < high:
        return f"its range, {low:g} to {high:g} {n.base_unit}, leaves no room; give it another low or high in a file"
    return ""


def _bounds(n: Number) -> tuple[float, float]:
    """How far a number may move, in base units."""
    key = _key(n.key)
    floor = max(key.minimum, n.base / FREE_FACTOR) if key.above else key.minimum
    low = floor if n.base_low is None else n.base_low
    high = n.base * FREE_FACTOR if n.base_high is None else n.base_high
    return low, high
