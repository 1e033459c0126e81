"""If only this limited you: how long each pipe or shared resource would take by itself, against the actual time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dashboards.figures.bars import Bar, Look, bars_figure
from dashboards.text import microseconds, percent
from dashboards.theme import BLUISH_GREEN, LIGHT, Theme, message_figure

if TYPE_CHECKING:
    from pto_tune.explaining.explanation import Explanation

MOST_BARS = 14
MEANING = (
    "Each bar is the time that a pipe, or a shared resource, needs for its own work if nothing ever made it wait. "
    "A bar near the whole time is the bottleneck: only less work on it helps. Where all are far from it, the pipes "
    "wait for each other: deeper FIFOs, another SyncPeriod or more preload help."
)


@dataclass(frozen=True)
class BoundsData:
    """`bounds`: (name, cycles), the largest first. `cycles`: the time on the device, None where there is none."""

    bounds: tuple[tuple[str, int], ...]
    cycles: int | None
    clock_mhz: float

    def sentence(self) -> str:
        """How near the largest bound is to the time."""
        if self.cycles is None or not self.bounds:
            return ""
        name, most = self.bounds[0]
        return (
            f"{name} alone takes {percent(most, self.cycles)} of the time: without waiting for anything the "
            f"configuration would take {microseconds(most / self.clock_mhz)} µs on the device."
        )


def bounds_data(explanation: Explanation) -> BoundsData:
    """The bounds of an explanation; none where it has no times."""
    cycles = int(explanation.evaluation.cycles[0]) if explanation.timed else None
    found = sorted(explanation.bounds(), key=lambda b: (-b[1], b[0]))
    return BoundsData(tuple(found), cycles, explanation.problem.clock_mhz)


def is_pipe(name: str) -> bool:
    """Whether a bound is that of a pipe ("AIC.M"), not of a resource that all blocks share."""
    return "." in name


def bounds_figure(data: BoundsData, theme: Theme = LIGHT) -> Any:
    """Bars of cycles, pipes and shared resources told apart, with a dashed line at the actual time."""
    if data.cycles is None:
        return message_figure(theme, "There are no times, so nothing limits them.")
    groups = ("pipe of a core", "shared by all cores")
    bars = [
        Bar(groups[0] if is_pipe(name) else groups[1], name,
            f"{microseconds(cycles / data.clock_mhz)} µs ({percent(cycles, data.cycles)})", cycles)
        for name, cycles in data.bounds[:MOST_BARS]
    ]  # fmt: skip
    looks = {groups[0]: Look(theme.mark), groups[1]: Look(BLUISH_GREEN, "x")}
    return bars_figure(bars, looks, "Cycles of the core clock", theme, (data.cycles, "actual time"))
