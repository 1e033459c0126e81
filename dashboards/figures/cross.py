"""What configurations cost in other settings: each chosen configuration on each platform, revision and size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pto_tune.evaluation import Problem
    from pto_tune.model.nodes import Workload

    Floats = NDArray[np.float64]
    Value = int | str

OK = "ok"


@dataclass(frozen=True, eq=False)
class Choice:
    """A configuration: `values` of the tunables that apply, of `workload` (None where it cannot be read any more)."""

    label: str
    workload: Workload | None
    values: Mapping[str, Value]


@dataclass(frozen=True, eq=False)
class Setting:
    """What a configuration is run in: a problem with its sizes. `problem` is None where it cannot be evaluated, and
    `why_not` says why; `best_us` is the best stored time of a run in it, NaN where there is none."""

    label: str
    problem: Problem | None
    sizes: Mapping[str, Value]
    why_not: str = ""
    best_us: float = float("nan")


@dataclass(frozen=True, eq=False)
class Cross:
    """Rows are choices, columns settings. `time_us` (n, m): microseconds, NaN where the cell has none, is not ok, or
    was not evaluated, and then `why` says so in a sentence; `verdict` is "" where nothing was evaluated.

    `best_us` (m,): the best time known in each setting, of its runs and of this column; NaN where there is none.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    time_us: Floats
    verdict: tuple[tuple[str, ...], ...]
    why: tuple[tuple[str, ...], ...]
    best_us: Floats

    @property
    def regret(self) -> Floats:
        """(n, m) how much longer than the best known of the column, as a share of it."""
        return self.time_us / self.best_us[None, :] - 1.0


def cross_data(
    choices: Sequence[Choice], settings: Sequence[Setting], known: Mapping[tuple[int, int], float] | None = None
) -> Cross:
    """Evaluate every choice in every setting of its workload.

    known: stored times by (choice, setting), taken where a setting cannot be evaluated.
    """
    n, m = len(choices), len(settings)
    time_us = np.full((n, m), np.nan)
    verdict = [[""] * m for _ in range(n)]
    why = [[""] * m for _ in range(n)]
    for j, setting in enumerate(settings):
        for i, (time, word, sentence) in enumerate(column(choices, setting)):
            stored = (known or {}).get((i, j))
            if not word and stored is not None:
                time, word, sentence = stored, OK, ""
            time_us[i, j], verdict[i][j], why[i][j] = time, word, sentence
    return Cross(
        tuple(c.label for c in choices),
        tuple(s.label for s in settings),
        time_us,
        tuple(map(tuple, verdict)),
        tuple(map(tuple, why)),
        best_of(time_us, settings),
    )


def best_of(time_us: Floats, settings: Sequence[Setting]) -> Floats:
    """(m,) the least of the stored best and of the times of each column; NaN where there is neither."""
    stored = np.array([s.best_us for s in settings], dtype=np.float64)
    if not len(time_us):
        return stored
    return np.asarray(np.fmin(np.fmin.reduce(time_us, axis=0), stored), dtype=np.float64)


def column(choices: Sequence[Choice], setting: Setting) -> list[tuple[float, str, str]]:
    """Time in microseconds (NaN where not ok), verdict ("" where not evaluated) and sentence of every choice."""
    none = float("nan")
    if setting.problem is None:
        return [(none, "", f"not evaluated: {setting.why_not}")] * len(choices)
    out: list[tuple[float, str, str]] = [(none, "", "another workload")] * len(choices)
    here = [i for i, c in enumerate(choices) if c.workload == setting.problem.workload]
    for i in (i for i, c in enumerate(choices) if c.workload is None):
        out[i] = (none, "", "its workload cannot be read any more")
    if not here:
        return out
    times, verdicts, reasons = evaluated(setting, [choices[i].values for i in here])
    for i, time, word, reason in zip(here, times.tolist(), verdicts, reasons, strict=True):
        out[i] = (time, word, "" if word == OK else f"{word}: {reason}")
    return out


def evaluated(
    setting: Setting, configurations: Sequence[Mapping[str, Value]], reasons: bool = True
) -> tuple[Floats, list[str], list[str]]:
    """Times (NaN where not ok), verdicts and sentences of configurations of the setting's own workload, in one call."""
    from pto_tune.evaluation import evaluate_columns
    from pto_tune.verdicts import VERDICTS

    assert setting.problem is not None
    e = evaluate_columns(setting.problem, table_of(setting.problem, setting.sizes, configurations))
    ok = (e.verdict == VERDICTS.index(OK)) & e.timed
    words = [VERDICTS[v] for v in e.verdict]
    return np.where(ok, e.time_us, np.nan), words, [e.reason(i) if reasons else "" for i in range(len(e))]


def table_of(
    problem: Problem, sizes: Mapping[str, Value], configurations: Sequence[Mapping[str, Value]]
) -> dict[str, Any]:
    """Columns of whole numbers; what a configuration does not name has its default."""
    from pto_tune.table import parse_value

    out: dict[str, Any] = {}
    n = len(configurations)
    for p in problem.workload.problem:
        out[p.name] = np.full(n, _number(p, sizes.get(p.name, p.default), parse_value), dtype=np.int64)
    for t in problem.workload.tunables:
        column = [_number(t, c.get(t.name, t.default), parse_value) for c in configurations]
        out[t.name] = np.array(column, dtype=np.int64)
    return out


def _number(p: Any, value: Value, parse: Any) -> int:
    return int(parse(p, value)) if isinstance(value, str) else int(value)
