"""How many configurations were ok, refused or unsafe, and by which rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dashboards.figures.bars import Bar, Look, bars_figure
from dashboards.runview import RunView
from dashboards.text import percent
from dashboards.theme import (
    BLUE,
    BLUISH_GREEN,
    GREY,
    LIGHT,
    ORANGE,
    REDDISH_PURPLE,
    SKY_BLUE,
    VERMILLION,
    Theme,
    message_figure,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BARS = 24
_LOOKS = {
    "ok": Look(BLUISH_GREEN),
    "refused": Look(ORANGE, "/"),
    "hang": Look(VERMILLION, "x"),
    "overwrite": Look(REDDISH_PURPLE, "\\"),
    "race": Look(SKY_BLUE, "."),
}
_OTHER_LOOKS = (Look(BLUE, "-"), Look(GREY, "|"), Look(GREY, "+"))


@dataclass(frozen=True)
class Refusal:
    """`count` configurations with this verdict by this rule; `rule` is None where the verdict has no rule."""

    verdict: str
    rule: str | None
    count: int


@dataclass(frozen=True)
class RefusalsData:
    """`entries`: the verdicts in the run's order with ok first, and the most frequent rule first in each."""

    entries: tuple[Refusal, ...]
    total: int

    def by_verdict(self) -> dict[str, int]:
        """Configurations a verdict, in the order of the entries."""
        out: dict[str, int] = {}
        for entry in self.entries:
            out[entry.verdict] = out.get(entry.verdict, 0) + entry.count
        return out


def refusals_data(view: RunView, within: NDArray[np.int64] | None = None) -> RefusalsData:
    """Counts per verdict and rule over the configurations of `view` at the positions `within` (None: all)."""
    width = len(view.rule_names) + 1
    kind = view.verdict.astype(np.int64) * width + view.rule + 1
    kinds, counts = np.unique(kind if within is None else kind[within], return_counts=True)
    entries = []
    for kind, count in zip(kinds.tolist(), counts.tolist(), strict=True):
        verdict, rule = divmod(kind, width)
        entries.append((verdict, view.rule_names[rule - 1] if rule else None, count))
    ok = list(view.verdict_names).index("ok")
    entries.sort(key=lambda e: (e[0] != ok, e[0], -e[2], e[1] or ""))
    return RefusalsData(tuple(Refusal(view.verdict_names[v], rule, n) for v, rule, n in entries), int(counts.sum()))


def refusals_figure(data: RefusalsData, theme: Theme = LIGHT) -> Any:
    """A bar for each verdict and rule; the rarest are put together as 'other rules' beyond 24 bars."""
    if not data.total:
        return message_figure(theme, "The run holds no configurations yet.")
    entries = _fold(data.entries)
    bars = [
        Bar(
            entry.verdict,
            f"{entry.verdict} · {entry.rule}" if entry.rule else entry.verdict,
            f"{entry.count:,} ({percent(entry.count, data.total)})",
            entry.count,
        )
        for entry in entries
    ]
    return bars_figure(bars, _looks(entries), "Configurations", theme)


def _fold(entries: tuple[Refusal, ...]) -> tuple[Refusal, ...]:
    """At most 24 entries: beyond that the rarest of each verdict become one."""
    if len(entries) <= _BARS:
        return entries
    # One bar a verdict may be added for its rest, so room for them is kept.
    room = max(1, _BARS - len({entry.verdict for entry in entries}))
    kept = set(sorted(range(len(entries)), key=lambda i: (-entries[i].count, i))[:room])
    out: list[Refusal] = []
    for verdict in dict.fromkeys(entry.verdict for entry in entries):
        own = [i for i, entry in enumerate(entries) if entry.verdict == verdict]
        rest = [entries[i].count for i in own if i not in kept]
        out += [entries[i] for i in own if i in kept]
        if rest:
            out.append(Refusal(verdict, f"{len(rest)} other rules" if len(rest) > 1 else "one other rule", sum(rest)))
    return tuple(out)


def _looks(entries: tuple[Refusal, ...]) -> dict[str, Look]:
    out: dict[str, Look] = {}
    others = 0
    for entry in entries:
        if entry.verdict not in out:
            look = _LOOKS.get(entry.verdict)
            if look is None:
                look = _OTHER_LOOKS[others % len(_OTHER_LOOKS)]
                others += 1
            out[entry.verdict] = look
    return out
