"""Measurements of the store as cases with predictions, to stand beside published ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from db import StoredMeasurement
    from pto_tune.published.cases import Case
    from pto_tune.validating.running import Outcome

MOST = 5_000
"""Measurements that are joined with predictions."""


@dataclass(frozen=True)
class Joined:
    """Measurements with predictions, and a sentence for those that have none, by number."""

    outcomes: tuple[Outcome, ...]
    left_out: tuple[str, ...]


def joined(measurements: Iterable[StoredMeasurement]) -> Joined:
    """Predict each measurement with the built-in workload and platform that it names, by its own timing protocol."""
    cases: list[Case] = []
    left: list[str] = []
    for m in measurements:
        try:
            cases.append(_case(m))
        except ValueError as error:
            left.append(f"measurement {m.id}: {error}")
    found, wrong = _predicted(cases)
    return Joined(tuple(found), (*left, *wrong))


def _case(m: StoredMeasurement) -> Case:
    """ValueError where nothing built in can predict it."""
    from cost_models.launch import TIMINGS
    from cost_models.platform import load_platform, platform_names
    from pto_tune.evaluation import Problem
    from pto_tune.published.cases import Case
    from pto_tune.table import check_values
    from pto_tune.workloads import workload

    work = workload(m.workload)
    if m.platform not in platform_names():
        raise ValueError(f"{m.soc!r} is none of the built-in platforms {', '.join(platform_names())}")
    if m.timing not in TIMINGS:
        raise ValueError(f"timing {m.timing!r} is none of {', '.join(TIMINGS)}")
    chip = load_platform(m.platform)
    Problem.of(work, chip, m.pto_isa, m.timing)
    check_values(work, m.configuration)
    value = m.value if m.metric == "us" else m.value / float(chip["clock.core_mhz"])
    return Case(
        table=f"this store: {m.workload}", id=str(m.id), series=m.workload, soc=m.soc, platform=m.platform,
        workload=m.workload, configuration=dict(m.configuration), rules=m.pto_isa, timing=m.timing, quantity="time",
        pipe="", value=value, unit="us", work=0, use="validate", why="", slow=False, source=m.source, note=m.note,
    )  # fmt: skip


def _predicted(cases: Sequence[Case]) -> tuple[list[Outcome], list[str]]:
    """Outcomes of the cases, those of one problem in one call; a problem that fails is left out as a whole."""
    from pto_tune.validating.running import predict

    groups: dict[tuple[object, ...], list[Case]] = {}
    for c in cases:
        groups.setdefault((c.workload, c.platform, c.rules, c.timing), []).append(c)
    out: list[Outcome] = []
    left: list[str] = []
    for own in groups.values():
        try:
            found = predict(own)
        except ValueError as error:
            left += [f"measurement {c.id}: {error}" for c in own]
            continue
        left += [f"measurement {o.case.id}: {o.verdict}, {o.reason}" for o in found if not o.predicted > 0]
        out += [o for o in found if o.predicted > 0]
    return out, left
