"""How many configurations of a space are legal: counted in small spaces, estimated from a sample in large ones.

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

MOST_EXACT = 200_000
"""Largest space that is counted."""

SAMPLE = 20_000
"""Configurations of the sample of a larger one."""

MOST_EXACT_RANKS, SAMPLE_RANKS = 4_000, 2_000
"""The same of workloads with ranks, whose rules are checked at two or three thousand a second."""

_CHUNK = 50_000
_Z95 = 1.959963984540054


@dataclass(frozen=True)
class Counted:
    """A space of `size` configurations, `legal` of them legal; `low` to `high` is a 95 % interval (the number itself
    where `exact`). `refused`: of the `looked_at`, how many break each rule that refuses; one may break several."""

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

    ranks = problem.workload.has_ranks
    most, sample = (MOST_EXACT_RANKS, SAMPLE_RANKS) if ranks else (MOST_EXACT, SAMPLE)
    size = space.size
    exact = size <= most
    looked_at = size if exact else sample
    random = np.random.default_rng(seed)
    refused: dict[str, int] = {}
    legal = 0
    for start in range(0, looked_at, _CHUNK):
        n = min(_CHUNK, looked_at - start)
        table = space.table(np.arange(start, start + n)) if exact else _drawn(space, n, random)
        legal += _legal(problem, table, n, refused)
    if exact:
        return Counted(size, legal, True, legal, legal, looked_at, refused)
    low, high = wilson(legal, looked_at)
    # what was seen is there, whatever the interval says
    low_n, high_n = max(int(low * size), min(legal, 1)), min(math.ceil(high * size), size - (legal < looked_at))
    return Counted(size, legal * size // looked_at, False, low_n, high_n, looked_at, refused)


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
    by_rule: dict[str, NDArray[np.bool_]] = {}
    for rule in legality.check(problem.workload, problem.platform, problem.rule_set, env, n):
        if rule.verdict == "refused":
            found = np.broadcast_to(np.asarray(rule.broken, dtype=bool), n)
            broken |= found
            # two instructions may share a rule
            by_rule[rule.name] = by_rule[rule.name] | found if rule.name in by_rule else found
    for name, found in by_rule.items():
        if count := int(found.sum()):
            refused[name] = refused.get(name, 0) + count
    return n - int(broken.sum())
