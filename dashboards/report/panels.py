"""What a report is made of: sections of panels, each a figure, a table or a text to copy, with how to read it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dashboards.summary import SummaryData, Table
from dashboards.theme import Theme

if TYPE_CHECKING:
    from dashboards.runview import RunView
    from pto_tune.evaluation import Problem
    from pto_tune.explaining.explanation import Explanation

TIMELINE, OCCUPANCY, POINTS, REST = range(4)
"""What gives way first where a page would be too large: timelines, then FIFOs, points of scatters, anything."""

DROPPED = "Left out to keep the file under 7 MB: a report of this run alone has it."
TOO_LARGE = "Left out to keep the file under 7 MB."

_NOT_ASKED = "the page was made from its columns alone"

Draw = Callable[[Theme], Any]
Legend = Callable[[Theme], Sequence[tuple[str, str, str]]]


@dataclass(frozen=True, eq=False)
class Subject:
    """A run as a report takes it. `problem` is None where it cannot be evaluated any more, and `why_not` says why.

    `number` is its number in the store, None outside one. `sampled`: whether a strategy looked at a part of the space;
    `pto_isa`: the revision that was asked for, None for the rule set itself.
    """

    view: RunView
    problem: Problem | None = None
    why_not: str = _NOT_ASKED
    number: int | None = None
    sampled: bool = False
    pto_isa: str | None = None

    @property
    def values(self) -> dict[str, int | str]:
        """Value of every tunable that applies to the best configuration; empty where there is none."""
        found = {} if self.view.best is None else self.view.configuration(self.view.best)
        return {name: value for name, value in found.items() if value != "–"}

    @cached_property
    def explanation(self) -> Explanation:
        """The best configuration, evaluated. ValueError where there is none or it cannot be evaluated."""
        from pto_tune.explaining.explanation import explain_configuration

        if self.problem is None:
            raise ValueError(self.why_not)
        if self.view.best is None:
            raise ValueError("no configuration is ok")
        return explain_configuration(self.problem, {**self.view.problem, **self.values})


@dataclass(frozen=True)
class Code:
    """A text to copy."""

    title: str
    text: str


@dataclass(frozen=True, eq=False)
class Panel:
    """A part of the page. `key` names it in its section, `notes` say how to read it, one paragraph each.

    `draw` makes its figure in a theme; `legend` gives name, colour and style ("solid", "hatched", "light" or "line") of
    what the figure has no room to name. `lighter` makes a panel that weighs less, None where only leaving the figure
    out would; `turn` says when it is its turn. `wide` panels take the whole width.
    """

    key: str
    title: str
    notes: tuple[str, ...] = ()
    draw: Draw | None = None
    legend: Legend | None = None
    table: Table | None = None
    codes: tuple[Code, ...] = ()
    wide: bool = False
    lighter: Callable[[], Panel] | None = None
    turn: int = REST

    def without_figure(self, why: str) -> Panel:
        """The panel with a sentence in place of its figure."""
        return replace(self, draw=None, legend=None, notes=(why,), lighter=None)


@dataclass(frozen=True, eq=False)
class Group:
    """Panels under a heading ("" for none)."""

    title: str
    panels: tuple[Panel, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Section:
    """A run, or the comparison of several. `key` is unique in the page; `summary` is None for a comparison."""

    key: str
    title: str
    groups: tuple[Group, ...]
    summary: SummaryData | None = None
    notes: tuple[str, ...] = ()

    @property
    def panels(self) -> list[Panel]:
        """All of them, in order."""
        return [panel for group in self.groups for panel in group.panels]
