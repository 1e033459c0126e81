"""Which measurements a fit may use: the right chip, one timing protocol, a configuration that the workload has."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
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


BUSY_TIMING = "device"
"""The protocol of rows of which each is the time of a pipe: read on the device, like its clock."""


class CalibrationError(ValueError):
    """A calibration that was asked for wrongly: protocols mixed, an output that may not be written."""


@dataclass(frozen=True)
class Located:
    """A measurement and how a person finds it again: file and number in it, or number in the store.

    With a `pipe`, such as "AIC.M", the measurement is the time in which that pipe is busy: no launch overhead is in it,
    so that it may stand beside times of any protocol. `case` names a published case.
    """

    where: str
    measurement: Measurement
    pipe: str = ""
    case: str = ""

    @property
    def digest(self) -> str:
        """The measurement's, with the pipe in it."""
        plain = self.measurement.digest
        return sha256(f"{self.pipe} {plain}".encode()).hexdigest() if self.pipe else plain


@dataclass(frozen=True)
class LeftOut:
    """A row that is not fitted, and why, in one sentence."""

    where: str
    reason: str


@dataclass(frozen=True)
class Row:
    """A measurement that can be predicted. `error` is its relative standard error; `measured_us` of a row with a pipe
    is the time in which that pipe is busy."""

    located: Located
    workload: Workload
    rule_set: RuleSet
    values: Mapping[str, int]
    measured_us: float
    error: float


def relative_error(m: Measurement, unknown: float = UNKNOWN) -> float:
    """The relative standard error of a measured mean, with the floor.

    The standard deviation of the repeats over the root of their number (1 if unknown). Without it half the range
    from shortest to longest, which no standard deviation exceeds; without that, `unknown`.
    """
    spread = m.spread
    if spread is None and m.minimum is not None and m.maximum is not None:
        spread = (m.maximum - m.minimum) / 2
    if spread is None:
        return math.sqrt(FLOOR * FLOOR + unknown * unknown)
    mean = spread / m.value / math.sqrt(m.repeats or 1)
    return math.sqrt(FLOOR * FLOOR + mean * mean)


def usable(
    measurements: Iterable[Located],
    platform: Platform,
    timing: str | None,
    workloads: Mapping[str, Workload],
    unknown: float = UNKNOWN,
) -> tuple[list[Row], str, list[LeftOut]]:
    """The rows that can be predicted, their timing protocol, and the rows that are left out.

    Args:
        measurements: in any order; rows come out in the order of their digests, each digest once, so that files can be
            given in any order.
        timing: the protocol of the times to fit; None where there is only one. Busy times of pipes are of none.
        workloads: those that are not built in, by name.
        unknown: relative standard error of rows that say nothing about their spread.

    Raises:
        CalibrationError: protocols are mixed and none is chosen, or `unknown` is no share.
    """
    if not 0 <= unknown < 1:
        raise CalibrationError(f"a relative standard error of {unknown:g}: give a share from 0 to 1, such as 0.03")
    out: list[LeftOut] = []
    kept: dict[str, Located] = {}
    for one in measurements:
        reason = _wrong_chip(one.measurement, platform)
        if reason:
            out.append(LeftOut(one.where, reason))
        elif one.digest in kept:
            first = kept[one.digest].where
            out.append(LeftOut(one.where, f"it says the same as {first}, which is enough"))
        else:
            kept[one.digest] = one
    chosen = _timing([one.measurement.timing for one in kept.values() if not one.pipe], timing)
    rows = []
    for _, one in sorted(kept.items()):
        if not one.pipe and one.measurement.timing != chosen:
            reason = f"it was timed by {one.measurement.timing}, and the fit is of {chosen}"
            out.append(LeftOut(one.where, reason))
            continue
        row = _row(one, platform, workloads, unknown)
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
    return next(iter(counts), BUSY_TIMING)


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


def _row(one: Located, platform: Platform, workloads: Mapping[str, Workload], unknown: float) -> Row | LeftOut:
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
    return Row(one, work, rule_set, values, measured_us, relative_error(m, unknown))
