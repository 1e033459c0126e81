"""What the figures need of one run, as plain columns."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from db import Run, Store

ON_CHIP = ("ub", "l1", "l0a", "l0b", "l0c")
OTHER_BYTES = ("gm_ring", "gm_traffic")
BYTE_COLUMNS = ON_CHIP + OTHER_BYTES

_COMPARED = 5_000
"""Rows that are read in full to see whether tunables follow from row numbers."""


class ViewError(ValueError):
    """The columns of a run do not fit together."""


@dataclass(frozen=True, eq=False)
class RunView:
    """One run: its facts, and one entry a configuration in every column.

    Shapes: every array is (n,), in the same order; `rows` names the configurations as the store numbers them.
    Units: `cycles` are cycles of the core clock (NaN where there is no time), `clock_mhz` MHz, `launch_us`
    microseconds, `bytes` bytes (NaN where unknown).
    `values` holds what each tunable has in each configuration: integers or texts; None in an object array
    means that the tunable does not apply. `verdict` indexes `verdict_names`; `rule` and `bound` index
    `rule_names` and `bound_names`, with -1 for none. `accounts` maps a row number to ('busy' or 'wait', name,
    cycles). Errors: ViewError naming every column that does not fit.
    """

    name: str
    workload: str
    platform: str
    rule_set: str
    timing: str
    problem: Mapping[str, int | str]
    clock_mhz: float
    launch_us: float
    tunables: Sequence[tuple[str, Sequence[int | str]]]
    rows: NDArray[np.int64]
    values: Mapping[str, NDArray[Any]]
    verdict: NDArray[np.int64]
    verdict_names: Sequence[str]
    rule: NDArray[np.int64]
    rule_names: Sequence[str]
    cycles: NDArray[np.float64]
    bytes: Mapping[str, NDArray[np.float64]]
    bound: NDArray[np.int64]
    bound_names: Sequence[str]
    accounts: Mapping[int, Sequence[tuple[str, str, int]]] = field(default_factory=dict)
    best_row: int | None = None
    state: str = "done"
    candidates: int | None = None

    def __post_init__(self) -> None:
        n = len(self.rows)
        columns: dict[str, NDArray[Any]] = {
            "verdict": self.verdict,
            "rule": self.rule,
            "cycles": self.cycles,
            "bound": self.bound,
            **{f"values[{name!r}]": column for name, column in self.values.items()},
            **{f"bytes[{name!r}]": column for name, column in self.bytes.items()},
        }
        wrong = [f"{name} has {len(c)} entries, not {n}" for name, c in columns.items() if len(c) != n]
        wrong += [f"values has no column {name!r}" for name, _ in self.tunables if name not in self.values]
        wrong += [f"bytes has an unknown column {name!r}" for name in self.bytes if name not in BYTE_COLUMNS]
        if "ok" not in self.verdict_names:
            wrong.append("verdict_names lacks 'ok'")
        for name, codes, least, names in (
            ("verdict", self.verdict, 0, self.verdict_names),
            ("rule", self.rule, -1, self.rule_names),
            ("bound", self.bound, -1, self.bound_names),
        ):
            if len(codes) and not (least <= int(codes.min()) and int(codes.max()) < len(names)):
                wrong.append(f"{name} has codes outside {least}..{len(names) - 1}")
        if not self.clock_mhz > 0:
            wrong.append(f"clock_mhz is {self.clock_mhz}, not above 0")
        if wrong:
            raise ViewError(f"run {self.name!r} cannot be shown: {'; '.join(wrong)}")

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def time_us(self) -> NDArray[np.float64]:
        """(n,) predicted time in microseconds, NaN where there is none: cycles over the clock plus the
        launch.
        """
        return self.cycles / self.clock_mhz + self.launch_us

    @cached_property
    def ok(self) -> NDArray[np.bool_]:
        """(n,) True for configurations that may be recommended: verdict ok, with a time."""
        mask: NDArray[np.bool_] = (self.verdict == list(self.verdict_names).index("ok")) & np.isfinite(self.cycles)
        return mask

    @cached_property
    def on_chip_bytes(self) -> NDArray[np.float64]:
        """(n,) bytes held in UB (of one vector sub-core), L1, L0A, L0B and L0C together; NaN where none is
        known.
        """
        total = np.zeros(len(self))
        known = np.zeros(len(self), dtype=bool)
        for name in ON_CHIP:
            if name in self.bytes:
                present = np.isfinite(self.bytes[name])
                total += np.where(present, self.bytes[name], 0.0)
                known |= present
        return np.where(known, total, np.nan)

    @cached_property
    def ranked(self) -> NDArray[np.int64]:
        """Positions of the ok configurations, fastest first; equal times by on-chip bytes, then by row."""
        positions = np.flatnonzero(self.ok)
        order = np.lexsort((self.rows[positions], self.on_chip_bytes[positions], self.cycles[positions]))
        return positions[order]

    @cached_property
    def best(self) -> int | None:
        """Position of the best configuration: the run's own `best_row` if it is ok, else the fastest; None if
        none.
        """
        if self.best_row is not None:
            found = np.flatnonzero((self.rows == self.best_row) & self.ok)
            if len(found):
                return int(found[0])
        return int(self.ranked[0]) if len(self.ranked) else None

    @cached_property
    def varied(self) -> list[tuple[str, Sequence[int | str]]]:
        """The tunables with more than one value to choose from."""
        return [(name, domain) for name, domain in self.tunables if len(domain) > 1]

    def configuration(self, position: int) -> dict[str, int | str]:
        """What each tunable is at `position`; a tunable that does not apply there shows as a dash."""
        out: dict[str, int | str] = {}
        for name, _ in self.tunables:
            value = self.values[name][position]
            out[name] = "–" if value is None else value.item() if isinstance(value, np.generic) else value
        return out

    def bound_name(self, position: int) -> str:
        """Name of what bounds the configuration at `position`, or a dash."""
        code = int(self.bound[position])
        return self.bound_names[code] if code >= 0 else "–"


def from_store(store: Store, ref: str | int) -> RunView:
    """The run `ref` (number, name or 'latest') of an open `db` store, with all its configurations.

    Errors: those of the store for an unknown run, ViewError for a run whose columns do not fit its own lists.
    """
    run = store.find_run(ref)
    places = [f"t{place}" for place in range(len(run.tunables))]
    wanted = ["row", "verdict", "rule", "cycles", "bound", *BYTE_COLUMNS]
    derived = _in_order(store, run, places)
    columns = store.configurations(run.id, columns=wanted if derived else [*wanted, *places])
    if derived:
        columns |= _indices([len(tunable["domain"]) for tunable in run.tunables], columns["row"])
    tunables = [(str(tunable["name"]), tuple(tunable["domain"])) for tunable in run.tunables]
    values = {
        name: _decoded(run.name, name, columns[place], domain)
        for place, (name, domain) in zip(places, tunables, strict=True)
    }
    accounts: dict[int, list[tuple[str, str, int]]] = {}
    for row, kind, name, cycles in store.accounts(run.id):
        accounts.setdefault(int(row), []).append((str(kind), str(name), int(cycles)))
    return RunView(
        name=run.name,
        workload=run.workload,
        platform=run.platform,
        rule_set=run.rule_set,
        timing=run.timing,
        problem=run.problem,
        clock_mhz=run.clock_mhz,
        launch_us=run.launch_us,
        tunables=tunables,
        rows=_filled(columns["row"], -1),
        values=values,
        verdict=_filled(columns["verdict"], -1),
        verdict_names=tuple(run.verdicts),
        rule=_filled(columns["rule"], -1),
        rule_names=tuple(run.rules),
        cycles=_with_nan(columns["cycles"]),
        bytes={name: _with_nan(columns[name]) for name in BYTE_COLUMNS},
        bound=_filled(columns["bound"], -1),
        bound_names=tuple(run.pipes),
        accounts=accounts,
        best_row=run.best_row,
        state=run.state,
        candidates=run.n_candidates,
    )


def _in_order(store: Store, run: Run, places: Sequence[str]) -> bool:
    """Whether the tunables of a row follow from its number, as they do where a space was gone through in order: reading
    them back would take as long again as the rest."""
    from pto_tune.search.strategies import passes_refused

    size = math.prod(len(tunable["domain"]) for tunable in run.tunables)
    if run.strategy != "exhaustive" or not places or passes_refused(run.strategy, size):
        return False
    first = store.configurations(run.id, columns=["row", *places], limit=_COMPARED)
    wanted = _indices([len(tunable["domain"]) for tunable in run.tunables], first["row"])
    return all(bool((_filled(first[place], -1) == wanted[place]).all()) for place in places)


def _indices(sizes: Sequence[int], rows: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
    """Index into the domain of each tunable, `t0` first, of row numbers; the last tunable changes fastest."""
    out: dict[str, NDArray[np.int64]] = {}
    rest = np.asarray(rows, dtype=np.int64)
    for place in reversed(range(len(sizes))):
        rest, out[f"t{place}"] = np.divmod(rest, sizes[place])
    return out


def _filled(column: NDArray[Any], missing: int) -> NDArray[np.int64]:
    return np.ma.filled(np.ma.asarray(column).astype(np.int64), missing)


def _with_nan(column: NDArray[Any]) -> NDArray[np.float64]:
    # Cycles and bytes stay below 2**53, where a float64 still holds every integer.
    return np.ma.filled(np.ma.asarray(column).astype(np.float64), np.nan)


def _decoded(run: str, name: str, column: NDArray[Any], domain: Sequence[int | str]) -> NDArray[Any]:
    """What the indices into `domain` stand for; None for a missing index makes it an object array."""
    codes = _filled(column, -1)
    if len(codes) and int(codes.max()) >= len(domain):
        raise ViewError(
            f"run {run!r} cannot be shown: tunable {name!r} has index {int(codes.max())}, but only {len(domain)} values"
        )
    whole_numbers = all(type(value) is int for value in domain)
    if whole_numbers and domain and not (codes < 0).any():
        return np.array(domain, dtype=np.int64)[codes]
    lookup = np.empty(len(domain) + 1, dtype=object)
    lookup[:-1] = domain
    lookup[-1] = None
    return lookup[np.where(codes < 0, len(domain), codes)]
