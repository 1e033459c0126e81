"""`pto-tune tune`: search the best configurations of a workload."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pto_tune.cli import answer, errors, options, output, text
from pto_tune.cli.progress import Bar

if TYPE_CHECKING:
    from pto_tune.tuning import TuneResult


def register(app: typer.Typer) -> None:
    """Add the command `tune` to `app`."""
    app.command(name="tune", short_help="Find the best configurations of a workload.")(tune)


def tune(
    workload: options.Workload,
    platform: options.Platform = options.DEFAULT_PLATFORM,
    pto_isa: options.PtoIsa = None,
    timing: options.Timing = "task",
    set_: options.Set = None,
    domain: Annotated[
        list[str] | None,
        typer.Option(
            "--domain",
            metavar="NAME=V1,V2,...",
            help="Values to try for a tunable instead of its default domain. May be given several times.",
        ),
    ] = None,
    strategy: Annotated[
        str,
        typer.Option(
            "--strategy",
            metavar="auto|exhaustive|tpe|nsga2|qmc|random",
            help="How to search; 'auto' looks at everything where that is feasible.",
        ),
    ] = "auto",
    objective: Annotated[
        list[str] | None,
        typer.Option(
            "--objective",
            metavar="time|memory",
            help="What to search for; give it twice for a trade-off.",
            show_default="time",
        ),
    ] = None,
    budget: Annotated[
        int | None, typer.Option("--budget", metavar="N", min=1, help="Evaluate at most so many configurations.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option("--seconds", metavar="S", min=0.0, help="Search at most so long.")
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", min=0, help="Seed; the same one gives the same search.")
    ] = 0,
    db: options.Db = None,
    no_db: Annotated[bool, typer.Option("--no-db", help="Keep nothing.")] = False,
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", help="Name of the run.", show_default="workload-platform-number"),
    ] = None,
    top: Annotated[int, typer.Option("--top", metavar="N", min=1, help="How many configurations to show.")] = 10,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Search the best configurations of a workload, and say what is illegal or unsafe and why.

    Every combination of the tunables' domains is a candidate; --set fixes a problem size or a tunable, --domain
    replaces a domain. The run is kept in the store, for 'pto-tune show', 'explain', 'export' and 'report'.
    Ctrl-C finishes the batch in hand, keeps what was found and prints the best so far.

    \b
    Examples:
      pto-tune tune flash_attention --set s0=4096 --set s1=4096 --platform ascend910b2
      pto-tune tune gemm --platform ascend910b1 --set m=6144 --domain grid_m=2,4,6 --top 5
      pto-tune tune my-kernel.json --objective time --objective memory --json --no-db

    Exit code 1: no configuration is legal.
    """
    fixed = options.assignments(set_, "--set")
    domains: dict[str, Any] = dict(options.lists(domain, "--domain"))
    options.no_name_twice(list(fixed), list(domains), "--set and --domain")
    model = options.workload_named(workload)
    sizes = {p.name for p in model.problem}
    with Bar(f"tuning {model.name}", quiet=quiet) as bar:
        from db.urls import parse_target
        from pto_tune import tuning

        result = tuning.tune(
            model,
            platform=platform,
            pto_isa=pto_isa,
            timing=timing,
            problem={n: value for n, value in fixed.items() if n in sizes},
            domains={**{n: value for n, value in fixed.items() if n not in sizes}, **domains},
            strategy=strategy,
            objectives=tuple(objective or ("time",)),
            budget=budget,
            seconds=seconds,
            seed=seed,
            store=None if no_db else parse_target(db).shown,
            name=name,
            progress=bar,
            top=top,
        )
    finish(result, top, as_json)


def finish(result: TuneResult, top: int, as_json: bool) -> None:
    """Print the answer and end with its exit code."""
    summary = stalls(result)
    if as_json:
        output.as_json(as_plain(result, summary))
    else:
        show(result, summary)
    if result.best is None:
        if not result.stopped:
            raise errors.CheckFailed(no_legal(result))
    if result.stopped:
        raise typer.Exit(errors.INTERRUPTED)
