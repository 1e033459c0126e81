"""`pto-tune explain`: why a configuration is as fast as it is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pto_tune.cli import answer, errors, options, output, rule_words, stored, sure, text
from pto_tune.cli.evaluate import waits_table
from pto_tune.cli.progress import Bar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cost_models.platform import Platform
    from pto_tune.explaining.explanation import Explanation
    from pto_tune.model.nodes import Workload

    Subject = tuple[Workload, Mapping[str, Any], Platform, str | None, str, str]


def register(app: typer.Typer) -> None:
    """Add the command `explain` to `app`."""
    app.command(name="explain", short_help="Say where the time of one configuration goes.")(explain)


def explain(
    what: Annotated[
        str,
        typer.Argument(
            metavar="WORKLOAD|RUN",
            help="A workload (name or .json) with --set, or a run (number, name or 'latest') with --row.",
        ),
    ],
    platform: Annotated[
        str | None,
        typer.Option(
            "--platform",
            metavar="NAME|FILE",
            help="The chip: a name of 'pto-tune platforms', or a platform file.",
            show_default=f"the run's; {options.DEFAULT_PLATFORM_TEXT}",
        ),
    ] = None,
    pto_isa: options.PtoIsa = None,
    timing: Annotated[
        str | None,
        typer.Option(
            "--timing",
            metavar="task|event|sync|device",
            help="How the time would be measured.",
            show_default="task, or the run's",
        ),
    ] = None,
    set_: options.Set = None,
    row: options.Row = None,
    trace: Annotated[
        Path | None,
        typer.Option(
            "--trace",
            metavar="FILE",
            help="Also write the timeline as a trace for Perfetto or chrome://tracing.",
        ),
    ] = None,
    timeline: Annotated[
        int, typer.Option("--timeline", metavar="N", min=0, help="Also print the first N instructions.")
    ] = 0,
    sure_: Annotated[
        bool | None,
        typer.Option(
            "--sure/--not-sure",
            help="How sure the time is and what it leans on, whatever that takes; or leave it out.",
            show_default="where it takes seconds",
        ),
    ] = None,
    db: options.Db = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Say where the time of one configuration goes, what would have to change to make it faster, and what is wrong.

    The critical path is split by cause; its parts add up to the whole time exactly. Beside it stands how long
    each pipe would take if only that pipe limited: a pipe near the whole time is the bottleneck, all far from
    it mean that the pipes wait for each other. Every rule that it breaks is told with the first tile, whether the
    predicted timing reaches it, and the pto-isa revisions for which it holds. The name of a workload goes before
    that of a run.

    The interval beside the time is what the platform's numbers leave open, each by its kind (spec, measured, fitted,
    assumed) and range; those that matter most are listed. It says nothing about what the model leaves out.

    \b
    Examples:
      pto-tune explain flash_attention --set s1=8192 --set qk_preload=1
      pto-tune explain latest --trace best.json
      pto-tune explain 3 --row 118

    Exit code 1: there is no time to explain, because the configuration never runs or never ends.
    """
    if trace is not None and not trace.absolute().parent.is_dir():
        raise ValueError(f"--trace {trace}: there is no folder {trace.absolute().parent}; make it first")
    subject = _subject(what, platform, pto_isa, timing, set_, row, db)
    model, configuration, chip, revision, protocol, title = subject
    with Bar("explaining", quiet=quiet):
        from pto_tune import api

        explanation = api.explain(model, configuration, chip, revision, protocol)
        summary = explanation.summary(sure_)
    if not explanation.timed:
        if as_json:
            output.as_json(summary)
        else:
            output.say(title)
            output.say(f"verdict {summary['verdict']}, rule set {summary['rule_set']}")
            wrong(explanation)
            remarks(explanation)
        raise errors.CheckFailed(f"there is no time to explain: the verdict is {summary['verdict']!r}")
    if trace is not None:
        explanation.write_trace(trace)
    events = [
        {"pipe": e.pipe, "name": e.name, "start": e.start, "end": e.end}
        for e in (explanation.timeline(timeline) if timeline else ())
    ]
    if as_json:
        output.as_json({**summary, **({"timeline": events} if timeline else {})})
        return
    output.say(title)
    full(explanation, summary, sure_ is not False)
    if timeline:
        output.heading(f"First {timeline} instructions")
        output.table(
            ["pipe", "instruction", "start", "end"],
            (list(event.values()) for event in events),
            right=["start", "end"],
        )
    if trace is not None:
        output.say()
        output.say(f"wrote {trace}: open it at ui.perfetto.dev or in chrome://tracing")


