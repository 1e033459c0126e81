"""How long a program can take at most, and how many places it needs: what does not fit into 64 bits or into memory is
refused before it runs.

The bound adds up every operation as often as its loops go round, as if nothing ran side by side, and the time that all
bytes need at the capacity that they share. It is far above the time of any kernel and far below what would wrap.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from cost_models.sharing import RESOURCES, capacity_bytes_per_cycle
from pto_tune.lowering.code import DRAIN, EXEC, LOOP

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cost_models.platform import Platform
    from pto_tune.lowering.code import Code
    from pto_tune.lowering.columns import Columns

MOST_CYCLES = 2**60
"""Most cycles of a run by its bound; 64 bits hold eight times as much."""

MOST_PLACES = 4096
"""Most copies of a buffer and slots of a ring."""


class ExtentError(ValueError):
    """A program is too large for the executor."""


def check_places(places: int) -> int:
    """`places` of the largest buffer or ring. ExtentError where they are more than MOST_PLACES."""
    if places > MOST_PLACES:
        raise ExtentError(f"a buffer or ring has {places} places: expected at most {MOST_PLACES}")
    return places


def check_steps(steps: int, longest: float, fine: int) -> None:
    """ExtentError where so many steps of at most `longest` cycles, counted in 1/`fine` of a cycle, might not fit."""
    if float(steps) * longest * fine > 2.0 * MOST_CYCLES:
        raise ExtentError(
            f"the program may take {float(steps) * longest:.3g} cycles, and {2 * MOST_CYCLES // fine} can be counted: "
            "give smaller sizes, trips or costs"
        )


def whole_units(units: NDArray[np.float64]) -> NDArray[np.int64]:
    """Units of shared capacity, rounded up. ExtentError where they do not fit."""
    most = float(np.max(units, initial=0.0))
    if not most <= MOST_CYCLES:
        raise ExtentError(f"a transfer needs {most:.3g} units of a capacity: give fewer bytes or more capacity")
    return np.ceil(units).astype(np.int64)


def check_cycles(code: Code, platform: Platform, columns: Columns, waves: NDArray[np.int64], cores: int) -> None:
    """ExtentError where a row of `columns`, repeated in `waves` (n) waves of `cores` blocks, might take more than
    MOST_CYCLES."""
    if not columns.structure.shape[0]:
        return
    whole = {
        "structure": columns.structure.max(axis=0).astype(np.float64),
        "durations": columns.kinds.max(axis=1).astype(np.float64),
        "bytes": columns.kinds_bytes.max(axis=2).astype(np.float64),
    }
    # the largest of each column first: nearly always that says enough
    if float(_bound(code, platform, whole, cores)) * max(1, int(waves.max())) <= MOST_CYCLES:
        return
    rows = {
        "structure": columns.structure.T.astype(np.float64),
        "durations": columns.durations.astype(np.float64),
        "bytes": columns.bytes.astype(np.float64),
    }
    most = float(np.max(_bound(code, platform, rows, cores) * np.maximum(waves, 1)))
    if most > MOST_CYCLES:
        raise ExtentError(
            f"the program may take {most:.3g} cycles, and {MOST_CYCLES} can be counted: give smaller sizes, trips or "
            "costs"
        )


def _bound(code: Code, platform: Platform, by: Mapping[str, NDArray[np.float64]], cores: int) -> Any:
    """The bound of one wave in cycles, for the whole table or by row. `by` has structure (s, ...), durations (d, ...)
    and bytes (resources, d, ...)."""
    structure: Any = by["structure"]
    durations, moved = by["durations"], by["bytes"]
    costs = np.array([column.kind == "cost" for column in code.durations], dtype=bool)
    other: Any = durations[~costs].max(axis=0) if (~costs).any() else 0.0
    # bytes are counted too
    shared: Any = np.zeros_like(durations)
    for r, name in enumerate(RESOURCES):
        shared = shared + moved[r] * (cores * max(1.0, 1.0 / capacity_bytes_per_cycle(platform, name)))
    executing = durations + shared
    if structure.ndim == 1:  # Python's own numbers are faster than NumPy's single ones
        structure, executing, other = structure.tolist(), executing.tolist(), float(other)
    issue, wait = structure[0], structure[1]
    total: Any = 0.0
    inside: list[tuple[int, Any]] = []
    times: Any = 1.0
    for i, (op, a, b, _, _) in enumerate(code.ops.tolist()):
        while inside and i >= inside[-1][0]:
            times = inside.pop()[1]
        if op == LOOP:
            inside.append((b, times))
            times = times * structure[a]
        elif op == DRAIN:
            inside.append((b, times))
            times = times * MOST_PLACES
        one = wait + other + issue
        if op == EXEC:
            one = one + executing[a] + issue * b
        total = total + times * one
    return total
