"""An entry of a baseline against the same search today: what is slower, what is not legal any more, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pto_tune.checking.baseline import Entry
from pto_tune.checking.searches import Asked, entry_of

if TYPE_CHECKING:
    from pto_tune.tuning import Progress, TuneResult

_ROUNDING = 1e-9
"""Of times that are read back from text and added up again."""


@dataclass(frozen=True)
class Today:
    """The baseline's configuration as it is seen today: its verdict and why, its time (None where it has none) and the
    change of that as a share."""

    verdict: str
    reason: str
    time_us: float | None
    change: float | None


@dataclass(frozen=True)
class Comparison:
    """What has become of an entry.

    Attributes:
        then: the entry. now: today's entry, None where no configuration is legal any more.
        change: best time today over that of the baseline, minus 1; None without one.
        baseline_today: the baseline's configuration today.
        settings: tunables and sizes whose best value is another one, (then, now) by name.
        verdicts: configurations by verdict, (then, now), where these differ.
        causes: what is not as it was: version, platform, rule set, workload.
        regressions: sentences; none where the check passes.
    """

    then: Entry
    now: Entry | None
    change: float | None
    baseline_today: Today
    settings: Mapping[str, tuple[Any, Any]]
    verdicts: Mapping[str, tuple[int, int]]
    causes: tuple[str, ...]
    regressions: tuple[str, ...]

    @property
    def state(self) -> str:
        """regression, improved, changed or unchanged."""
        if self.regressions:
            return "regression"
        if self.change is not None and self.change < -_ROUNDING:
            return "improved"
        same = not (self.settings or self.verdicts) and abs(self.change or 0) <= _ROUNDING
        return "unchanged" if same and abs(self.baseline_today.change or 0) <= _ROUNDING else "changed"


def compare(
    then: Entry, folder: Path, limit: float, progress: Callable[[Progress], object] | None = None
) -> Comparison:
    """Tune again what an entry of a baseline in `folder` asks, and look at its best configuration today.

    limit: share by which a time may grow. ValueError: workload or platform are not to be had, or sizes and domains do
    not fit the workload any more.
    """
    from pto_tune.table import TableError

    asked = Asked.of(then, folder)
    try:
        result = asked.search(progress)
    except TableError as error:
        lines = "\n".join(f"{then.name}: {line}" for line in str(error).splitlines())
        raise ValueError(f"{lines}\n{then.name}: the baseline does not fit today's workload: write it again") from None
    now = None if result.best is None else entry_of(asked, result, then.name)
    today = _today(then, result)
    change = None if now is None else now.best.time_us / then.best.time_us - 1
    return Comparison(
        then=then,
        now=now,
        change=change,
        baseline_today=today,
        settings={} if now is None else _differences(then.best.configuration, now.best.configuration),
        verdicts=_verdicts(then, result),
        causes=tuple(_causes(then, result)),
        regressions=tuple(_regressions(then, now, change, today, limit)),
    )


def _today(then: Entry, result: TuneResult) -> Today:
    import numpy as np

    from pto_tune.evaluation import evaluate_columns
    from pto_tune.table import TableError
    from pto_tune.verdicts import VERDICTS

    try:
        e = evaluate_columns(result.problem, {n: np.array([v], object) for n, v in then.best.configuration.items()})
    except TableError as error:
        return Today("refused", "; ".join(str(error).splitlines()), None, None)
    time_us = float(e.time_us[0]) if e.timed[0] else None
    change = None if time_us is None else time_us / then.best.time_us - 1
    return Today(VERDICTS[e.verdict[0]], e.reason(0), time_us, change)


def _differences(then: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    names = dict.fromkeys([*then, *now])
    return {n: (then.get(n), now.get(n)) for n in names if then.get(n) != now.get(n)}


def _verdicts(then: Entry, result: TuneResult) -> dict[str, tuple[int, int]]:
    before = {verdict: sum(rules.values()) for verdict, rules in then.counts.items()}
    after = {verdict: sum(rules.values()) for verdict, rules in result.counts.items()}
    names = dict.fromkeys([*before, *after])
    return {n: (before.get(n, 0), after.get(n, 0)) for n in names if before.get(n, 0) != after.get(n, 0)}


def _causes(then: Entry, result: TuneResult) -> list[str]:
    from pto_tune import __version__
    from pto_tune.checking.searches import workload_sha256

    problem = result.problem
    platform, workload = problem.platform, workload_sha256(problem.workload)
    found = []
    if then.pto_tune != __version__:
        found.append(f"pto-tune {then.pto_tune} -> {__version__}")
    if then.platform_sha256 != platform.sha256:
        was, is_ = then.platform_sha256[:12], platform.sha256[:12]
        found.append(f"the numbers of platform {platform.name} (sha256 {was} -> {is_})")
    if then.rule_set != problem.rule_set.name:
        found.append(f"rule set {then.rule_set} -> {problem.rule_set.name}")
    if then.workload_sha256 != workload:
        was, is_ = then.workload_sha256[:12], workload[:12]
        found.append(f"the description of workload {problem.workload.name} (sha256 {was} -> {is_})")
    return found


def _regressions(then: Entry, now: Entry | None, change: float | None, today: Today, limit: float) -> list[str]:
    found = []
    if today.verdict != "ok":
        why = f" ({today.reason})" if today.reason else ""
        found.append(f"the baseline's configuration is {today.verdict} today{why}")
    if now is None:
        found.append("no configuration is legal today")
    for what, share, time in (
        ("the best time is", change, None if now is None else now.best.time_us),
        ("the baseline's configuration takes", today.change if today.verdict == "ok" else None, today.time_us),
    ):
        if share is not None and share > limit + _ROUNDING:
            found.append(
                f"{what} {time:,.3f} us today and was {then.best.time_us:,.3f} us, {share:+.2%}, more than {limit:.2%}"
            )
    return found
