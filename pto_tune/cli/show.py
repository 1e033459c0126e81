"""`pto-tune show`: a run of the store and its best configurations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pto_tune.cli import answer, options, output, stored, sure, text

if TYPE_CHECKING:
    from db import Run
    from pto_tune.cli.sure import Sure

Top = Annotated[int, typer.Option("--top", metavar="N", min=1, help="How many configurations to show.")]


def register(app: typer.Typer) -> None:
    """Add the command `show` to `app`."""
    app.command(name="show", short_help="Show a run and its best configurations.")(show)


def show(
    run: options.Run,
    top: Top = 10,
    sort: Annotated[
        str,
        typer.Option("--sort", metavar="time|memory|row", help="What comes first: fastest, least on-chip memory, row."),
    ] = "time",
    sure_: Annotated[
        bool, typer.Option("--sure/--not-sure", help="How sure the times are, where that takes a second.")
    ] = True,
    db: options.Db = None,
    as_json: options.Json = False,
) -> None:
    """Show a run that 'pto-tune tune' left in the store: what was asked, what was found, the best rows.

    Only configurations that are legal and safe are shown. The number in the column 'row' is what
    'pto-tune explain RUN --row N' and 'pto-tune export RUN --row N' take.

    \b
    Examples:
      pto-tune show latest
      pto-tune show 3 --top 20 --sort memory
    """
    from db import open_store

    with open_store(db, create=False) as store:
        found = store.find_run(run)
        entries = stored.best_entries(store, found, top, sort)
    known, why = how_sure(found, entries) if sure_ else (None, "")
    if as_json:
        plain = {"intervals": None, "ties": None} if known is None else known.as_plain()
        output.as_json({**run_facts(found), "rows": entries, **plain})
        return
    facts(found)
    if found.counts:
        output.heading("Configurations by verdict and rule")
        answer.counts_table(found.counts)
    output.heading(f"Best {len(entries)} by {sort}" if entries else "No legal configuration so far")
    if entries:
        answer.best_table(entries, varied(found), known)
        sure.say_ties(known)
    if why:
        output.say(why)


def how_sure(run: Run, entries: list[dict[str, Any]]) -> tuple[Sure | None, str]:
    """Intervals and ties of rows of a run, None where they take long; and why there are none where the run's platform
    cannot be had."""
    if not entries:
        return None, ""
    from pto_tune.evaluation import Problem

    try:
        platform = stored.platform_of(run, None)
    except ValueError as error:
        return None, f"no intervals: {error}"
    revision = stored.revision_of(run, platform)
    return sure.sure_of(Problem.of(stored.workload_of(run), platform, revision, run.timing), entries), ""


def varied(run: Run) -> list[str]:
    """The tunables that had more than one value."""
    return [tunable["name"] for tunable in run.tunables if len(tunable["domain"]) > 1]


def facts(run: Run) -> None:
    """What a run is, one fact a line."""
    output.say(f"run {run.id}, {run.name}: {run.status}{f' ({run.message})' if run.message else ''}")
    fixed = {t["name"]: t["domain"][0] for t in run.tunables if len(t["domain"]) == 1}
    for name, value in (
        ("workload", f"{run.workload} ({text.settings(run.problem)})"),
        ("fixed", text.settings(fixed)),
        ("platform", run.platform),
        ("rule set", run.rule_set + (f" (pto-isa {run.pto_isa})" if run.pto_isa else "")),
        ("timing", f"{run.timing} (launch {run.launch_us:g} us)"),
        ("strategy", f"{run.strategy}, seed {run.seed}, for {', '.join(run.objectives)}"),
        ("evaluated", f"{run.n_evaluated:,} of {run.n_candidates:,}"),
        ("created", f"{run.created_at:%Y-%m-%d %H:%M:%S} UTC"),
        ("best", _best(run)),
    ):
        if value:
            output.say(f"{name:<10}  {value}")


def best_us(run: Run) -> float | None:
    """Time of the run's best configuration in microseconds."""
    return None if run.best_cycles is None else run.best_cycles / run.clock_mhz + run.launch_us


def run_facts(run: Run) -> dict[str, Any]:
    """A run for --json, without the workload's text."""
    return {
        "run": run.id,
        "name": run.name,
        "state": run.status,
        "message": run.message,
        "workload": run.workload,
        "problem": run.problem,
        "platform": run.platform,
        "platform_sha256": run.platform_sha256,
        "rule_set": run.rule_set,
        "pto_isa": run.pto_isa,
        "timing": run.timing,
        "strategy": run.strategy,
        "seed": run.seed,
        "objectives": run.objectives,
        "tunables": run.tunables,
        "versions": run.versions,
        "clock_mhz": run.clock_mhz,
        "launch_us": run.launch_us,
        "n_candidates": run.n_candidates,
        "n_evaluated": run.n_evaluated,
        "counts": run.counts,
        "best_row": run.best_row,
        "best_cycles": run.best_cycles,
        "best_us": best_us(run),
        "created_at": run.created_at.isoformat(),
        "finished_at": None if run.finished_at is None else run.finished_at.isoformat(),
    }


def _best(run: Run) -> str:
    time = best_us(run)
    return "" if time is None else f"{text.microseconds(time)} us, row {run.best_row}"
