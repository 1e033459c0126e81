"""Transfers between ranks, evaluated live: time against size and staging tile, with and without ping-pong, TWAIT
against TTEST, and any tunable of a workload with ranks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pto_tune.evaluation import Problem

    Floats = NDArray[np.float64]
    Value = int | str

TGET, TPUT = "tget_bandwidth", "tput_pingpong"
SIZES = tuple(2**n for n in range(12, 23))
"""Sizes of a buffer, 4 KiB to 4 MiB."""

TILE_COLUMNS = 1024
TILE_ROWS = (1, 2, 4, 8, 16, 32)
"""Rows of a staging tile, each of `TILE_COLUMNS` floats: 4 to 128 KiB."""

BLOCKS = (1, 2, 4, 8, 16)
ROUNDS = 4
TIMING = "device"
"""From the first to the last instruction, without a launch."""


@dataclass(frozen=True, eq=False)
class Line:
    """Times over `x` (n,), in microseconds, NaN where a point has none and `why` says so; of a transfer one way.

    `moved` (n,): bytes that went one way in that time, 0 where the workload has no such number. `kind` is what tells
    lines of one platform apart; `values` are the sizes and tunables that all points share.
    """

    workload: str
    platform: str
    kind: str
    x_name: str
    x: tuple[Value, ...]
    time_us: Floats
    moved: NDArray[np.int64]
    why: tuple[str, ...]
    values: Mapping[str, Value]

    @property
    def bandwidth(self) -> Floats:
        """(n,) GB/s, NaN where there is no time or nothing is known to move."""
        with np.errstate(divide="ignore", invalid="ignore"):
            rate = self.moved / self.time_us / 1e3
        return np.where(self.moved > 0, rate, np.nan)


def line(
    problem: Problem,
    kind: str,
    x_name: str,
    columns: Mapping[str, Sequence[int]],
    fixed: Mapping[str, int],
    x: Sequence[Value] | None = None,
    one_way: float = 1.0,
) -> Line:
    """Evaluate a line in one call. `columns` vary from point to point, `fixed` do not, the rest are defaults.

    x: what stands on the axis (none: the first column). one_way: transfers one after the other that a run makes.
    """
    from pto_tune.evaluation import evaluate_columns
    from pto_tune.table import label, parameter
    from pto_tune.verdicts import VERDICTS

    table: dict[str, Any] = {name: np.array(values, dtype=np.int64) for name, values in columns.items()}
    e = evaluate_columns(problem, {**table, **fixed})
    ok = (e.verdict == VERDICTS.index("ok")) & e.timed
    words = ["" if ok[i] else f"{VERDICTS[v]}: {e.reason(i)}" for i, v in enumerate(e.verdict)]
    moved = e.table.get("bytes", np.zeros(len(e), dtype=np.int64))
    first = next(iter(columns.values()))
    return Line(
        problem.workload.name,
        problem.platform.name,
        kind,
        x_name,
        tuple(first if x is None else x),
        np.where(ok, e.time_us, np.nan) / one_way,
        moved,
        tuple(words),
        {name: label(parameter(problem.workload, name), value) for name, value in fixed.items()},
    )


_OnePlatform = Callable[[str], "Problem"]
"""The problem of a workload on the platform in question."""


def over_sizes(problem_of: _OnePlatform, tile_rows: int, blocks: int = 1) -> list[Line]:
    """TGET and TPUT with and without ping-pong, and TGET by SDMA, over `SIZES`, on one platform."""
    tile = {"tile_rows": tile_rows, "tile_cols": TILE_COLUMNS}
    sizes = {"bytes": SIZES}
    get, put = problem_of(TGET), problem_of(TPUT)
    own = {**tile, "blocks": blocks, "rounds": ROUNDS}
    return [
        line(get, "TGET", "bytes", sizes, {**tile, "ping_pong": 0}),
        line(get, "TGET, ping-pong", "bytes", sizes, {**tile, "ping_pong": 1}),
        line(get, "TGET_ASYNC (SDMA)", "bytes", sizes, {"engine": 1, "tile_cols": TILE_COLUMNS}),
        line(put, "TPUT", "bytes", sizes, {**own, "ping_pong": 0}, one_way=2 * ROUNDS),
        line(put, "TPUT, ping-pong", "bytes", sizes, {**own, "ping_pong": 1}, one_way=2 * ROUNDS),
    ]


def over_tiles(problem_of: _OnePlatform, size: int, blocks: int = 1) -> list[Line]:
    """TGET and TPUT of `size` bytes over staging tiles of `TILE_ROWS`, with and without ping-pong, on one platform."""
    get, put = problem_of(TGET), problem_of(TPUT)
    tiles, tile_bytes = {"tile_rows": TILE_ROWS}, [rows * TILE_COLUMNS * 4 for rows in TILE_ROWS]
    out = []
    for ping_pong, word in ((0, ""), (1, ", ping-pong")):
        own = {"bytes": size, "tile_cols": TILE_COLUMNS, "ping_pong": ping_pong}
        out.append(line(get, f"TGET{word}", "tile bytes", tiles, own, tile_bytes))
        own |= {"blocks": blocks, "rounds": ROUNDS}
        out.append(line(put, f"TPUT{word}", "tile bytes", tiles, own, tile_bytes, 2 * ROUNDS))
    return out


def over_waits(problem_of: _OnePlatform, tile_rows: int, blocks: int) -> list[Line]:
    """TPUT to and fro with TWAIT and with TTEST, over `SIZES`, on one platform."""
    put = problem_of(TPUT)
    own = {"tile_rows": tile_rows, "tile_cols": TILE_COLUMNS, "blocks": blocks, "rounds": ROUNDS}
    return [
        line(put, word, "bytes", {"bytes": SIZES}, {**own, "wait": wait}, one_way=2 * ROUNDS)
        for wait, word in enumerate(("TWAIT", "TTEST"))
    ]


def over_tunable(problem: Problem, x_name: str, by: str) -> list[Line]:
    """A workload with its default sizes over the domain of tunable `x_name`, a line for each value of tunable `by`.

    ValueError where the workload has no such tunables, or they are one.
    """
    from pto_tune.table import label

    tunables = {t.name: t for t in problem.workload.tunables}
    wrong = [name for name in (x_name, by) if name not in tunables]
    if wrong or x_name == by:
        known = ", ".join(tunables)
        raise ValueError(f"{problem.workload.name}: choose two different tunables of {known}, not {x_name} and {by}")
    xs, values = tunables[x_name].domain, tunables[by].domain
    shown = [label(tunables[x_name], x) for x in xs]
    return [line(problem, f"{by} {label(tunables[by], v)}", x_name, {x_name: xs}, {by: v}, shown) for v in values]


def differences(lines: Sequence[Line]) -> list[Line]:
    """By platform: how much longer (in microseconds) the second line takes than the first, as a line of its own."""
    out = []
    for platform in dict.fromkeys(found.platform for found in lines):
        first, second = [found for found in lines if found.platform == platform][:2]
        why = tuple(a or b for a, b in zip(first.why, second.why, strict=True))
        out.append(
            Line(first.workload, platform, f"{second.kind} less {first.kind}", first.x_name, first.x,
                 second.time_us - first.time_us, np.zeros_like(first.moved), why, first.values)
        )  # fmt: skip
    return out


TITLES = ("workload", "platform", "line", "shared_values", "x_name", "x", "time_us", "bytes", "GB_per_s", "why_not")


def rows(lines: Sequence[Line]) -> list[Sequence[Any]]:
    """Lines as a long table for a file, titles first; what there is not is an empty cell."""
    out: list[Sequence[Any]] = [TITLES]
    for found in lines:
        shared = " ".join(f"{name}={value}" for name, value in found.values.items())
        for x, time, moved, rate, why in zip(
            found.x, found.time_us, found.moved, found.bandwidth, found.why, strict=True
        ):
            numbers = [None if not np.isfinite(v) else float(v) for v in (time, rate)]
            out.append((found.workload, found.platform, found.kind, shared, found.x_name, x, numbers[0],
                        int(moved) or None, numbers[1], why))  # fmt: skip
    return out


def missing(lines: Sequence[Line]) -> str:
    """How many points have no time, and why the first has none; "" where all have."""
    whys = [(found, why) for found in lines for why in found.why if why]
    if not whys:
        return ""
    found, why = whys[0]
    total = sum(len(each.x) for each in lines)
    return f"{len(whys)} of {total} points have no time, such as one of {found.kind} on {found.platform}: {why}."
