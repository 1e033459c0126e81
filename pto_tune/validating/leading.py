"""Which numbers of the platforms could explain the errors of a table: a diagnosis; nothing is fitted or changed.

Every number that the cases use is moved alone through its 90 % interval. The error of a case is the logarithm of
predicted over measured, so that half and twice are equally wrong. Between the values that were run, errors are taken as
straight lines over the logarithm of the number. The value at which a table's sum of squared errors is least is one
least-squares problem of one unknown; what it cuts of that sum is how far this number alone could explain the table. A
number leads by what it cuts, and of equals by how little of its interval it needs for that.

Cases that a number was fitted to count as the others do: a number that would close the rest at their cost explains
nothing. Shares of pipes and cases that count for their order only have no error of a time and are left out.

Limits: two numbers that are wrong together may cancel and neither show; and a number whose move explains an error need
not be what is wrong, since what the model lacks can look like it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import exp, inf, isfinite, log, nan
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cost_models.platform import load_platform
from pto_tune.evaluation import Problem
from pto_tune.uncertainty.kinds import range_of
from pto_tune.uncertainty.leaning import in_file_unit
from pto_tune.validating.moving import Response, responses_of
from pto_tune.workloads import workload

if TYPE_CHECKING:
    from cost_models.number import Number
    from cost_models.platform import Platform
    from pto_tune.validating.running import Outcome

    Floats = NDArray[np.float64]

ALL_TABLES = "all tables"
LEAST_CUT = 0.10
"""What a number has to cut of the squared error to be named as its explanation."""

_USED = ("validate", "fit")
_LISTED_CUT = 0.01
_FARTHEST = log(4.0)
_CASE_NUMBERS = 3


@dataclass(frozen=True)
class Lead:
    """A number that would cut the squared error of a table by the share `cut`, moved alone from `value` to `at`.

    `at` lies in its 90 % interval, `moved` (0 to 1) of the half on that side away. Where it is the end, `wanted` is
    the value that would do most if the errors went on as straight lines; NaN where that is farther than a factor of
    four. `low` to `high` is its range, `stated` by its file or given to its kind; `inside` says whether `wanted` is in
    it. Values are in `unit`, as the file has them. `platforms`: those of the table's cases that have this number.
    """

    key: str
    kind: str
    platforms: tuple[str, ...]
    cut: float
    value: float
    at: float
    moved: float
    wanted: float
    inside: bool
    low: float
    high: float
    stated: bool
    unit: str
    source: str


@dataclass(frozen=True)
class CaseLead:
    """The error of a case, log(predicted / measured), and the numbers that could close most of it, at most three.

    `swings`: key, and how far it moves the logarithm of the prediction against the error inside its 90 % interval.
    """

    case: str
    error: float
    swings: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class TableLead:
    """What could explain a table, or all: `leads` that cut at least 1 %, the largest cut first.

    `cases` were looked at, of which `fitted` are such that a number was fitted to; `rms` is the root of their mean
    squared log error; `heaviest` is the case with the largest part `heaviest_share` of its square.
    """

    table: str
    cases: int
    fitted: int
    rms: float
    heaviest: str
    heaviest_share: float
    platforms: tuple[str, ...]
    leads: tuple[Lead, ...]

    @property
    def helping(self) -> tuple[Lead, ...]:
        """The numbers that cut enough to be named."""
        return tuple(lead for lead in self.leads if lead.cut >= LEAST_CUT)


@dataclass(frozen=True)
class Leading:
    """By table, in all (None without cases), and by case. `left_out`: cases that would take long."""

    tables: tuple[TableLead, ...]
    overall: TableLead | None
    cases: tuple[CaseLead, ...]
    left_out: tuple[str, ...]

    def as_plain(self) -> dict[str, Any]:
        """For JSON; what there is not is None."""
        return {
            "least_cut": LEAST_CUT,
            "tables": [_plain(table) for table in self.tables],
            "overall": None if self.overall is None else _plain(self.overall),
            "cases": [
                {"case": c.case, "error": c.error, "swings": [{"key": k, "swing": s} for k, s in c.swings]}
                for c in self.cases
            ],
            "left_out": list(self.left_out),
        }


def _plain(table: TableLead) -> dict[str, Any]:
    out = asdict(table)
    for found in (out, *out["leads"]):
        for name, value in found.items():
            if isinstance(value, float) and not isfinite(value):
                found[name] = None
    return out


_Name = tuple[object, ...]


def leading(
    outcomes: Sequence[Outcome], platforms: Mapping[str, Platform] | None = None, *, slow: bool = False
) -> Leading:
    """The numbers that could explain the errors of these outcomes.

    platforms: what the outcomes were predicted with in place of the built-in platform of a name. slow: also cases whose
    runs would take more than about five seconds, all of one workload, platform and protocol together (those with
    ranks); they are named in `left_out` otherwise. Cases without a prediction have no error and are passed over.
    """
    used = [o for o in outcomes if o.case.quantity != "share" and o.case.use in _USED and _has_error(o)]
    groups: dict[tuple[str, str, str | None, str, str], list[int]] = {}
    for i, o in enumerate(used):
        c = o.case
        groups.setdefault((c.workload, c.platform, c.rules, c.timing, c.quantity), []).append(i)
    responses: dict[_Name, list[Response]] = {}
    late: set[int] = set()
    names = {chip: own.name for chip, own in (platforms or {}).items()}
    for (name, chip, rules, timing, _), at in groups.items():
        problem = Problem.of(workload(name), (platforms or {}).get(chip) or load_platform(chip), rules, timing)
        found = responses_of(problem, used, at, slow)
        if found is None:
            late |= set(at)
        for r in found or ():
            responses.setdefault(_name(r.number), []).append(r)
    errors = np.array([log(o.predicted / o.case.measured) for o in used])
    kept = [i for i in range(len(used)) if i not in late]
    tables: dict[str, list[int]] = {}
    for i in kept:
        tables.setdefault(used[i].case.table, []).append(i)
    return Leading(
        tuple(_table(table, used, errors, at, responses, names) for table, at in tables.items()),
        _table(ALL_TABLES, used, errors, kept, responses, names) if kept else None,
        tuple(_case(used[i], float(errors[i]), i, responses) for i in kept),
        tuple(used[i].case.name for i in sorted(late)),
    )


def _has_error(o: Outcome) -> bool:
    return isfinite(o.predicted) and o.predicted > 0


def _name(number: Number) -> _Name:
    """Numbers that several platforms inherit from one file are one number."""
    n = number
    return (n.key, n.value, n.unit, n.kind, n.low, n.high, n.source)


def closest(values: Floats, errors: Floats) -> tuple[float, float, float]:
    """Where straight lines between errors (values, cases) have their least sum of squares.

    values: two or more, ascending. Returns that sum, the place, and where the line of the outermost piece would have
    its least sum if the place is an end and it falls on beyond (else the place again).
    """
    first, step = errors[:-1], errors[1:] - errors[:-1]
    size = (step**2).sum(axis=1)
    free = np.where(size > 0, -(first * step).sum(axis=1) / np.where(size > 0, size, 1.0), 0.0)
    part = np.clip(free, 0.0, 1.0)
    sums = ((first + part[:, None] * step) ** 2).sum(axis=1)
    i = int(np.argmin(sums))
    low, width = float(values[i]), float(values[i + 1] - values[i])
    beyond = (i == 0 and free[i] < 0) or (i == len(sums) - 1 and free[i] > 1)
    place = low + float(part[i]) * width
    return float(sums[i]), place, low + float(free[i]) * width if beyond else place


def _table(
    table: str,
    used: Sequence[Outcome],
    errors: Floats,
    at: list[int],
    responses: Mapping[_Name, list[Response]],
    names: Mapping[str, str],
) -> TableLead:
    own = errors[at]
    square = float((own**2).sum())
    leads = [lead for found in responses.values() if (lead := _lead(found, own, at, square)) is not None]
    leads.sort(key=lambda lead: (-round(lead.cut, 2), lead.moved, lead.key))
    heaviest = int(np.argmax(own**2))
    return TableLead(
        table,
        len(at),
        sum(used[i].case.use == "fit" for i in at),
        (square / len(at)) ** 0.5,
        used[at[heaviest]].case.name,
        float(own[heaviest] ** 2) / square if square > 0 else nan,
        tuple(dict.fromkeys(names.get(used[i].case.platform, used[i].case.platform) for i in at)),
        tuple(leads),
    )


def _lead(found: Sequence[Response], own: Floats, at: list[int], square: float) -> Lead | None:
    """What one number does for the cases `at` with errors `own`; None where that is next to nothing."""
    place = {case: i for i, case in enumerate(at)}
    here = [r for r in found if any(case in place for case in r.cases)]
    if not here or square <= 0:
        return None
    least = max(float(r.values[0]) for r in here)
    most = min(float(r.values[-1]) for r in here)
    values = np.unique(np.concatenate([r.values for r in here]))
    values = values[(values >= least) & (values <= most)]
    if values.shape[0] < 2:
        return None
    logarithmic = least > 0
    scale = np.log if logarithmic else np.asarray
    moved = np.tile(own, (values.shape[0], 1))
    for r in here:
        for column, case in enumerate(r.cases):
            if case in place:
                moved[:, place[case]] += np.interp(scale(values), scale(r.values), r.changes[:, column])
    total, best, wanted = closest(scale(values), moved)
    cut = 1.0 - total / square
    if cut < _LISTED_CUT:
        return None
    number, chip = here[0].number, here[0].platform
    nominal = float(scale(np.array(number.value)))
    end = float(scale(np.array(least if best < nominal else most)))
    low, high = (in_file_unit(chip, number.key, v) for v in range_of(number))
    back = exp if logarithmic else float
    far = abs(wanted - best) > (_FARTHEST if logarithmic else inf)
    needed = nan if far else back(wanted)
    slack = 1e-9 * max(abs(low), abs(high))
    return Lead(
        key=number.key,
        kind=number.kind,
        platforms=tuple(dict.fromkeys(r.platform.name for r in here)),
        cut=cut,
        value=number.value,
        at=back(best),
        moved=abs((best - nominal) / (end - nominal)) if end != nominal else 0.0,
        wanted=needed,
        inside=low - slack <= needed <= high + slack,
        low=low,
        high=high,
        stated=number.low is not None and number.high is not None,
        unit=number.unit,
        source=number.source,
    )


def _case(o: Outcome, error: float, case: int, responses: Mapping[_Name, list[Response]]) -> CaseLead:
    swings = [
        (r.number.key, float(np.max(-np.sign(error) * r.changes[:, r.cases.index(case)])))
        for found in responses.values()
        for r in found
        if case in r.cases
    ]
    moving = sorted((s for s in swings if s[1] > 0), key=lambda s: (-s[1], s[0]))
    return CaseLead(o.case.name, error, tuple(moving[:_CASE_NUMBERS]))
