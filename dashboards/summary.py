"""The words and the table at the head of a report."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, nan

import numpy as np

from dashboards.figures.refusals import refusals_data
from dashboards.runview import ON_CHIP, RunView
from dashboards.text import byte_count, microseconds, percent

TOP = 10
# The three L0 buffers share a column: they hardly differ between the best configurations. On-chip sizes are
# in KiB, so that the columns stay narrow; what lies in GM differs by powers of ten and carries its unit.
_BYTE_TITLES = {
    "UB per AIV (KiB)": ("ub",),
    "L1 (KiB)": ("l1",),
    "L0A/B/C (KiB)": ("l0a", "l0b", "l0c"),
    "GM rings": ("gm_ring",),
    "GM traffic": ("gm_traffic",),
}


@dataclass(frozen=True)
class Table:
    """Column titles and rows of cells, all as text ready to show (not escaped)."""

    titles: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class SummaryData:
    """`headline` is one sentence; `facts` and `counts` are (name, value) pairs; `fixed` the tunables with one
    value.
    """

    headline: str
    facts: tuple[tuple[str, str], ...]
    counts: tuple[tuple[str, str], ...]
    table: Table
    fixed: tuple[tuple[str, str], ...]


def summary_data(view: RunView, top: int = TOP) -> SummaryData:
    """Facts, counts and the `top` fastest ok configurations of `view`."""
    n = len(view)
    facts = (
        ("Workload", view.workload),
        ("Problem", ", ".join(f"{name}={value}" for name, value in view.problem.items()) or "–"),
        ("Platform", view.platform),
        ("Rule set", view.rule_set),
        ("Timing", f"{view.timing} (launch {view.launch_us:,.6g} µs)"),
        ("Core clock", f"{view.clock_mhz:,.6g} MHz"),
        ("State", view.state),
    )
    counts = [("configurations", f"{n:,}")]
    if view.candidates is not None and view.candidates != n:
        counts = [("configurations", f"{n:,} of {view.candidates:,}")]
    by_verdict = {"ok": 0, **refusals_data(view).by_verdict()}
    counts += [(verdict, f"{count:,} ({percent(count, n)})") for verdict, count in by_verdict.items()]
    fixed = tuple((name, str(domain[0])) for name, domain in view.tunables if len(domain) == 1)
    return SummaryData(_headline(view), facts, tuple(counts), _table(view, top), fixed)


def _headline(view: RunView) -> str:
    if not len(view):
        return "The run holds no configurations yet."
    if view.best is None:
        return f"None of the {len(view):,} configurations is ok, so nothing is recommended."
    setting = ", ".join(f"{name}={value}" for name, value in _varied(view, view.best)) or "its only configuration"
    return f"{microseconds(float(view.time_us[view.best]))} µs with {setting}."


def _varied(view: RunView, position: int) -> list[tuple[str, int | str]]:
    values = view.configuration(position)
    return [(name, values[name]) for name, _ in view.varied]


def _table(view: RunView, top: int) -> Table:
    names = [name for name, _ in view.varied]
    known = {name for name, sizes in view.bytes.items() if bool(np.isfinite(sizes).any())}
    shown = {title: parts for title, parts in _BYTE_TITLES.items() if known.intersection(parts)}
    titles = ["Time (µs)", "Cycles", "Bound by", *names, "On chip (KiB)", *shown, "Row"]
    in_words = {name for name, domain in view.varied if any(type(value) is str for value in domain)}
    numeric = [
        True,
        True,
        False,
        *(name not in in_words for name in names),
        True,
        *(True for _ in shown),
        True,
    ]
    rows = []
    for position in view.ranked[:top].tolist():
        rows.append(
            (
                microseconds(float(view.time_us[position])),
                f"{int(view.cycles[position]):,}",
                view.bound_name(position),
                *(str(value) for _, value in _varied(view, position)),
                _kib(float(view.on_chip_bytes[position])),
                *(_sizes(view, parts, position) for parts in shown.values()),
                str(int(view.rows[position])),
            )
        )
    return Table(tuple(titles), tuple(numeric), tuple(rows))


def _sizes(view: RunView, parts: tuple[str, ...], position: int) -> str:
    sizes = [float(view.bytes[part][position]) if part in view.bytes else nan for part in parts]
    if parts[0] in ON_CHIP:
        return " / ".join(_kib(size) for size in sizes)
    return byte_count(sizes[0]) if isfinite(sizes[0]) else "–"


def _kib(size: float) -> str:
    return f"{size / 1024:,.1f}".removesuffix(".0") if isfinite(size) else "–"


def on_chip_note() -> str:
    """What the on-chip figure adds up."""
    return "On-chip memory is " + " + ".join(name.upper() for name in ON_CHIP) + ", with UB counted for one AIV."
