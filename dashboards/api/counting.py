"""How many configurations of a space are legal: counted, or estimated from a sample where that would take too long.

Legal means here that no static rule refuses a configuration. Nothing is run: hangs, races and overwritten tiles show
in a sweep only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pto_tune.evaluation import Problem
    from pto_tune.model.nodes import Workload
    from pto_tune.space import Space

COUNT_S = 1.5
"""Time for counting; spaces that take longer are sampled."""

SAMPLE, SAMPLE_RANKS = 20_000, 2_000
"""Configurations of the sample, and that of workloads with ranks, whose rules take longer."""

_Z95 = 1.959963984540054


@dataclass(frozen=True)
class Counted:
    """A space of `size` configurations, `legal` of them legal; `low` to `high` is a 95 % interval (the number itself
    where `exact`). `refused`: of the `looked_at`, how many each rule refuses that is the first one to do so."""

    size: int
    legal: int
    exact: bool
    low: int
    high: int
    looked_at: int
    refused: Mapping[str, int]


def count_legal(problem: Problem, space: Space, seed: int = 0) -> Counted:
    """Count or estimate the legal configurations.

    It takes about two seconds at most. seed: of the sample, which is drawn with replacement, every configuration alike;
    the interval is Wilson's.
    """
    import numpy as np

    size = space.size
    counted = _counted(problem, space)
    if counted is not None:
        return counted
    looked_at = SAMPLE_RANKS if problem.workload.has_ranks else SAMPLE
    refused: dict[str, int] = {}
    legal = _legal(problem, _drawn(space, looked_at, np.random.default_rng(seed)), looked_at, refused)
    low, high = wilson(legal, looked_at)
    # what was seen is there, whatever the interval says
    low_n, high_n = max(int(low * size), min(legal, 1)), min(math.ceil(high * size), size - (legal < looked_at))
    return Counted(size, legal * size // looked_at, False, low_n, high_n, looked_at, refused)


def _counted(problem: Problem, space: Space) -> Counted | None:
    """The exact count; None where it takes too long or the space is too large to number."""
    from pto_tune.spaces.legal import MOST_ROWS, LegalSpace
    from pto_tune.spaces.tables import TimeOver

    if space.size > MOST_ROWS:
        return None
    try:
        legal = LegalSpace.of(problem, space, seconds=COUNT_S)
    except TimeOver:
        return None
    if legal.late:
        return None
    count = legal.count()
    return Counted(space.size, count.low, True, count.low, count.low, space.size, count.refused or {})


def wilson(found: int, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share of which `found` of `n` independent draws have shown."""
    z2 = _Z95 * _Z95
    middle = (found + z2 / 2) / (n + z2)
    half = _Z95 / (n + z2) * math.sqrt(found * (n - found) / n + z2 / 4)
    return max(0.0, middle - half), min(1.0, middle + half)


def checked_space(
    workload: Workload, problem: Mapping[str, Any], domains: Mapping[str, Any]
) -> tuple[Space | None, list[tuple[str, str]]]:
    """The space, or None and everything that is wrong: (`problem/NAME` or `domains/NAME`, sentence) pairs."""
    from pto_tune.space import Space

    sizes = {p.name: p.default for p in workload.problem}
    tunables = {t.name: t.domain for t in workload.tunables}
    faults: list[tuple[str, str]] = []
    for where, given, own, other in (("problem", problem, sizes, tunables), ("domains", domains, tunables, sizes)):
        for name, values in given.items():
            path = f"{where}/{name}"
            if name in other and name not in own:
                kind = "tunable: it belongs into domains" if where == "problem" else "problem size: give it in problem"
                faults.append((path, f"{name} is a {kind}"))
                continue
            try:
                found = _values(workload, name, [values] if where == "problem" else values)
            except ValueError as error:
                faults += [(path, line) for line in str(error).splitlines()]
                continue
            if where == "problem":
                sizes[name] = found[0]
            else:
                tunables[name] = found
    return (None, faults) if faults else (Space(workload, tuple(sizes.items()), tuple(tunables.items())), [])


def _values(workload: Workload, name: str, given: Sequence[int | str]) -> tuple[int, ...]:
    """A domain as `pto_tune.space.space` takes it, checked in one go: there may be thousands of values."""
    from pto_tune.space import MAX_DOMAIN
    from pto_tune.table import TableError, check_values, parameter, parse_value

    p = parameter(workload, name)
    values = tuple(parse_value(p, v) if isinstance(v, str) else v for v in given)
    if not values:
        raise TableError(f"{name}: the domain is empty; give at least one value")
    if len(set(values)) != len(values):
        raise TableError(f"{name}: the domain repeats a value; give each once")
    if len(values) > MAX_DOMAIN:
        raise TableError(f"{name}: {len(values):,} values are too many; at most {MAX_DOMAIN:,}")
    check_values(workload, {name: list(values)})
    return values


def labelled(workload: Workload, values: Mapping[str, int | Sequence[int]]) -> dict[str, Any]:
    """Values, or lists of them, with the labels that they have."""
    from pto_tune.table import label, parameter

    out: dict[str, Any] = {}
    for name, given in values.items():
        p = parameter(workload, name)
        out[name] = label(p, given) if isinstance(given, int) else [label(p, v) for v in given]
    return out


def _drawn(space: Space, n: int, random: np.random.Generator) -> dict[str, NDArray[np.int64]]:
    """n configurations, drawn by tunable: a space may have more of them than 64 bits number."""
    import numpy as np

    table = {name: np.full(n, value, dtype=np.int64) for name, value in space.problem}
    for name, values in space.domains:
        table[name] = np.asarray(values, dtype=np.int64)[random.integers(0, len(values), n)]
    return table


def _legal(problem: Problem, table: Mapping[str, Any], n: int, refused: dict[str, int]) -> int:
    import numpy as np

    from pto_tune import legality
    from pto_tune.lowering.columns import environment

    env = environment(problem.workload, {**table, "block": np.zeros(n, dtype=np.int64)})
    broken = np.zeros(n, dtype=bool)
    for rule in legality.check(problem.workload, problem.platform, problem.rule_set, env, n):
        if rule.verdict == "refused":
            found = np.broadcast_to(np.asarray(rule.broken, dtype=bool), n) & ~broken
            broken |= found
            if count := int(found.sum()):
                refused[rule.name] = refused.get(rule.name, 0) + count
    return n - int(broken.sum())
