"""Parts of a run's page that are words: its head, the selected configuration, what it would take to become legal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dashboards.figures.remedies import memory_limits, other_changes, remedies_data, sentence
from dashboards.filtering import NONE
from dashboards.pages.runs import record
from dashboards.site.page import address
from dashboards.site.parts import download, empty, facts, html, link, table
from dashboards.summary import summary_data
from dashboards.text import byte_count, microseconds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dashboards.runview import RunView
    from dashboards.site.state import Site
    from db import Run

_RULES_SHOWN = 24


def head(site: Site, run: Run) -> Any:
    """Facts, counts, the best configuration; while the run is going on, how far it is."""
    h = html()
    now = record(run, site)
    state: list[Any] = [h.Span(run.state, className="tag good" if run.state == "done" else "tag")]
    if run.state == "running":
        state = [
            h.Progress(value=str(now["share"]), max="1", **{"aria-label": "progress of the run"}),
            f" {100 * now['share']:.0f} %, {now['looked_at']:,} of {run.n_candidates:,}",
        ]
    pairs: list[tuple[str, Any]] = [
        ("State", h.Span(state)),
        ("Workload", run.workload),
        ("Platform", run.platform),
        ("Rule set", run.rule_set),
        ("Sizes", now["sizes"] or NONE),
        ("Search", run.strategy),
        ("Best time", f"{now['best']} µs" if now["best_us"] is not None else NONE),
    ]
    out = [facts(pairs)]
    if run.message:
        out.append(h.P(run.message, className="note warn"))
    return out


def summary(run: Run, view: RunView) -> Any:
    """Counts by verdict, the sentence of the best configuration with a link to it, and the fixed tunables."""
    h = html()
    data = summary_data(view)
    out: list[Any] = []
    if view.best is not None:
        row = int(view.rows[view.best])
        out.append(
            h.P(["Best: ", link(f"row {row}", address("runs", run.id, "configurations", row)), f", {data.headline}"])
        )
    else:
        out.append(h.P(data.headline, className="warn"))
    out.append(facts(data.counts))
    if data.fixed:
        out.append(h.P("Fixed: " + ", ".join(f"{name} {value}" for name, value in data.fixed), className="note"))
    return out


def links(run: Run, allow_runs: bool) -> list[Any]:
    """Where to go from here."""
    out = [
        download("Report", f"/api/v1/runs/{run.id}/report.html"),
        link("Compare", address("compare", runs=run.id), className="button"),
    ]
    if allow_runs:
        out.append(link("Tune again", address("new", run=run.id), className="button"))
    return out


def side(run: Run, view: RunView, position: int | None) -> Any:
    """Facts of the selected configuration."""
    h = html()
    if position is None:
        return empty("Click a point, a line, a cell or a row: it is marked in all figures and described here.")
    row = int(view.rows[position])
    verdict, rule = view.verdict_names[int(view.verdict[position])], int(view.rule[position])
    time_us, memory = float(view.time_us[position]), float(view.on_chip_bytes[position])
    time = f"{microseconds(time_us)} µs" if np.isfinite(time_us) else NONE
    if view.best is not None and np.isfinite(time_us) and position != view.best:
        time += f" (best {microseconds(float(view.time_us[view.best]))} µs)"
    pairs: list[tuple[str, Any]] = [
        ("Row", str(row)),
        ("Verdict", verdict + (f" ({view.rule_names[rule]})" if rule >= 0 else "")),
        ("Time", time),
        ("Bound by", view.bound_name(position)),
        ("On chip", byte_count(memory) if np.isfinite(memory) else NONE),
    ]
    varied = {name for name, _ in view.varied}
    pairs += [(name, str(value)) for name, value in view.configuration(position).items() if name in varied]
    return [
        facts(pairs),
        h.P(link("Open", address("runs", run.id, "configurations", row), className="button primary")),
    ]


def remedies(site: Site, run: Run, view: RunView, within: NDArray[np.int64]) -> Any:
    """A row a verdict and rule: how many, by how much, the change that helps, the sentence of an example."""
    h = html()
    try:
        problem, _ = site.views.search(run.id)
        changed = ""
    except ValueError as error:
        problem, changed = None, str(error)
    data = remedies_data(view, within, None if problem is None else memory_limits(problem))
    if not data.remedies:
        if not len(within):
            return empty("Nothing passes the filter.")
        passed_over = sum(sum(by.values()) for by in run.counts.values()) - run.n_evaluated
        also = f" {passed_over:,} that static rules refuse are counted and not kept." if passed_over > 0 else ""
        return empty(f"Every configuration that passes the filter is ok.{also}")
    shown = data.remedies[:_RULES_SHOWN]
    reasons = {} if problem is None else _reasons(problem, view, [r.example for r in shown])
    rows = []
    for r in shown:
        row = int(view.rows[r.example])
        example: list[Any] = [link(f"row {row}", address("runs", run.id, "configurations", row))]
        if reasons.get(r.example):
            example.append(f": {reasons[r.example]}")
        more = other_changes(r)
        takes: list[Any] = [sentence(r) or NONE, *([h.Br(), h.Span(f"also {more}", className="note")] if more else [])]
        rows.append(
            (
                h.Span(r.verdict, className="whole"),
                h.Span(r.rule or NONE, className="whole"),
                f"{r.count:,}",
                takes,
                example,
            )
        )
    notes = [data.why_no_changes]
    if run.strategy != "exhaustive" and not data.why_no_changes:
        notes.append("The run is a sample: only changes to configurations that it looked at are known.")
    if len(data.remedies) > len(shown):
        notes.append(f"{len(data.remedies) - len(shown)} rarer rules are not shown.")
    if changed:
        notes.append(f"Without sentences and byte limits: {changed}.")
    return [
        table(
            ("Verdict", "Rule", "Configurations", "What it would take", "Example"), rows, ("Configurations",),
            label="rules and what it would take to become legal",
        ),
        *(h.P(note, className="note") for note in notes if note),
    ]  # fmt: skip


def _reasons(problem: Any, view: RunView, positions: list[int]) -> dict[int, str]:
    """Sentences of a few configurations. Those that have to be run for it are left out where ranks make that slow."""
    from dashboards.figures.extra import table_of
    from pto_tune.evaluation import evaluate_columns

    refused = list(view.verdict_names).index("refused") if "refused" in view.verdict_names else -1
    wanted = [p for p in positions if not problem.workload.has_ranks or int(view.verdict[p]) == refused]
    wanted = [p for p in wanted if all(view.values[name][p] is not None for name, _ in view.tunables)]
    if not wanted:
        return {}
    found = evaluate_columns(problem, table_of(problem, view, wanted))
    return {p: found.reason(i) for i, p in enumerate(wanted)}
