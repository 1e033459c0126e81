"""Pieces of the configuration page, made from stored rows and explanations."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dashboards.exports import format_named
from dashboards.pages.configuration.work import Neighbour, Stored, neighbours
from dashboards.site.page import address
from dashboards.site.parts import button, code, download, facts, html, link, table
from dashboards.text import byte_count, microseconds, percent

if TYPE_CHECKING:
    from pto_tune.explaining.explanation import Explanation
    from pto_tune.uncertainty.leaning import Lean

MOST_LEANS = 12


def tag(verdict: str) -> Any:
    """A verdict as a label."""
    return html().Span(verdict, className="tag good" if verdict == "ok" else "tag warn")


def head(of: Stored) -> list[Any]:
    """Title, what is stored of the configuration, and the way to others."""
    h = html()
    run, view, at = of.run, of.view, of.position
    place = of.place()
    time = of.time_us
    pairs: list[tuple[str, Any]] = [
        ("Predicted time", h.Span([
            h.Strong("–" if time is None else f"{microseconds(time)} µs"),
            # only where there is somebody to fill it in
            *([h.Span(id="cfg-interval", className="note")] if of.problem is not None else []),
        ])),
        ("Verdict", tag(of.verdict)),
    ]  # fmt: skip
    if time is not None:
        pairs.append(("Cycles", f"{int(view.cycles[at]):,}"))
        pairs.append(("Bound by", view.bound_name(at)))
    if place is not None:
        pairs.append(("Place by time", f"{place + 1:,} of {len(view.ranked):,} ok"))
    on_chip = float(view.on_chip_bytes[at])
    if on_chip == on_chip:
        pairs.append(("On-chip memory", byte_count(on_chip)))
    for name, title in (("gm_ring", "FIFO rings in GM"), ("gm_traffic", "GM traffic")):
        size = float(view.bytes[name][at]) if name in view.bytes else float("nan")
        if size == size:
            pairs.append((title, byte_count(size)))
    sizes = ", ".join(f"{name} {value}" for name, value in run.problem.items())
    return [
        h.H1(f"Configuration {of.row}"),
        h.P(["of run ", link(run.name, address("runs", run.id)), f": {run.workload} on {run.platform}, "
             f"rule set {run.rule_set}, {sizes}"], className="note"),
        h.Section([
            facts(pairs),
            facts([(name, str(value)) for name, value in of.view.configuration(at).items()]),
            h.Div(_ways(of, place), className="actions"),
        ], **{"aria-label": "The stored configuration"}),
    ]  # fmt: skip


def _ways(of: Stored, place: int | None) -> list[Any]:
    run, view = of.run, of.view
    out = []
    if place is not None and place > 0:
        out.append(_to(of, int(view.ranked[place - 1]), f"← {_ordinal(place - 1)}"))
    if place is not None and place + 1 < len(view.ranked):
        out.append(_to(of, int(view.ranked[place + 1]), f"{_ordinal(place + 1)} →"))
    if view.best is not None and view.best != of.position:
        best = int(view.rows[view.best])
        if place is None:
            out.append(_to(of, view.best, "Best of the run"))
        pair = f"{run.id}:{best},{run.id}:{of.row}"
        out.append(link("Compare with the best", address("compare", configurations=pair), className="button"))
    out.append(link("Run", address("runs", run.id), className="button"))
    return out


def _ordinal(place: int) -> str:
    return "Best" if place == 0 else f"Place {place + 1:,}"


def _to(of: Stored, position: int, text: str) -> Any:
    row = int(of.view.rows[position])
    return link(text, address("runs", of.run.id, "configurations", row), className="button")


def legend(entries: Sequence[tuple[str, str, str]]) -> Any:
    """What colours mean: name, colour and style of each."""
    h = html()
    shape = {"display": "inline-block", "width": "12px", "height": "12px", "marginRight": "6px",
             "verticalAlign": "middle"}  # fmt: skip
    return h.Ul(
        [
            h.Li([h.Span(style={**shape, **_swatch(style, colour)}, **{"aria-hidden": "true"}), name])
            for name, colour, style in entries
        ],
        className="note",
        style={"display": "flex", "flexWrap": "wrap", "gap": "2px 16px", "listStyle": "none", "padding": 0},
    )


def _swatch(style: str, colour: str) -> dict[str, Any]:
    if style == "hatched":
        return {"background": f"repeating-linear-gradient(135deg, {colour} 0 3px, transparent 3px 5px)"}
    more: dict[str, dict[str, Any]] = {
        "light": {"opacity": 0.5, "height": "6px"},
        "line": {"height": "2px", "width": "18px"},
    }
    return {"background": colour, **more.get(style, {})}


def whole(text: str) -> Any:
    """A text that is not broken into lines."""
    return html().Span(text, style={"whiteSpace": "nowrap"})


def controls(of: Stored, changes: Mapping[str, int | str]) -> list[Any]:
    """A menu for every tunable, and a field for values that no menu has."""
    from dash import dcc

    assert of.problem is not None
    h = html()
    now = {**_applied(of), **changes}
    menus = []
    for tunable in of.problem.workload.tunables:
        id = {"type": "cfg-tunable", "name": tunable.name}
        menus.append(h.Div([
            h.Label(tunable.name, title=tunable.doc, htmlFor=json.dumps(id, sort_keys=True, separators=(",", ":"))),
            dcc.Dropdown(id=id, options=options(of, tunable.name, now[tunable.name]), value=now[tunable.name],
                         clearable=False, searchable=False),
        ], className="choice"))  # fmt: skip
    names = [tunable.name for tunable in of.problem.workload.tunables]
    other = h.Details([
        h.Summary("A value that no menu has"),
        h.Div([
            h.Div([h.Label("Tunable", htmlFor="cfg-other-name"),
                   dcc.Dropdown(id="cfg-other-name", options=names, value=next(iter(names), None),
                                                    clearable=False, searchable=False)], className="choice"),
            h.Div([h.Label("Value", htmlFor="cfg-other-value"),
                   dcc.Input(id="cfg-other-value", type="text", value="", autoComplete="off")], className="field"),
            button("cfg-other-set", "Set"),
        ], className="controls"),
    ])  # fmt: skip
    return [h.Div(menus, className="controls"), other]


def controls_values(of: Stored, changes: Mapping[str, int | str]) -> dict[str, tuple[int | str, list[dict[str, Any]]]]:
    """Value and entries of every tunable's menu."""
    now = {**_applied(of), **changes}
    return {name: (value, options(of, name, value)) for name, value in now.items()}


