"""A space: the domains of a workload's tunables at fixed problem sizes, addressed by row number.

Rows are numbered 0 .. size-1 in mixed radix, the last tunable fastest; nothing is held in memory but the domains.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pto_tune.table import TableError, check_values, parameter, parse_value

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pto_tune.model.nodes import Workload

MAX_DOMAIN = 4096


@dataclass(frozen=True)
class Space:
    """`problem`: a value for every problem size. `domains`: values of every tunable, in order."""

    workload: Workload
    problem: tuple[tuple[str, int], ...]
    domains: tuple[tuple[str, tuple[int, ...]], ...]

    @property
    def size(self) -> int:
        """Number of configurations, illegal ones included."""
        n = 1
        for _, values in self.domains:
            n *= len(values)
        return n

    def indices(self, rows: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
        """For row numbers: the index into each tunable's domain."""
        import numpy as np

        rest = np.asarray(rows, dtype=np.int64)
        out: dict[str, NDArray[np.int64]] = {}
        for name, values in reversed(self.domains):
            out[name] = rest % len(values)
            rest = rest // len(values)
        return {name: out[name] for name, _ in self.domains}

    def table(self, rows: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
        """Columns of problem sizes and tunables for row numbers."""
        import numpy as np

        n = np.shape(rows)[0]
        out = {name: np.full(n, value, dtype=np.int64) for name, value in self.problem}
        at = self.indices(rows)
        for name, values in self.domains:
            out[name] = np.asarray(values, dtype=np.int64)[at[name]]
        return out

    def row_of(self, indices: Mapping[str, int]) -> int:
        """The row number of a choice of domain indices."""
        row = 0
        for name, values in self.domains:
            row = row * len(values) + indices[name]
        return row


def space(
    workload: Workload,
    problem: Mapping[str, int | str] | None = None,
    domains: Mapping[str, Sequence[int | str] | int | str] | None = None,
) -> Space:
    """The default space of a workload, with problem sizes set and domains replaced.

    A domain is a sequence of values (labels allowed) or one fixed value. TableError lists everything that is wrong:
    unknown names, values out of range, empty or repeated domains.
    """
    errors: list[str] = []
    sizes: dict[str, int] = {p.name: p.default for p in workload.problem}
    chosen: dict[str, tuple[int, ...]] = {t.name: t.domain for t in workload.tunables}
    for name, given in {**(problem or {}), **(domains or {})}.items():
        try:
            p = parameter(workload, name)
            items = [given] if isinstance(given, int | str) else list(given)
            values = tuple(parse_value(p, v) if isinstance(v, str) else int(v) for v in items)
        except (TableError, TypeError) as e:
            errors.append(str(e))
            continue
        if not values:
            errors.append(f"{name}: the domain is empty; give at least one value")
        elif len(set(values)) != len(values):
            errors.append(f"{name}: the domain repeats a value; give each once")
        elif len(values) > MAX_DOMAIN:
            errors.append(f"{name}: {len(values)} values are too many; at most {MAX_DOMAIN}")
        elif name in sizes and len(values) > 1:
            errors.append(f"{name} is a problem size: give one value (a run has one problem)")
        elif name in sizes:
            sizes[name] = values[0]
        else:
            chosen[name] = values
        for value in values:
            try:
                check_values(workload, {name: value})
            except TableError as e:
                errors.append(str(e))
                break
    if errors:
        raise TableError("\n".join(dict.fromkeys(errors)))
    return Space(workload, tuple(sizes.items()), tuple(chosen.items()))
