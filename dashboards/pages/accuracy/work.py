"""The validation behind the page of accuracy: run once a server in a thread, for a version and its platform files."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dashboards.figures.accuracy import Intervals
    from pto_tune.validating.leading import Leading
    from pto_tune.validating.report import Report

PREDICTED, SURE, DONE = range(1, 4)
"""Stages that are over: the cases are predicted, their intervals are there, the leading numbers are there."""

_DOING = (
    "predicting the published cases, with and without what each table taught",
    "running the cases with sampled numbers, for the intervals",
    "moving every number through its interval, to see which decide",
    "",
)


@dataclass
class Validation:
    """How far a validation is. Written by its own thread alone; what is not there yet is None.

    `failed` by stage says what went wrong; the other stages go on where they can.
    """

    began: float = field(default_factory=time.monotonic)
    stage: int = 0
    report: Report | None = None
    intervals: Intervals | None = None
    leading: Leading | None = None
    failed: dict[int, str] = field(default_factory=dict)

    @property
    def over(self) -> bool:
        """Whether nothing more will come."""
        return self.stage == DONE

    def doing(self) -> str:
        """What is being done, and for how long; "" where all is over."""
        if self.over:
            return ""
        return f"Validating: {_DOING[self.stage]} ({time.monotonic() - self.began:.0f} s so far) …"


_lock = threading.Lock()
_known: dict[tuple[str, ...], Validation] = {}


def validation() -> Validation:
    """The validation of this version with the platform files as they are now, started where there is none yet."""
    from cost_models.platform import load_platform, platform_names
    from pto_tune import __version__

    key = (__version__, *(load_platform(name).sha256 for name in platform_names()))
    with _lock:
        found = _known.get(key)
        # one whose cases could not be predicted is tried again
        if found is None or (found.over and found.report is None):
            _known.clear()
            found = _known[key] = Validation()
            threading.Thread(target=run, args=(found,), name="validation", daemon=True).start()
        return found


def run(of: Validation) -> None:
    """All stages, one after the other."""
    for stage, step in ((PREDICTED, _predict), (SURE, _intervals), (DONE, _leading)):
        try:
            step(of)
        except ValueError as error:
            of.failed[stage] = str(error)
        except Exception:
            logging.getLogger("pto_tune.serve").exception("a part of the validation failed")
            of.failed[stage] = "this part failed; the server's messages say why"
        of.stage = stage


def _predict(of: Validation) -> None:
    from pto_tune.validating.report import validate

    of.report = validate()


def _intervals(of: Validation) -> None:
    from dashboards.figures.accuracy import case_intervals

    if of.report is not None:
        of.intervals = case_intervals(of.report.outcomes)


def _leading(of: Validation) -> None:
    from pto_tune.validating.leading import leading

    if of.report is not None:
        of.leading = leading(of.report.outcomes)