def _applied(of: Stored) -> dict[str, Any]:
    """The stored value of every tunable; its default where it does not apply."""
    from pto_tune.table import label

    assert of.problem is not None
    own = of.values
    return {t.name: own.get(t.name, label(t, t.default)) for t in of.problem.workload.tunables}


def options(of: Stored, name: str, now: int | str) -> list[dict[str, Any]]:
    """Entries of a tunable's menu: the stored value is marked."""
    own = _applied(of)[name]
    found = of.domain(name)
    for value in (own, now):
        if value not in found:
            found.append(value)
    if all(isinstance(v, int) for v in found):
        found.sort(key=int)
    return [{"label": f"{v} (stored)" if v == own else str(v), "value": v} for v in found]


def answer(of: Stored, changes: Mapping[str, int | str], explanation: Explanation) -> list[Any]:
    """What a change does to the time."""
    h = html()
    if not changes:
        return [h.P("Nothing is changed: choose another value of a tunable.", className="note")]
    e = explanation.evaluation
    words = ", ".join(f"{name} = {value}" for name, value in changes.items())
    verdict = _verdict(explanation)
    pairs: list[tuple[str, Any]] = [("With", words), ("Verdict", tag(verdict))]
    if explanation.timed:
        new = float(e.time_us[0])
        pairs.insert(0, ("New time", h.Strong(f"{microseconds(new)} µs")))
        pairs.insert(1, ("Against the stored one", difference(new, of.time_us)))
        pairs.append(("Bound by", e.bound_names()[0]))
    row = of.row_of(changes)
    if row is not None:
        pairs.append(("Stored too", link(f"row {row}", address("runs", of.run.id, "configurations", row))))
    return [facts(pairs)]


def difference(new_us: float, old_us: float | None) -> str:
    """A difference of times in words."""
    if old_us is None:
        return "the stored one has no time"
    if new_us == old_us:
        return "the same"
    by = abs(new_us - old_us)
    word = "faster" if new_us < old_us else "slower"
    return f"{microseconds(by)} µs {word} ({percent(by, old_us)})"


def _verdict(explanation: Explanation) -> str:
    from pto_tune.verdicts import VERDICTS

    return VERDICTS[int(explanation.evaluation.verdict[0])]


def wrong(explanation: Explanation) -> list[Any]:
    """Every rule that is broken, with its first tile, and what that means for the times; nothing where it is ok."""
    from pto_tune.rule_sets import rule_sets

    h = html()
    found = explanation.findings
    notes = explanation.notes()
    out: list[Any] = []
    if found:
        verdict = _verdict(explanation)
        meaning = {
            "refused": "It is refused: it never runs, so there is no time and no timeline.",
            "hang": "It hangs: it never ends, so there is no time and no timeline.",
            "overwrite": "It is unsafe: the time is that of a run whose results may be wrong. It is not exported.",
            "race": "It is unsafe: the time is that of a run whose results may be wrong. It is not exported.",
        }.get(verdict, "")
        out.append(h.P([tag(verdict), " ", meaning], className="warn"))
        family = rule_sets(explanation.problem.rule_set.family)
        for finding in found:
            tile = "" if finding.tile is None else f", first at tile {finding.tile}"
            out.append(h.H3(f"{finding.verdict}: rule {finding.rule}{tile}"))
            out.append(h.P(finding.text(family)))
    if notes:
        out.append(h.H3("To be noted"))
        out += [h.P(note, className="note") for note in notes]
    return [h.Section(out, **{"aria-label": "What is wrong, and what is to be noted"})] if out else []


