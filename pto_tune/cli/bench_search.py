"""`pto-tune bench search`: how soon each strategy finds what is good."""

from __future__ import annotations

from typing import Annotated

import typer

from pto_tune.cli import options, output, text
from pto_tune.cli.progress import Bar


def search(
    seeds: Annotated[
        int, typer.Option("--seeds", metavar="N", min=1, max=1000, help="Searches of each strategy on each problem.")
    ] = 20,
    strategy: Annotated[
        list[str] | None,
        typer.Option("--strategy", metavar="NAME", help="A strategy. May be given several times.", show_default="all"),
    ] = None,
    problem: Annotated[
        list[str] | None,
        typer.Option("--problem", metavar="TEXT", help="Problems with this in their name. May be given several times."),
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the table as Markdown.")] = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Measure how many evaluations and seconds each strategy takes to come within 1 % of the optimum.

    Six problems of published sizes, in spaces wide enough to get lost in. Every legal configuration is evaluated
    once; strategies are then answered from that, so that seconds are their own time and what their evaluations
    would take at the measured rate. Medians over the seeds; TPE stops after 500 evaluations, NSGA-II after 2,000.
    All of it takes some minutes.

    \b
    Examples:
      pto-tune bench search --seeds 3 --strategy bounds --strategy random
      pto-tune bench search --markdown
    """
    with Bar("measuring strategies", quiet=quiet):
        from pto_tune import bench_search as measure

        rows = measure.search(seeds, tuple(strategy or measure.STRATEGIES), measure.cases_named(problem or ()))
    if as_json:
        output.as_json(rows)
        return
    if markdown:
        for line in measure.markdown(rows).splitlines():
            output.say(line)
        return
    for row in rows:
        output.heading(f"{row['problem']} on {row['platform']}")
        output.say(
            f"{text.count(row['legal'])} legal configurations, {text.count(row['good'])} of them "
            f"({100 * row['share']:.2g} %) within 1 % of {row['best_us']:.2f} us; all of them take "
            f"{measure.seconds_text(row['sweep_s'])}, finding out which are legal takes "
            f"{measure.seconds_text(row['legal_s'])}"
        )
        shown = [(name, f["evaluations"], f["seconds"], f["reached"]) for name, f in row["strategies"].items()]
        bounds = row["strategies"].get("bounds")
        if bounds is not None:
            shown.append(("bounds, to the proof", bounds["proof_evaluations"], bounds["proof_seconds"], seeds))
        output.table(
            ["strategy", "evaluations", "seconds", "reached"],
            (
                [name, "–" if n is None else text.count(round(n)), "–" if s is None else f"{s:.2f}", f"{k} of {seeds}"]
                for name, n, s, k in shown
            ),
            right=["evaluations", "seconds", "reached"],
        )
