"""`pto-tune bench`: how fast pto-tune itself is on this machine."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from pto_tune.cli import bench_search, errors, options, output, text
from pto_tune.cli.progress import Bar


def register(app: typer.Typer) -> None:
    """Add the command group `bench` to `app`."""
    group = typer.Typer(rich_markup_mode=None)
    group.callback(invoke_without_command=True)(bench)
    group.command(name="executor", short_help="Configurations evaluated a second.")(executor)
    group.command(name="sweep", short_help="Whole searches a second, and their memory.")(sweep)
    group.command(name="uncertainty", short_help="Seconds for intervals and ties.")(uncertainty)
    group.command(name="search", short_help="Evaluations and seconds of search strategies.")(bench_search.search)
    app.add_typer(group, name="bench", short_help="Measure how fast pto-tune is on this machine.")


def bench(ctx: typer.Context) -> None:
    """Measure how fast pto-tune itself is on this machine. No board is involved.

    \b
    Examples:
      pto-tune bench executor
      pto-tune bench sweep
      pto-tune bench uncertainty
      pto-tune bench search --seeds 3
    """
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help(), err=True)
        raise typer.Exit(errors.WRONG_USE)


def executor(
    s1: Annotated[
        list[int] | None,
        typer.Option(
            "--s1",
            metavar="N",
            min=1,
            help="Sequence length of the keys. May be given several times.",
            show_default="2048, 8192 and 1048576",
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option("--threads", metavar="N", min=1, help="Threads to use.", show_default="one a processor"),
    ] = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Measure how many Flash Attention configurations are evaluated a second.

    The whole default domain is executed, with both vector sub-cores and every wait of the rule set; a second
    set has balanced cube and vector work, which is the slowest to evaluate. The first start on a machine also
    compiles the executor, which is not counted.

    \b
    Example:
      pto-tune bench executor --s1 8192 --json
    """
    options_given: dict[str, Any] = {"threads": threads}
    if s1:
        options_given["s1"] = tuple(s1)
    with Bar("measuring the executor", quiet=quiet):
        from pto_tune import bench as measure

        rows = measure.executor(**options_given)
    if as_json:
        output.as_json(rows)
        return
    output.table(
        ["workload", "set", "s0", "s1", "configurations", "configurations/s", "trips simulated", "threads"],
        (
            [
                row["workload"],
                row["set"],
                row["s0"],
                row["s1"],
                text.count(row["configurations"]),
                text.count(row["configurations_per_s"]),
                row["iterations_simulated"],
                row["threads"],
            ]
            for row in rows
        ),
        right=["s0", "s1", "configurations", "configurations/s", "trips simulated", "threads"],
    )


def sweep(
    rows: Annotated[
        list[int] | None,
        typer.Option(
            "--rows",
            metavar="N",
            min=1,
            max=20_000_000,
            help="Also a search of this many configurations. May be given several times.",
        ),
    ] = None,
    million: Annotated[
        bool, typer.Option("--million/--no-million", help="A search of a million configurations too.")
    ] = True,
    store: Annotated[bool, typer.Option("--store/--no-store", help="Keep what is found in a SQLite file.")] = True,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Measure how fast whole searches are, from the space to the store, and how much memory they take.

    Flash Attention at s0 = s1 = 2048, exhaustively: enumerated, checked, executed and written to a SQLite file in
    a temporary folder, each search in a process of its own. The default space, a million configurations, and as
    many more as --rows says.

    \b
    Examples:
      pto-tune bench sweep
      pto-tune bench sweep --no-million --rows 10000000
    """
    with Bar("measuring searches", quiet=quiet):
        from pto_tune import bench_sweep as measure

        found = measure.sweep(rows or (), million=million, store=store)
    if as_json:
        output.as_json(found)
        return
    output.table(
        ["set", "configurations", "executed", "store", "seconds", "configurations/s", "peak MiB"],
        (
            [
                row["set"], text.count(row["configurations"]), text.count(row["executed"]), row["store"] or "none",
                row["seconds"], text.count(row["configurations_per_s"]), row["peak_mib"] or "",
            ]
            for row in found
        ),
        right=["configurations", "executed", "seconds", "configurations/s", "peak MiB"],
    )  # fmt: skip
    versions = ", ".join(f"{name} {version}" for name, version in found[0]["versions"].items())
    typer.echo(f"{found[0]['cores']} cores; {versions}")


def uncertainty(
    configurations: Annotated[
        int, typer.Option("--configurations", metavar="N", min=1, max=1000, help="Configurations of each workload.")
    ] = 10,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Measure how long intervals, ties and what a time leans on take for what 'tune' and 'explain' show.

    \b
    Example:
      pto-tune bench uncertainty --configurations 100 --json
    """
    with Bar("measuring intervals", quiet=quiet):
        from pto_tune import bench as measure

        rows = measure.uncertainty(configurations)
    if as_json:
        output.as_json(rows)
        return
    titles = {
        "workload": "workload", "configurations": "configurations", "samples": "samples", "numbers": "numbers",
        "units": "cost", "intervals_s": "intervals (s)", "ties_s": "ties (s)", "leaning_s": "leaning (s)",
    }  # fmt: skip
    output.table(
        list(titles.values()), ([row[name] for name in titles] for row in rows), right=list(titles.values())[1:]
    )