def export(of: Stored, changes: Mapping[str, int | str], explanation: Explanation, key: str = "header") -> list[Any]:
    """The text in a format with a copy button and a download; why not where it cannot be exported."""
    from urllib.parse import quote

    from pto_tune.api import not_exportable_because, recommendation
    from pto_tune.cli.stored import revision_of

    h = html()
    why = not_exportable_because(explanation.evaluation, 0)
    if why:
        return [h.P(f"No export: {why}.", className="warn")]
    p = explanation.problem
    values = {**of.run.problem, **of.values, **changes}
    row = of.row_of(changes) if changes else of.row
    rec = recommendation(
        p.workload, values, p.platform, revision_of(of.run, p.platform), p.timing, of.run.name, row=row
    )
    try:
        form = format_named(key)
        text = form.render(rec)
    except ValueError as error:
        return [h.P(line, className="warn") for line in str(error).splitlines()]
    file = form.file_name(of.run.name, row)
    if row is None:
        get = h.A("Download", href=f"data:{form.media_type},{quote(text)}", download=file, className="button")
    else:
        get = download("Download", address("api", "v1", "runs", of.run.id, "configurations", row, "export", form.key))
    return [
        h.P(form.lacks, className="note"),
        h.Div([h.H3(form.title), get], className="card-head"),
        code(text, label=f"the {form.title}"),
    ]


def trace(of: Stored, changes: Mapping[str, int | str], explanation: Explanation) -> Any:
    """The way to the trace file of what is shown."""
    if not explanation.timed:
        return ""
    row = of.row_of(changes) if changes else of.row
    if row is None:
        return button({"type": "cfg-file", "what": "trace"}, "Perfetto trace")
    return download("Perfetto trace", address("api", "v1", "runs", of.run.id, "configurations", row, "trace"))


def neighbour_table(of: Stored) -> Any:
    """Stored configurations with one tunable changed."""
    found = neighbours(of)
    if not found:
        return html().P("The run has no configuration that differs in one tunable alone.", className="note")
    return table(
        ["Tunable", "From", "To", "Time (µs)", "Against this one", "Verdict", "Row"],
        [_neighbour(of, n) for n in found],
        numbers=["Time (µs)"],
        label="Stored configurations with one tunable changed",
    )


def _neighbour(of: Stored, n: Neighbour) -> list[Any]:
    own = of.view.configuration(of.position)[n.tunable]
    return [
        n.tunable,
        str(own),
        str(n.value),
        "–" if n.time_us is None else microseconds(n.time_us),
        "–" if n.time_us is None else difference(n.time_us, of.time_us),
        n.verdict,
        link(f"row {n.row}", address("runs", of.run.id, "configurations", n.row)),
    ]


def interval_words(interval: Mapping[str, Any] | None, time_us: float) -> str:
    """An interval in a sentence."""
    if interval is None:
        return ""
    low, high = interval["low_us"], interval["high_us"]
    words = (
        f"90 % interval {microseconds(low)} to {microseconds(high)} µs, median "
        f"{microseconds(interval['median_us'])} µs, of "
        f"{interval['samples']} samples of the platform's numbers by their kinds and ranges. It says nothing about "
        "what the model leaves out."
    )
    if interval["unfinished"]:
        words += f" {interval['unfinished']} of the samples do not end and are left out."
    if not low <= time_us <= high:
        side = "slow" if time_us < low else "fast"
        words += f" The prediction lies outside: the ranges reach further to the {side} side."
    return words


def leans_table(leans: Sequence[Lean]) -> Any:
    """The numbers that the time leans on."""
    if not leans:
        return html().P("No uncertain number of the platform moves this time.", className="note")
    columns = ["Number", "Value", "Range", "Kind", "Share of the interval", "Moves the time by (µs)", "Source"]
    return table(
        columns,
        [
            [
                whole(lean.key),
                f"{lean.value:.4g} {lean.unit}",
                whole(f"{lean.low:.4g} to {lean.high:.4g}"),
                whole(lean.kind),
                percent(lean.share, 1.0),
                microseconds(lean.swing_us),
                html().Div(lean.source, style={"minWidth": "220px"}),
            ]
            for lean in leans[:MOST_LEANS]
        ],
        numbers=[columns[1], columns[4], columns[5]],
        label="Numbers that the time leans on",
    )
