"""A whole calibration: rows chosen, numbers fitted, what cannot be determined refused, errors before and after."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cost_models.keys import OVERRIDE
from pto_tune.calibrating.algebra import dot, quantile
from pto_tune.calibrating.determining import Slopes, Undetermined, covariance, undetermined
from pto_tune.calibrating.fitting import Search, residual
from pto_tune.calibrating.parameters import Parameter, parameters
from pto_tune.calibrating.predicting import Predictor, at_values, possible
from pto_tune.calibrating.rows import UNKNOWN, CalibrationError, LeftOut, Located, Row, usable

if TYPE_CHECKING:
    from cost_models.number import Number
    from cost_models.platform import Platform
    from pto_tune.model.nodes import Workload

Floats = NDArray[np.float64]


class NothingFitted(ValueError):
    """The question was put rightly and the measurements do not answer it; one sentence a line.

    `left_out` are the rows that were not fitted, `undetermined` the numbers that the others do not determine."""

    def __init__(self, text: str, left_out: Sequence[LeftOut], undetermined: Sequence[Undetermined] = ()) -> None:
        super().__init__(text)
        self.left_out = tuple(left_out)
        self.undetermined = tuple(undetermined)


@dataclass(frozen=True)
class FittedNumber:
    """A number before and after; one that is tied has the parameter of the first.

    `before`, `after`, `standard_error`, `low` and `high` are in the file's unit; low and high are the published range,
    None where there is none. `bound_hit`: the end of what it may be that it is at, "low" or "high"; its true value may
    lie beyond, and its standard error is that of a fit without bounds. `vague`: its standard error is larger than what
    was known of it before, because the rows scatter.
    """

    parameter: Parameter
    number: Number
    before: float
    after: float
    standard_error: float
    bound_hit: str

    @property
    def tied_to(self) -> str:
        """The key of the number that this one is a copy of; "" where it has a value of its own."""
        return "" if self.key == self.parameter.key else self.parameter.key

    @property
    def vague(self) -> bool:
        return self.standard_error * self.parameter.unit_worth > self.parameter.width

    @property
    def key(self) -> str:
        return self.number.key

    @property
    def unit(self) -> str:
        return self.number.unit

    @property
    def low(self) -> float | None:
        return self.number.low

    @property
    def high(self) -> float | None:
        return self.number.high


@dataclass(frozen=True)
class Errors:
    """|predicted / measured - 1| over the rows, and the sum of squared residuals, each over its standard error."""

    median: float
    p90: float
    worst: float
    chi_square: float


@dataclass(frozen=True)
class FittedRow:
    """A row of the fit with its times before and after; `residual` is (predicted - measured) / sqrt(predicted x
    measured) after it."""

    row: Row
    before_us: float
    after_us: float
    residual: float


@dataclass(frozen=True)
class Calibration:
    """What came out.

    `covariance` (k, k) is in the units of the file, of all numbers, tied ones included; `platform` the old platform,
    `fitted` the same with the new values, rounded as a file holds them. `improved` says whether the numbers moved: they
    do not where that would make the sum of squares larger.
    """

    platform: Platform
    fitted: Platform
    timing: str
    numbers: tuple[FittedNumber, ...]
    covariance: Floats
    rows: tuple[FittedRow, ...]
    left_out: tuple[LeftOut, ...]
    before: Errors
    after: Errors
    improved: bool
    evaluations: int

    @property
    def degrees_of_freedom(self) -> int:
        """Rows less numbers with a value of their own."""
        return len(self.rows) - sum(not n.tied_to for n in self.numbers)

    @property
    def scatter(self) -> float:
        """How many times as far the rows scatter around the fit as their standard errors say; NaN where no row is
        left to tell."""
        n = self.degrees_of_freedom
        return math.sqrt(self.after.chi_square / n) if n > 0 else math.nan


def calibrate(
    platform: Platform,
    keys: Sequence[str],
    measurements: Iterable[Located],
    *,
    timing: str | None = None,
    workloads: Mapping[str, Workload] | None = None,
    unknown: float = UNKNOWN,
) -> Calibration:
    """Fit the numbers `keys` of `platform` to measurements.

    Minimises the sum of ((predicted - measured) / sqrt(predicted x measured) / standard error)^2 inside the bounds of
    each number (see `parameters`), with the standard errors of `rows.relative_error`. The result depends on neither the
    order of the measurements nor the machine.

    Args:
        keys: numbers of the platform; `A=B` fits one value for both.
        measurements: of any chip and protocol; those that do not fit are left out with a reason.
        timing: the protocol of the times to fit, one of `cost_models.launch.TIMINGS`; None where the rows have only
            one. Busy times of pipes may stand beside any.
        workloads: those that are not built in, by name.
        unknown: relative standard error of rows that say nothing about their spread.

    Raises:
        ParameterError: a key is unknown or may not be fitted.
        CalibrationError: protocols are mixed, or the platform has numbers that stand in no file.
        NothingFitted: no row is left, or the rows do not determine the numbers.

    Limits: the minimum is a local one, searched from the values of the platform.
    """
    own = [n.key for n in platform.numbers.values() if n.kind == OVERRIDE]
    if own:
        raise CalibrationError(
            f"platform {platform.name!r} has numbers that stand in no file, {', '.join(own)}: put them into a platform "
            "file and calibrate that"
        )
    fit_of = parameters(platform, keys)
    rows, chosen, left_out = usable(measurements, platform, timing, workloads or {}, unknown)
    rows, impossible = possible(rows, chosen, platform, fit_of)
    left_out += impossible
    if not rows:
        n = len(left_out)
        why = f" (all {n} are left out, the first, {left_out[0].where}, because {left_out[0].reason})" if n else ""
        raise NothingFitted(f"there is no measurement to fit{why}: give measurements of {platform.soc}", left_out)
    return _fit(platform, fit_of, rows, chosen, left_out)


def _fit(
    platform: Platform, fit_of: list[Parameter], rows: list[Row], timing: str, left_out: list[LeftOut]
) -> Calibration:
    predictor = Predictor(rows, timing)
    before = predictor.predict(platform)
    measured = np.array([row.measured_us for row in rows])
    error = np.array([row.error for row in rows])

    def weighted(values: Floats) -> Floats:
        found = residual(predictor.times_us(at_values(platform, fit_of, values)), measured) / error
        return np.where(np.isfinite(found), found, np.inf)

    search = Search(fit_of, weighted)
    found = search.run()
    bounds = predictor.predict(at_values(platform, fit_of, found.values)).bounds
    jacobian = search.jacobian(found.values)
    wrong = undetermined(fit_of, Slopes(jacobian, *search.one_sided(found.values)), found.values, bounds)
    if wrong:
        raise NothingFitted("\n".join(one.sentence for one in wrong), left_out, wrong)
    start = np.array([p.value for p in fit_of])
    errors_before = _errors(before.time_us, measured, error)
    values = np.array([p.from_file(p.in_file(float(x))) for p, x in zip(fit_of, found.values, strict=True)])
    # what is written is what is judged: rounding must not undo the fit
    improved = search.chi_square(values) < errors_before.chi_square
    if not improved:
        values = start
    fitted = at_values(platform, fit_of, values) if improved else platform
    after = predictor.predict(fitted)
    errors_after = _errors(after.time_us, measured, error)
    spread = covariance(fit_of, jacobian, errors_after.chi_square)
    numbers = tuple(
        FittedNumber(
            parameter=p,
            number=n,
            before=n.value,
            after=p.in_file(float(x)) if improved else n.value,
            standard_error=math.sqrt(float(spread[j, j])) / p.unit_worth,
            bound_hit=p.bound_hit(float(x)),
        )
        for j, (p, x) in enumerate(zip(fit_of, values, strict=True))
        for n in p.numbers
    )
    # a tied number varies as the one that it is tied to
    place = [j for j, p in enumerate(fit_of) for _ in p.numbers]
    worth = np.array([fit_of[j].unit_worth for j in place])
    left = residual(after.time_us, measured)
    return Calibration(
        platform=platform,
        fitted=fitted,
        timing=timing,
        numbers=numbers,
        covariance=spread[np.ix_(place, place)] / worth[:, None] / worth[None, :],
        rows=tuple(
            FittedRow(row, float(before.time_us[i]), float(after.time_us[i]), float(left[i]))
            for i, row in enumerate(rows)
        ),
        left_out=tuple(left_out),
        before=errors_before,
        after=errors_after,
        improved=improved,
        evaluations=predictor.evaluations,
    )


def _errors(predicted: Floats, measured: Floats, error: Floats) -> Errors:
    size = np.abs(predicted / measured - 1).tolist()
    r = residual(predicted, measured) / error
    return Errors(quantile(size, 0.5), quantile(size, 0.9), max(size), dot(r, r))
