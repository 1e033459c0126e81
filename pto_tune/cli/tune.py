"""`pto-tune tune`: search the best configurations of a workload."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pto_tune.cli import answer, errors, options, output, rule_words, sure, text
from pto_tune.cli.leaving import two_interrupts
from pto_tune.cli.progress import Bar

if TYPE_CHECKING:
    from pto_tune.cli.sure import Sure
    from pto_tune.tuning import TuneResult


def register(app: typer.Typer) -> None:
    """Add the command `tune` to `app`."""
    app.command(name="tune", short_help="Find the best configurations of a workload.")(tune)


def tune(
    workload: options.Workload,
    platform: options.Platform = None,
    pto_isa: options.PtoIsa = None,
    timing: options.Timing = "task",
    set_: options.Set = None,
    domain: options.Domain = None,
    strategy: options.Strategy = "auto",
    objective: options.Objective = None,
    budget: options.Budget = None,
    seconds: Annotated[
        float | None, typer.Option("--seconds", metavar="S", min=0.0, help="Search at most so long.")
    ] = None,
    seed: options.Seed = 0,
    warm_start: Annotated[
        str,
        typer.Option(
            "--warm-start",
            metavar="none|auto|RUN",
            help="Look first at what earlier runs of this workload found best: of the newest ones, or of one run.",
        ),
    ] = "none",
    db: options.Db = None,
    no_db: Annotated[bool, typer.Option("--no-db", help="Keep nothing.")] = False,
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", help="Name of the run.", show_default="workload-platform-number"),
    ] = None,
    scheduler: options.Scheduler = None,
    anew: Annotated[
        bool, typer.Option("--anew", help="Search in a new run, whatever the store has of this search already.")
    ] = False,
    take_over: options.TakeOver = False,
    top: Annotated[int, typer.Option("--top", metavar="N", min=1, help="How many configurations to show.")] = 10,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Search the best configurations of a workload, and say what is illegal or unsafe and why.

    Every combination of the tunables' domains is a candidate; --set fixes a problem size or a tunable,
    --domain replaces a domain. The run is kept in the store, for 'pto-tune show', 'explain' and 'export'.
    Ctrl-C finishes the batch in hand, keeps what was found and prints the best so far; a second one leaves at once.

    The same command again is answered from the store where its run is done, and goes on with it where it was
    interrupted, with the result of an uninterrupted search; --anew starts a new run. If pto-tune, the numbers of the
    platform or the workload have changed since, a new run is started, and it says which of them did. A run that another
    program is writing is refused.

    \b
    Examples:
      pto-tune tune flash_attention --set s0=4096 --set s1=4096 --platform ascend910b2
      pto-tune tune gemm --platform ascend910b1 --set m=6144 --domain grid_m=2,4,6 --top 5
      pto-tune tune my-kernel.json --objective time --objective memory --json --no-db

    Exit code 1: no configuration is legal.
    """
    model, problem, domains = options.wishes(workload, set_, domain)
    with Bar(f"tuning {model.name}", quiet=quiet) as bar, two_interrupts():
        from db.urls import DEFAULT_URL
        from pto_tune import tuning

        result = tuning.tune(
            model,
            platform=platform,
            pto_isa=pto_isa,
            timing=timing,
            problem=problem,
            domains=domains,
            strategy=strategy,
            objectives=tuple(objective or ("time",)),
            budget=budget,
            seconds=seconds,
            seed=seed,
            store=None if no_db else db or DEFAULT_URL,
            name=name,
            progress=bar,
            top=top,
            scheduler=scheduler,
            reuse="never" if anew else "continue",
            dead_after_s=dead_after_s(take_over),
            warm_start=warm_start,
        )
    finish(result, top, as_json)


def dead_after_s(take_over: bool) -> float:
    """For how long a run has to be silent before another program may go on with it."""
    from db.records import DEAD_AFTER_S

    return 0.0 if take_over else DEAD_AFTER_S


def finish(result: TuneResult, top: int, as_json: bool) -> None:
    """Print the answer and end with its exit code."""
    summary = stalls(result)
    known = sure.sure_of(result.problem, result.top[:top])
    if as_json:
        output.as_json(as_plain(result, summary, top, known))
    else:
        show(result, summary, top, known)
    if result.best is None and not result.stopped:
        raise errors.CheckFailed(no_legal(result))
    if result.stopped:
        raise typer.Exit(errors.INTERRUPTED)


