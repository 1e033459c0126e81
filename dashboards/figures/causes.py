"""Where the time goes: the critical path by cause, before and after a change, and who waits for what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dashboards.text import microseconds, percent, plain
from dashboards.theme import (
    BLUISH_GREEN,
    GREY,
    LIGHT,
    ORANGE,
    REDDISH_PURPLE,
    SKY_BLUE,
    VERMILLION,
    YELLOW,
    Theme,
    axis,
    layout,
    message_figure,
)  # fmt: skip

if TYPE_CHECKING:
    from pto_tune.explaining.critical import Segment
    from pto_tune.explaining.explanation import Explanation

COMPUTE, MOVE, FIXPIPE, DATA, SPACE, BUFFER, FLAG, LINK, MEMORY, LATENCY, ISSUE = CAUSES = (
    "compute", "DMA", "fixpipe", "waiting for data", "waiting for free space", "waiting for a buffer",
    "waiting for a flag", "waiting for a link", "waiting for L2 or HBM", "latency of transfers", "scalar issue",
)  # fmt: skip
"""Causes, in the order in which they are shown."""


@dataclass(frozen=True)
class CausesData:
    """Cycles by cause. `exact`: they are the critical path of the first block, and add up to `cycles`; else the sums
    that a workload with ranks has, of the block that ends last, which overlap. `parts`: (cause, name, cycles), the
    largest first. `whole`: cycles of the whole run, of which the block is a part."""

    label: str
    by_cause: Mapping[str, int]
    parts: tuple[tuple[str, str, int], ...]
    cycles: int
    whole: int
    clock_mhz: float
    exact: bool


def causes_data(explanation: Explanation, label: str = "") -> CausesData | None:
    """Causes of an explanation, None where it has no times."""
    if not explanation.timed:
        return None
    whole, clock = int(explanation.evaluation.cycles[0]), explanation.problem.clock_mhz
    if explanation.problem.workload.has_ranks:
        account = explanation.accounts
        parts = [(wait_cause(name), name, cycles) for name, cycles in account.waits.items()]
        parts += [(pipe_cause(name), name, cycles) for name, cycles in account.busy.items()]
        return CausesData(label, _summed(parts), _merged(parts), whole, whole, clock, False)
    parts = [(segment_cause(s), s.name, s.cycles) for s in explanation.path]
    return CausesData(label, _summed(parts), _merged(parts), explanation.block.cycles, whole, clock, True)


def segment_cause(s: Segment) -> str:
    """The cause of a stretch of the critical path. A flag on its way is waited for as data, or as free space."""
    if s.cause == "flag":
        return wait_cause(s.name)
    return {"latency": LATENCY, "issue": ISSUE}.get(s.cause, s.cause)


def wait_cause(name: str) -> str:
    """The cause of a wait by the name under which it is accounted."""
    first, _, rest = name.partition(".")
    last = rest.rpartition(".")[2]
    if last in ("ready", "free"):
        return DATA if last == "ready" else SPACE
    if first == "AIC" or first.startswith("AIV"):
        if "." in rest:
            # the queue of a pipe, which holds its scalar process
            return ISSUE
        own = {"link": LINK, "l2": MEMORY, "l2_read": MEMORY, "hbm": MEMORY, "flags": FLAG, "barrier": FLAG}
        return own.get(rest, FLAG if " " in rest else BUFFER)
    return FLAG


def pipe_cause(name: str) -> str:
    """What the work of a pipe is."""
    last = name.rpartition(".")[2]
    return COMPUTE if last in ("M", "V") else FIXPIPE if last == "FIX" else ISSUE if last == "S" else MOVE


def _summed(parts: Iterable[tuple[str, str, int]]) -> dict[str, int]:
    total = dict.fromkeys(CAUSES, 0)
    for cause, _, cycles in parts:
        total[cause] += cycles
    return {cause: cycles for cause, cycles in total.items() if cycles}


def _merged(parts: Iterable[tuple[str, str, int]]) -> tuple[tuple[str, str, int], ...]:
    total: dict[tuple[str, str], int] = {}
    for cause, name, cycles in parts:
        total[cause, name] = total.get((cause, name), 0) + cycles
    return tuple((c, n, k) for (c, n), k in sorted(total.items(), key=lambda e: (-e[1], e[0])) if k)


def looks(theme: Theme) -> dict[str, tuple[str, str]]:
    """Colour and pattern of every cause: the waits are hatched."""
    return {
        COMPUTE: (theme.mark, ""), MOVE: (BLUISH_GREEN, ""), FIXPIPE: (REDDISH_PURPLE, ""), DATA: (ORANGE, "/"),
        SPACE: (VERMILLION, "\\"), BUFFER: (ORANGE, "x"), FLAG: (YELLOW, "."), LINK: (SKY_BLUE, "x"),
        MEMORY: (BLUISH_GREEN, "x"), LATENCY: (GREY, "-"), ISSUE: (GREY, ""),
    }  # fmt: skip


def legend(shown: Sequence[CausesData], theme: Theme = LIGHT) -> list[tuple[str, str, str]]:
    """Name, colour and style ("solid" or "hatched") of every cause in the bars."""
    return [
        (cause, colour, "hatched" if pattern else "solid")
        for cause, (colour, pattern) in looks(theme).items()
        if any(data.by_cause.get(cause) for data in shown)
    ]


def causes_figure(shown: Sequence[CausesData], theme: Theme = LIGHT) -> Any:
    """`causes_plot` as a figure of the plotting library, which checks it: for notebooks and reports."""
    import plotly.graph_objects as go

    return go.Figure(causes_plot(shown, theme))


def causes_plot(shown: Sequence[CausesData], theme: Theme = LIGHT) -> dict[str, Any]:
    """One stacked bar for each of `shown` (such as before and after), by cause, on one scale of microseconds. Plain
    data, as `timeline_plot` and for the same reason."""
    if not shown:
        return dict(message_figure(theme, "There are no times, so there is nothing to divide.").to_plotly_json())
    traces = []
    for cause, (colour, pattern) in looks(theme).items():
        values = [data.by_cause.get(cause, 0) for data in shown]
        if not any(values):
            continue
        details = [
            [
                f"{microseconds(cycles / data.clock_mhz)} µs, {cycles:,} cycles",
                percent(cycles, data.cycles) if data.exact else "sums overlap",
            ]
            for cycles, data in zip(values, shown, strict=True)
        ]
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": cause,
                "y": [plain(data.label) for data in shown],
                "x": [cycles / data.clock_mhz for cycles, data in zip(values, shown, strict=True)],
                "width": 0.6,
                "marker": {
                    "color": colour,
                    "line": {"width": 0.5, "color": theme.paper},
                    "pattern": {"shape": pattern, "fillmode": "overlay", "fgcolor": theme.paper, "fgopacity": 0.75},
                },
                "customdata": details,
                "hovertemplate": f"<b>{cause}</b><br>%{{customdata[0]}} (%{{customdata[1]}})<extra></extra>",
            }
        )
    exact = all(data.exact for data in shown)
    shape = layout(
        theme,
        86 + 44 * len(shown),
        barmode="stack",
        xaxis=axis(theme, "Time (µs)" if exact else "Sums of time (µs)", tickformat=",~r", nticks=7),
        yaxis=axis(theme, "", autorange="reversed", fixedrange=True, showgrid=False),
        showlegend=False,
    )
    return {"data": traces, "layout": shape}