def full(explanation: Explanation, summary: Mapping[str, Any], sure_shown: bool = True) -> None:
    """An explanation with times on the screen; `summary` is its own, `sure_shown` whether to say how sure they are."""
    interval = summary["interval"]
    beside = "" if interval is None else f" ({sure.between(interval)})"
    output.say(
        f"{text.microseconds(summary['time_us'])} us{beside}, {summary['cycles']:,} cycles, bound by "
        f"{summary['bound']}, verdict {summary['verdict']}, rule set {summary['rule_set']}"
    )
    if sure_shown:
        sure.say_interval(summary)
    wrong(explanation)
    answer.stall_account(summary, limit=12)
    if sure_shown:
        sure.leaning_table(summary)
    if "ranks" in summary:
        answer.between_ranks(summary, explanation.problem.clock_mhz)
    waits_table(summary["waits"])
    remarks(explanation)


def wrong(explanation: Explanation) -> None:
    """Every rule that the configuration breaks, a paragraph each."""
    from pto_tune.rule_sets import rule_sets

    family = rule_sets(explanation.problem.rule_set.family)
    for finding in explanation.findings:
        output.heading(f"{finding.verdict}, by rule {finding.rule}")
        output.say(finding.text(family))


def remarks(explanation: Explanation) -> None:
    """Where assumptions do not hold, where pages and headers disagree, and, of a default run, other headers."""
    notes = explanation.notes()
    if notes:
        output.heading("To be noted")
    for note in notes:
        output.say(note)
    other = rule_words.other_headers(explanation.problem.workload, explanation.problem.rule_set)
    if other:
        output.say()
        output.say(other)


def _subject(
    what: str,
    platform: str | None,
    pto_isa: str | None,
    timing: str | None,
    set_: list[str] | None,
    row: int | None,
    db: str | None,
) -> Subject:
    """What is to be explained: of a workload by its settings, or of a run by its row."""
    from cost_models.platform import load_platform
    from pto_tune.workloads import workload_names

    if what in workload_names() or options.looks_like_path(what):
        if row is not None:
            raise ValueError(f"--row goes with a run, and {what!r} is a workload: use --set NAME=VALUE")
        model = options.workload_named(what)
        configuration = options.assignments(set_, "--set")
        chip = load_platform(options.platform_for(model, platform))
        title = f"{model.name} on {chip.name}; {text.settings(configuration) or 'all at their defaults'}"
        return model, configuration, chip, pto_isa, timing or "task", title
    if set_:
        raise ValueError("--set goes with a workload; a run has its configurations: choose one with --row")
    from db import StoreError, open_store

    try:
        with open_store(db, create=False) as store:
            run = store.find_run(what)
            entry = stored.entry_of(store, run, row)
    except StoreError as error:
        if what == "latest" or what.isdigit():
            raise
        raise ValueError(
            f"{what!r} is neither a workload ({', '.join(workload_names())}, or a .json file) nor a run: {error}"
        ) from None
    chip = stored.platform_of(run, platform)
    revision = pto_isa or stored.revision_of(run, chip)
    title = f"run {run.id}, {run.name}, row {entry['row']}: {run.workload} on {chip.name}; " + text.settings(
        entry["configuration"]
    )
    return stored.workload_of(run), entry["configuration"], chip, revision, timing or run.timing, title
