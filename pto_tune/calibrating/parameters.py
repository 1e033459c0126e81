"""The numbers that are fitted: which may be, how far each may move, and by how much it is stepped.

How a number is known decides how far it may move: a specification not at all; what has a published range (low and high
in the file) only inside it; a measured number without a range not at all; a fitted or assumed one without a range by a
factor of `FREE_FACTOR` either way, which only keeps the search finite.

`A=B` ties two numbers (or more): one value is fitted for both, inside the ranges of both.
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
    """A number to fit, with those that are tied to it and have its unit. `low` and `high` are in base units, low <
    high: as far as all of them may move."""

    number: Number
    low: float
    high: float
    clock_mhz: float
    tied: tuple[Number, ...] = ()

    @property
    def key(self) -> str:
        """The first of its numbers, by which it is called."""
        return self.number.key

    @property
    def numbers(self) -> tuple[Number, ...]:
        """The number and those that are tied to it."""
        return self.number, *self.tied

    @property
    def published_low(self) -> float | None:
        """Where the published ranges end, in the file's unit; None where none does."""
        return max((n.low for n in self.numbers if n.low is not None), default=None)

    @property
    def published_high(self) -> float | None:
        """As `published_low`."""
        return min((n.high for n in self.numbers if n.high is not None), default=None)

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
        published = self.published_low is not None and self.published_high is not None
        return self.high - self.low if published else self.scale

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
        low, high = self.published_low, self.published_high
        at_end = {self.low: low, self.high: high}.get(base)
        value = at_end if at_end is not None else rounded(base / self.unit_worth)
        if low is not None:
            value = max(value, low)
        return value if high is None else min(value, high)

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
        end = self.bound_hit(value)
        return (end == "high" and self.published_high is None) or (
            end == "low" and self.published_low is None and _key(self.key).above
        )


def parameters(platform: Platform, fits: Sequence[str]) -> list[Parameter]:
    """The numbers called `fits`, in their order: keys, or keys that are tied, `A=B`.

    Raises:
        ParameterError: none is given, one twice, or some cannot be fitted; all of them, with the reason.
    """
    if not fits:
        raise ParameterError("no number to fit is named: give --fit KEY, such as --fit dma.gm_to_ub.rate")
    groups = [[key.strip() for key in fit.split("=")] for fit in fits]
    named = [key for group in groups for key in group]
    wrong = [f"--fit {key} is given twice: give it once" for key in dict.fromkeys(named) if named.count(key) > 1]
    for key in dict.fromkeys(named):
        number = platform.numbers.get(key)
        if number is None:
            near = suggestion(key, platform.numbers)
            wrong.append(f"--fit {key}: platform {platform.name!r} has no such number{near}; see 'pto-tune platforms'")
        elif _refusal(number):
            wrong.append(f"--fit {key}: {_refusal(number)}")
    if wrong:
        raise ParameterError("\n".join(wrong))
    found = []
    for group in groups:
        numbers = [platform.numbers[key] for key in group]
        low, high = max(_bounds(n)[0] for n in numbers), min(_bounds(n)[1] for n in numbers)
        if len({n.unit for n in numbers}) > 1:
            units = ", ".join(f"{n.key} in {n.unit}" for n in numbers)
            wrong.append(f"--fit {'='.join(group)}: they have different units, {units}: state them in one unit")
        elif not low < high:
            unit = numbers[0].base_unit
            wrong.append(f"--fit {'='.join(group)}: their ranges leave no room, {low:g} to {high:g} {unit}: untie them")
        found.append(Parameter(numbers[0], low, high, platform[CLOCK_KEY], tuple(numbers[1:])))
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
