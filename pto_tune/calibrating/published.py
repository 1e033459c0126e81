"""Rows of the published tables as measurements that numbers may be fitted to: those that are marked `fit`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pto_tune.calibrating.rows import CalibrationError, LeftOut, Located
from pto_tune.published.cases import load_table

if TYPE_CHECKING:
    from cost_models.platform import Platform
    from pto_tune.published.cases import Case


def published_rows(tables: Sequence[str], chip: Platform | None = None) -> tuple[list[Located], list[LeftOut]]:
    """The rows marked `fit` of tables, and those of them that cannot be used.

    What is there twice counts once. A busy time stays one. A share of a pipe becomes its busy time, with
    the published time of the same run, which has to stand in the table: what the model makes of that time does not
    enter the fit of the pipe.

    Args:
        chip: leave out the rows of other platforms than the one of its name, without saying so; None for those of all.

    Raises:
        CalibrationError: no table is named, or one is named twice.
        ValueError: an unknown table.
    """
    if not tables or len(set(tables)) < len(tables):
        raise CalibrationError(f"--published {','.join(tables)}: give one or more tables, each once")
    from cost_models.platform import load_platform

    located: list[Located] = []
    out: list[LeftOut] = []
    for name in tables:
        cases = load_table(name)
        for case in cases:
            if case.use == "fit" and (chip is None or chip.name == case.platform):
                found = _located(case, cases, (chip or load_platform(case.platform)).family)
                if isinstance(found, Located) and any(found.digest == other.digest for other in located):
                    continue
                (located if isinstance(found, Located) else out).append(found)  # type: ignore[arg-type]
    return located, out


def _located(case: Case, table: Sequence[Case], family: str) -> Located | LeftOut:
    from db import Measurement

    value = case.measured
    if case.quantity == "share":
        times = [c.measured for c in table if c.quantity == "time" and c.use != "excluded" and _run(c) == _run(case)]
        if not times:
            reason = "it is a share of a time that the table does not have: give that as a row too, or the busy time"
            return LeftOut(case.name, reason)
        value *= sum(times) / len(times)
    measurement = Measurement(
        workload=case.workload,
        configuration=case.configuration,
        family=family,
        soc=case.soc,
        platform=case.platform,
        timing=case.timing,
        value=value,
        pto_isa=case.rules,
        source=case.source,
        note=case.note,
    )
    return Located(case.name, measurement, case.pipe, case.name)


def _run(case: Case) -> tuple[object, ...]:
    """What was run and how it was timed."""
    return case.platform, case.workload, sorted(case.configuration.items()), case.rules, case.timing
