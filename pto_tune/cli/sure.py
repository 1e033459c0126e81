"""How sure shown times are: intervals beside them, which configurations are tied, and what would tell them apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pto_tune.cli import output, text

if TYPE_CHECKING:
    from pto_tune.evaluation import Problem
    from pto_tune.uncertainty.ties import Tie

    Entry = Mapping[str, Any]


@dataclass(frozen=True)
class Sure:
    """Of configurations that are shown: interval by row of the run, the fastest row, and those tied with it.

    `ties` says what would decide, None where that was not looked into.
    """

    intervals: dict[int, dict[str, Any] | None] = field(default_factory=dict)
    best: int | None = None
    tied: tuple[int, ...] = ()
    ties: list[tuple[int, Tie]] | None = None

    def interval(self, row: int) -> str:
        """Low and high of a row as a cell of a table."""
        found = self.intervals.get(row)
        return text.NOTHING if found is None else between(found)

    def mark(self, row: int) -> str:
        """`best` or `tied`, or nothing."""
        return "best" if row == self.best else "tied" if row in self.tied else ""

    def as_plain(self) -> dict[str, Any]:
        """For JSON: intervals and ties by the numbers of the rows in the run."""
        return {
            "intervals": [
                None if found is None else {"row": row, **found, "tied": row in self.tied}
                for row, found in self.intervals.items()
            ],
            "ties": None
            if self.ties is None
            else [{**tie.as_plain(), "row": row, "best": self.best} for row, tie in self.ties],
        }


def sure_of(problem: Problem, entries: Sequence[Entry]) -> Sure | None:
    """Intervals and ties of configurations that have times; None where they would take much longer than a second."""
    from pto_tune.uncertainty.intervals import intervals_of
    from pto_tune.uncertainty.running import MOST_CONFIGURATIONS, QUICK, Subject
    from pto_tune.uncertainty.ties import best_of, tied_rows, ties_of

    if not entries or len(entries) > MOST_CONFIGURATIONS:
        return None
    subject = Subject.of(problem, [entry["configuration"] for entry in entries])
    if subject.interval_cost > QUICK:
        return None
    found = intervals_of(subject)
    rows = [int(entry["row"]) for entry in entries]
    best = best_of(subject)
    ties = ties_of(subject, found) if subject.swing_cost <= QUICK else None
    return Sure(
        intervals={row: found.as_plain(i) for i, row in enumerate(rows)},
        best=None if best is None else rows[best],
        tied=tuple(rows[i] for i in tied_rows(subject, found)),
        ties=None if ties is None else [(rows[tie.row], tie) for tie in ties],
    )


def between(interval: Mapping[str, Any]) -> str:
    """Low and high of an interval in microseconds."""
    return f"{text.microseconds(interval['low_us'])} to {text.microseconds(interval['high_us'])}"


def say_ties(sure: Sure | None) -> None:
    """Which of the configurations shown are tied with the fastest, which number would decide, and how to learn it."""
    if sure is None or sure.best is None or not sure.tied:
        return
    output.heading(f"Tied with row {sure.best}")
    if sure.ties is None:
        output.say(f"rows {_listed(sure.tied)}")
        return
    groups: dict[str, list[tuple[int, Tie]]] = {}
    for row, tie in sure.ties:
        groups.setdefault(tie.key, []).append((row, tie))
    for members in groups.values():
        # of several rows with one deciding number, the one that may differ most stands for all
        row, tie = max(members, key=lambda m: (max(map(abs, m[1].difference_us)), -m[0]))
        rows = [r for r, _ in members]
        who = f"row {row}" if len(rows) == 1 else f"rows {_listed(rows)}"
        output.say(f"{who}: {tie.decides(f'row {sure.best}', f'row {row}')}; {tie.measurement}")


def say_interval(summary: Mapping[str, Any]) -> None:
    """The interval of an explained time in words, and where the prediction lies outside of it, why."""
    interval = summary["interval"]
    if interval is None:
        output.say("no interval: it would take many runs of all ranks; --sure computes it")
        return
    output.say(
        f"90 % interval {between(interval)} us, median {text.microseconds(interval['median_us'])}: "
        f"{interval['samples']} samples of the platform's numbers by their kinds and ranges"
    )
    if interval["unfinished"]:
        output.say(f"{interval['unfinished']} of the samples do not end and are left out")
    time = float(summary["time_us"])
    if not interval["low_us"] <= time <= interval["high_us"]:
        side = "slow" if time < interval["low_us"] else "fast"
        output.say(f"the prediction lies outside: the ranges of what it leans on reach further to the {side} side")


def leaning_table(summary: Mapping[str, Any]) -> None:
    """The numbers that the result leans on most."""
    leans = summary["leans_on"]
    if leans is None:
        output.heading("What the time leans on")
        output.say("not looked into: it would take many runs of all ranks; --sure does it")
        return
    if not leans:
        return
    output.heading("What the time leans on (the largest shares of its interval's variance)")
    output.table(
        ["number", "value", "range", "kind", "share", "swing (us)", "source"],
        (
            [
                lean["key"],
                f"{lean['value']:.4g} {lean['unit']}",
                f"{lean['low']:.4g} to {lean['high']:.4g}",
                lean["kind"],
                text.percent(lean["share"]),
                text.microseconds(lean["swing_us"]),
                lean["source"],
            ]
            for lean in leans
        ),
        right=["value", "share", "swing (us)"],
    )


def _listed(rows: Sequence[int]) -> str:
    """Numbers in a sentence."""
    words = [str(row) for row in sorted(rows)]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
