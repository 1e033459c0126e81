"""Where the best configuration spends its time: how long each pipe works and each channel makes somebody
wait.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dashboards.figures.bars import Bar, Look, bars_figure
from dashboards.runview import RunView
from dashboards.text import microseconds, percent
from dashboards.theme import LIGHT, ORANGE, Theme, message_figure

_BARS_EACH = 12


@dataclass(frozen=True)
class StallsData:
    """Account of one configuration, largest first in both lists; all in cycles of the core clock.

    `busy` is work a pipe, `waits` time that somebody waited a channel; both overlap in time, so they do not
    add up to `makespan_cycles`. `row` is None where no configuration is ok.
    """

    row: int | None
    makespan_cycles: int
    clock_mhz: float
    busy: tuple[tuple[str, int], ...]
    waits: tuple[tuple[str, int], ...]


def stalls_data(view: RunView) -> StallsData:
    """Busy and wait account of the best configuration of `view`; empty lists where the run kept none."""
    if view.best is None:
        return StallsData(None, 0, view.clock_mhz, (), ())
    row = int(view.rows[view.best])
    account = view.accounts.get(row, ())
    parts = {
        wanted: tuple(sorted(((n, int(c)) for kind, n, c in account if kind == wanted), key=lambda e: (-e[1], e[0])))
        for wanted in ("busy", "wait")
    }
    return StallsData(row, int(view.cycles[view.best]), view.clock_mhz, parts["busy"], parts["wait"])


def stalls_figure(data: StallsData, theme: Theme = LIGHT) -> Any:
    """Bars of cycles: pipes at work above, waits below, a dashed line where the whole run ends. At most 12 of
    each.
    """
    if data.row is None:
        return message_figure(theme, "No configuration is ok, so there is no best one to explain.")
    if not data.busy and not data.waits:
        return message_figure(theme, f"The run kept no stall account for its best configuration (row {data.row}).")
    bars = []
    for group, entries in (("busy", data.busy), ("wait", data.waits)):
        for name, cycles in [entry for entry in entries if entry[1] > 0][:_BARS_EACH]:
            share = percent(cycles, data.makespan_cycles)
            time = microseconds(cycles / data.clock_mhz)
            bars.append(Bar(group, f"{group} · {name}", f"{time} µs ({share})", cycles))
    looks = {"busy": Look(theme.mark), "wait": Look(ORANGE, "/")}
    return bars_figure(bars, looks, "Cycles of the core clock", theme, (data.makespan_cycles, "whole run"))