def stalls(result: TuneResult) -> dict[str, Any] | None:
    """Where the time of the best configuration goes; None where there is no best, and `why_not` alone where a program
    has too many instructions to tell."""
    if result.best is None:
        return None
    from pto_tune.executor.engine import ExecutorError
    from pto_tune.explaining.explanation import explain_configuration

    try:
        return explain_configuration(result.problem, result.best["configuration"]).summary(sure=False)
    except ExecutorError as error:
        return {"why_not": str(error)}


def show(result: TuneResult, summary: dict[str, Any] | None, top: int = 10, known: Sure | None = None) -> None:
    """The answer on the screen; `known`: how sure the times are."""
    problem = result.problem
    tunables = {name: values for name, values in result.space.domains if len(values) > 1}
    fixed = {name: values[0] for name, values in result.space.domains if len(values) == 1}
    sizes = dict(result.space.problem)
    varied = list(tunables)
    output.say(
        f"{problem.workload.name} on {problem.platform.name} ({text.settings(labelled(result, sizes))}), "
        f"rule set {problem.rule_set.name}, timing {problem.timing}"
    )
    if fixed:
        output.say(f"fixed: {text.settings(labelled(result, fixed))}")
    output.say(
        f"{result.n_evaluated:,} of {result.n_candidates:,} configurations in {result.seconds:.2f} s "
        f"({result.strategy})"
    )
    for said in (result.origin, result.message):
        if said:
            output.say(said)
    if result.best is not None and summary is not None:
        output.heading("Best configurations")
        answer.best_table(result.top[:top], varied, known)
        sure.say_ties(known)
    output.heading("Configurations by verdict and rule")
    answer.counts_table(result.counts)
    if result.best is not None and summary is not None:
        output.heading("Pareto front of time against on-chip memory")
        answer.front_table(front(result), varied)
        if "why_not" in summary:
            output.say()
            output.say(f"where the time of the best one goes is not told: {summary['why_not']}")
        else:
            answer.stall_account(summary)
        if not result.best["exportable"]:
            output.say()
            output.say("the best configuration cannot be exported: a TPipe derives another SyncPeriod")
    output.say()
    if result.run is not None:
        output.say(f"kept as run {result.run.id}, {result.run.name}")
    other = other_headers(result)
    if other:
        output.say(other)


def no_legal(result: TuneResult) -> str:
    """The sentence for a search that found nothing."""
    rules = sorted(
        ((n, f"{verdict} by {rule}") for verdict, by in result.counts.items() for rule, n in by.items()),
        reverse=True,
    )
    most = f", most of them {rules[0][1]} ({rules[0][0]:,})" if rules else ""
    looked_at = sum(n for by in result.counts.values() for n in by.values())
    return (
        f"none of the {looked_at:,} configurations of {result.problem.workload.name} is legal and "
        f"safe{most}: set other problem sizes with --set or other values with --domain"
    )


def other_headers(result: TuneResult) -> str:
    """One line of a default run where headers of other pto-isa revisions behave otherwise."""
    return rule_words.other_headers(result.problem.workload, result.problem.rule_set)


def labelled(result: TuneResult, values: dict[str, int]) -> dict[str, int | str]:
    """Values with their labels where they have one."""
    from pto_tune.table import label, parameter

    return {name: label(parameter(result.problem.workload, name), value) for name, value in values.items()}


def front(result: TuneResult) -> list[dict[str, Any]]:
    """The Pareto front, a dictionary a point."""
    return [{str(name): value for name, value in point.items()} for point in result.front.to_dict("records")]


def as_plain(result: TuneResult, summary: dict[str, Any] | None, top: int, known: Sure | None = None) -> dict[str, Any]:
    """The answer for --json."""
    problem = result.problem
    return {
        "run": None if result.run is None else result.run.id,
        "name": None if result.run is None else result.run.name,
        "workload": problem.workload.name,
        "platform": problem.platform.name,
        "platform_sha256": problem.platform.sha256,
        "rule_set": problem.rule_set.name,
        "pto_isa": problem.rule_set.pto_isa,
        "timing": problem.timing,
        "strategy": result.strategy,
        "problem": labelled(result, dict(result.space.problem)),
        "domains": {name: [labelled(result, {name: v})[name] for v in values] for name, values in result.space.domains},
        "n_candidates": result.n_candidates,
        "n_evaluated": result.n_evaluated,
        "counts": result.counts,
        "best": result.best,
        "top": result.top[:top],
        **({"intervals": None, "ties": None} if known is None else known.as_plain()),
        "front": front(result),
        "stalls": summary,
        "seconds": result.seconds,
        "stopped": result.stopped,
        "message": result.message,
        "origin": result.origin,
        "other_behaviour": other_headers(result),
    }
