"""Tables and words of the page that compares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dashboards.figures.cross import Cross
from dashboards.figures.one_for_all import OneForAll, regret_text
from dashboards.pages.compare.work import Compared, Item, Wish
from dashboards.pages.wide import wide_table
from dashboards.site.page import address
from dashboards.site.parts import html, link
from dashboards.text import byte_count, microseconds

if TYPE_CHECKING:
    from collections.abc import Iterable

NONE = "–"
_DIFFERS = {"background": "var(--soft)", "borderRadius": "4px", "padding": "0 6px"}
_STRONGEST = 36
"""Share of the accent colour behind a cell that takes twice as long as the best or more, per cent."""


def to(wanted: Wish) -> str:
    """The address of a wish."""
    return address("compare", **wanted.query())


def lines(of: Compared) -> list[tuple[str, list[str]]]:
    """What is shown of every item: a name, and a text for each."""
    out = [
        ("Workload", [i.run.workload for i in of.items]),
        ("Platform", [i.run.platform for i in of.items]),
        ("Rule set", [i.run.rule_set for i in of.items]),
        ("Timing", [i.run.timing for i in of.items]),
    ]
    for name in dict.fromkeys(name for i in of.items for name in i.run.problem):
        out.append((name, [str(i.run.problem.get(name, NONE)) for i in of.items]))
    out += [
        ("Verdict", [_verdict(i) for i in of.items]),
        ("Time", [f"{microseconds(i.time_us)} µs" if np.isfinite(i.time_us) else NONE for i in of.items]),
        ("On chip", [_bytes(i) for i in of.items]),
        ("Bound by", [NONE if i.position is None else i.view.bound_name(i.position) for i in of.items]),
    ]
    for name in dict.fromkeys(name for i in of.items for name, _ in i.view.tunables):
        out.append((name, [str(i.values.get(name, NONE)) for i in of.items]))
    return out


def _verdict(item: Item) -> str:
    if item.position is None:
        return "none is ok"
    rule = int(item.view.rule[item.position])
    word = item.view.verdict_names[int(item.view.verdict[item.position])]
    return word + (f" ({item.view.rule_names[rule]})" if rule >= 0 else "")


def _bytes(item: Item) -> str:
    value = float("nan") if item.position is None else float(item.view.on_chip_bytes[item.position])
    return byte_count(value) if np.isfinite(value) else NONE


def side_by_side(of: Compared, differences: bool) -> Any:
    """The items as columns; what is not the same in all stands out, and with `differences` stands alone."""
    h = html()
    heads = [
        link(
            i.label, address("runs", i.run.id) if i.row is None else address("runs", i.run.id, "configurations", i.row)
        )
        for i in of.items
    ]
    rows: list[list[Any]] = []
    for name, values in lines(of):
        differs = len(set(values)) > 1
        if differs or not differences:
            rows.append([name, *(h.Strong(v, style=_DIFFERS) if differs else v for v in values)])
    if not rows:
        return h.P("There is no difference.", className="note")
    return wide_table(["", *heads], rows, label="configurations side by side")


def cross_table(found: Cross, of: Compared) -> Any:
    """The matrix: rows are configurations, columns settings."""
    h = html()
    own = [i.setting for i in of.items if i.position is not None]
    rows = []
    for i, label in enumerate(found.rows):
        cells: list[Any] = [h.Strong(label, style={"display": "inline-block", "minWidth": "130px"})]
        for j in range(len(found.columns)):
            time, share = float(found.time_us[i, j]), float(found.regret[i, j])
            if not np.isfinite(time):
                cells.append(h.Div(_why(of, found.why[i][j], j), className="note", style={"minWidth": "150px"}))
                continue
            weight = round(_STRONGEST * min(1.0, max(0.0, share)))
            text = [f"{microseconds(time)} µs ", h.Strong(regret_text(share))]
            if own[i] == j:
                text.append(h.Span(" its own", className="note"))
            shade = f"color-mix(in srgb, var(--accent) {weight}%, var(--paper))"
            cells.append(h.Div(text, style={"background": shade, "padding": "2px 6px", "borderRadius": "4px",
                                            "whiteSpace": "nowrap"}))  # fmt: skip
        rows.append(cells)
    best = [f"{microseconds(float(t))} µs" if np.isfinite(t) else NONE for t in found.best_us]
    rows.append(["Best known", *best])
    return wide_table(["Configuration", *found.columns], rows, label="configurations evaluated in every setting")


def _why(of: Compared, sentence: str, j: int) -> str:
    # what holds for a whole column stands below the table
    return "not evaluated, see below" if of.settings[j].problem is None and sentence else sentence or NONE


def cross_notes(of: Compared) -> list[Any]:
    """What the matrix leans on, and where a setting cannot be evaluated."""
    h = html()
    says = "Best known: the best that a run in this setting found, or the best of this column."
    if of.further < len(of.settings):
        says += " A setting without a run of its own has no better one to compare with."
    out = [h.P(says, className="note")]
    w = of.wish
    for j, s in enumerate(of.settings):
        if s.problem is None:
            run = next(run for run, _, at in of.runs if at == j)
            sentence = f"Not evaluated in {s.label}: {s.why_not}."
            more = Wish(w.runs, w.configurations, tuple(dict.fromkeys((*w.also, (run.platform, run.rule_set)))))
            ask = link(f"Add {run.platform} with today's numbers", to(more)) if len(more.also) > len(w.also) else ""
            out.append(h.P([h.Span(sentence, className="warn"), " ", ask], className="note"))
    return out


def good_words(found: OneForAll, of: Compared) -> list[Any]:
    """What was found, its values, and the next best."""
    h = html()
    how = h.P(
        f"Candidates: {found.method}; {found.legal:,} are ok in every setting. Regret: how much longer than the best "
        "known of a setting.",
        className="note",
    )
    if not found.found:
        return [how]
    first = found.found[0]
    worst = found.settings[int(np.argmax(first.regret))]
    sentence = (
        f"At most {100 * first.worst:.1f} % longer than the best of every setting (worst in {worst})."
        if first.worst >= 5e-4
        else "As fast as the best of every setting."
    )
    shown = [name for name in first.values if len({str(g.values.get(name)) for g in found.found}) > 1]
    fixed = ", ".join(f"{n} {v}" for n, v in first.values.items() if n not in shown)
    rows = [
        [str(i), *(str(g.values.get(n, NONE)) for n in shown), f"{100 * g.worst:.1f} %",
         *(f"{microseconds(t)} µs ({regret_text(r)})" for t, r in zip(g.time_us, g.regret, strict=True))]
        for i, g in enumerate(found.found, 1)
    ]  # fmt: skip
    out: list[Any] = [h.P([h.Strong(sentence), *_open(found, of)])]
    if fixed:
        alike = "All of these have: " if len(found.found) > 1 else "Its values: "
        out.append(h.P(alike + fixed + ".", className="note"))
    out.append(wide_table(["", *shown, "Worst", *found.settings], rows, label="the best for all settings"))
    return [*out, how]


def _open(found: OneForAll, of: Compared) -> list[Any]:
    """A link to the configuration in the first run that has it."""
    from dashboards.pages.compare.live import row_of

    for run, view, _ in of.runs:
        row = row_of(view, found.found[0].values)
        if row is not None:
            return [" ", link(f"Open it in run {run.id}", address("runs", run.id, "configurations", row))]
    return []


def chips(of: Compared) -> list[Any]:
    """The further platforms, each with a link that leaves it out."""
    h = html()
    w = of.wish
    out = []
    for pair in w.also:
        rest = Wish(w.runs, w.configurations, tuple(p for p in w.also if p != pair))
        name = f"{pair[0]}, {pair[1]}" if pair[1] else pair[0]
        out.append(link(f"{name} ×", to(rest), className="button", title=f"Leave out {name}"))
    return [h.Span("Also on: ", className="note"), *out] if out else []


def csv_lines(titles: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[Sequence[Any]]:
    """Titles and rows for a file; a number that is none is an empty cell."""
    return [titles, *([None if isinstance(v, float) and not np.isfinite(v) else v for v in row] for row in rows)]


def cross_lines(found: Cross) -> list[Sequence[Any]]:
    """The matrix as a long table."""
    titles = ("configuration", "setting", "time_us", "best_known_us", "regret", "verdict", "why_not")
    rows = [
        (row, col, float(found.time_us[i, j]), float(found.best_us[j]), float(found.regret[i, j]), found.verdict[i][j],
         found.why[i][j])
        for i, row in enumerate(found.rows)
        for j, col in enumerate(found.columns)
    ]  # fmt: skip
    return csv_lines(titles, rows)


def good_lines(found: OneForAll) -> list[Sequence[Any]]:
    """The best few as a long table."""
    names = list(found.found[0].values) if found.found else []
    titles = ("place", *names, "setting", "time_us", "best_known_us", "regret")
    return csv_lines(titles, [
        (place, *(g.values.get(n, "") for n in names), s, t, b, r)
        for place, g in enumerate(found.found, 1)
        for s, t, b, r in zip(found.settings, g.time_us, found.best_us, g.regret, strict=True)
    ])  # fmt: skip
