"""A comparison in words and as rows of a table; times in microseconds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pto_tune.tracing.comparing import Comparison, PipeRow, Use

NOTHING = "-"

TITLES = (
    "pipe", "busy, run", "predicted", "difference", "first start, run", "predicted", "last end, run", "predicted",
    "gaps, run", "predicted", "share, run", "predicted",
)  # fmt: skip


def sentences(c: Comparison) -> list[str]:
    """What holds for the whole comparison."""
    out = []
    if c.op_us is not None:
        out.append(
            f"the op took {microseconds(c.op_us)} us, predicted {microseconds(c.predicted_us)} us "
            f"({_relative(c.op_us, c.predicted_us)})"
        )
    if c.kind == "trace" and c.measured_cycles is not None:
        run, ahead = c.measured_cycles / c.clock_mhz, c.predicted_cycles / c.clock_mhz
        which = f" of {c.group}" if c.group else ""
        more = f" (others: {', '.join(g for g in c.groups if g != c.group)})" if 1 < len(c.groups) <= 8 else ""
        out.append(
            f"pipes{which} worked from first to last for {microseconds(run)} us, predicted "
            f"{microseconds(ahead)} us ({_relative(run, ahead)}){more}"
        )
    if c.alignment is not None:
        a = c.alignment
        scale = "" if a.scale is None else f", scale {a.scale:.4f}"
        out.append(
            f"aligned by {a.method}: moved by {a.shift_cycles / c.clock_mhz:.3f} us{scale}; {a.marks} marks, "
            f"{a.rms_cycles / c.clock_mhz:.3f} us apart (root mean square)"
        )
    return out + [note[:1].upper() + note[1:] for note in c.notes]


def table(c: Comparison) -> tuple[list[str], list[list[str]]]:
    """Titles and rows by pipe: of a summary busy times and shares alone."""
    wanted = ("start", "end", "gap", "share") if c.kind == "trace" else ("share",)
    places = {"start": (4, 5), "end": (6, 7), "gap": (8, 9), "share": (10, 11)}
    titles = [*TITLES[:4], *(TITLES[i] for what in wanted for i in places[what])]
    return titles, [_cells(c, row, wanted) for row in c.rows]


def _cells(c: Comparison, row: PipeRow, wanted: tuple[str, ...]) -> list[str]:
    def cell(side: Use | None, what: str) -> str:
        value = None if side is None else getattr(side, what)
        if what == "share":
            return NOTHING if value is None else f"{100 * value:.1f} %"
        return NOTHING if value is None else microseconds(value / c.clock_mhz)

    difference = NOTHING
    if row.measured is not None and row.predicted is not None:
        difference = _relative(row.measured.busy, row.predicted.busy)
    out = [row.pipe, cell(row.measured, "busy"), cell(row.predicted, "busy"), difference]
    for what in wanted:
        out += [cell(row.measured, what), cell(row.predicted, what)]
    return out


def _relative(run: float, ahead: float) -> str:
    return f"{100 * (run / ahead - 1):+.1f} %" if ahead else NOTHING


def microseconds(value: float) -> str:
    """A time with four digits or more."""
    if not math.isfinite(value):
        return NOTHING
    digits = 3 if abs(value) < 10 else 2 if abs(value) < 1000 else 1
    return f"{value:,.{digits}f}"
