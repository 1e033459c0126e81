"""Which measurements a fit may use: the right chip, one timing protocol, a configuration that the workload has."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pto_tune.table import TableError, check_values

if TYPE_CHECKING:
    from cost_models.platform import Platform
    from db import Measurement
    from pto_tune.model.nodes import Workload
    from pto_tune.rule_sets import RuleSet

FLOOR = 0.01
"""Relative standard error that even a steady measurement has: clock, temperature, what else the board did. Assumed."""

UNKNOWN = 0.03
"""Relative standard error of a measurement that says nothing about its spread. Assumed."""


class CalibrationError(ValueError):
    """A calibration that was asked for wrongly: protocols mixed, an output that may not be written."""


@dataclass(frozen=True)
class Located:
    """A measurement and how a person finds it again: file and number in it, or number in the store."""

    where: str
    measurement: Measurement


@dataclass(frozen=True)
class LeftOut:
    """A row that is not fitted, and why, in one sentence."""

    where: str
    reason: str


@dataclass(frozen=True)
class Row:
    """A measurement that can be predicted. `error` is its relative standard error."""

    located: Located
    workload: Workload
    rule_set: RuleSet
    values: Mapping[str, int]
    measured_us: float
    error: float


def relative_error(m: Measurement) -> float:
    """The relative standard error of a measured mean, with the floor.

    The standard deviation of the repeats over the root of their number (1 if unknown). Without it half the range
    from shortest to longest, which no standard deviation exceeds; without that, `UNKNOWN`.
    """
    spread = m.spread
    if spread is None and m.minimum is not None and m.maximum is not None:
        spread = (m.maximum - m.minimum) / 2
    if spread is None:
        return math.sqrt(FLOOR * FLOOR + UNKNOWN * UNKNOWN)
    mean = spread / m.value / math.sqrt(m.repeats or 1)
    return math.sqrt(FLOOR * FLOOR + mean * mean)


def usable(
    measurements: Iterable[Located], platform: Platform, timing: str | None, workloads: Mapping[str, Workload]
) -> tuple[list[Row], str, list[LeftOut]]:
    """The rows that can be predicted, their timing protocol, and the rows that are left out.

    Args:
        measurements: in any order; rows come out in the order of their digests, each digest once, so that files can be
            given in any order.
        timing: the protocol to fit; None where there is only one.
        workloads: those that are not built in, by name.

    Raises:
        CalibrationError: protocols are mixed and none is chosen.
    """
    out: list[LeftOut] = []
    kept: dict[str, Located] = {}
    for one in measurements:
        reason = _wrong_chip(one.measurement, platform)
        if reason:
            out.append(LeftOut(one.where, reason))
        elif one.measurement.digest in kept:
            first = kept[one.measurement.digest].where
            out.append(LeftOut(one.where, f"it says the same as {first}, which is enough"))
        else:
            kept[one.measurement.digest] = one
    chosen = _timing([one.measurement.timing for one in kept.values()], timing)
    rows = []
    for _, one in sorted(kept.items()):
        if one.measurement.timing != chosen:
            reason = f"it was timed by {one.measurement.timing}, and the fit is of {chosen}"
            out.append(LeftOut(one.where, reason))
            continue
        row = _row(one, platform, workloads)
        if isinstance(row, Row):
            rows.append(row)
        else:
            out.append(row)
    return rows, chosen, out


def _timing(there: Sequence[str], wanted: str | None) -> str:
    if wanted is not None:
        return wanted
    counts = Counter(there)
    if len(counts) > 1:
        listed = ", ".join(f"{name} ({n} {'row' if n == 1 else 'rows'})" for name, n in sorted(counts.items()))
        raise CalibrationError(
            f"the measurements were timed by different protocols, {listed}, which one fit cannot mix: "
            "choose one of them by --timing"
        )
    return next(iter(counts), "")


def names_chip(soc: str, platform: Platform) -> bool:
    """Whether a chip as it was written, `Ascend910B2`, is that of `platform` and no relative of it (`Ascend910B2C`)."""
    from cost_models.platform import load_platform
    from pto_tune.measuring.chips import Chips
    from pto_tune.measuring.faults import RowError

    if _folded(soc) == _folded(platform.soc):
        return True
    try:
        found = Chips().find("", soc).platform
    except RowError:
        return False
    return found is not None and load_platform(found).soc == platform.soc


def _wrong_chip(m: Measurement, platform: Platform) -> str:
    """Why a measurement is of another chip than `platform`; "" where it is of this one."""
    from cost_models.platform import load_platform, platform_names

    if m.platform == platform.name:
        return ""
    soc = load_platform(m.platform).soc if m.platform in platform_names() else m.soc
    if _folded(soc) == _folded(platform.soc):
        return ""
    named = f"platform {m.platform}" if m.platform else f"{m.soc!r}"
    return f"its chip is {named}, and the fit is of {platform.soc}; a chip has to be named in full"


def _folded(soc: str) -> str:
    return re.sub(r"[\s_-]", "", soc.casefold()).removeprefix("ascend")


def _row(one: Located, platform: Platform, workloads: Mapping[str, Workload]) -> Row | LeftOut:
    """The row of a measurement, or why there is none."""
    from pto_tune.rule_sets import rule_set_for
    from pto_tune.workloads import workload as built_in

    m = one.measurement
    try:
        work = workloads.get(m.workload) or built_in(m.workload)
        rule_set = rule_set_for(platform.family, m.pto_isa)
        columns, _ = check_values(work, dict(m.configuration))
    except (TableError, ValueError) as error:
        return LeftOut(one.where, str(error).splitlines()[0])
    values = {name: int(column[0]) for name, column in columns.items()}
    measured_us = m.value if m.metric == "us" else m.value / platform["clock.core_mhz"]
    return Row(one, work, rule_set, values, measured_us, relative_error(m))
