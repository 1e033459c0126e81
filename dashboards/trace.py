"""The command ``pto-tune trace``: a real run beside the predicted timeline, as a table, JSON or a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pto_tune.cli import options, output, text
from pto_tune.cli.progress import Bar


def register(app: typer.Typer) -> None:
    """Add the command `trace` to `app`."""
    app.command(name="trace", short_help="A trace of a real run beside the predicted timeline.")(trace)


def trace(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="A Chrome trace (.json), or an op_summary or PipeUtilization file of msprof (.csv)."
        ),
    ],
    run: Annotated[str, typer.Option("--run", metavar="RUN", help="The run: its number, its name or 'latest'.")],
    row: options.Row = None,
    map_: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="NAME=PIPE",
            help="The pipe of what has this name in the trace (a thread, process or event; * and ? stand for what "
            "varies), as in 'Cube MTE2=AIC.MTE2'; 'NAME=-' leaves it out. May be given several times.",
            show_default="names of msprof, its simulator and 'explain --trace'",
        ),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            "--group", metavar="NAME", help="The core group to compare, such as core3.", show_default="the first"
        ),
    ] = None,
    op: Annotated[
        str | None,
        typer.Option(
            "--op", metavar="NAME", help="Only the time of this op of the file; * and ? stand for what varies."
        ),
    ] = None,
    repeat: Annotated[
        int | None,
        typer.Option("--repeat", metavar="N", min=1, help="Which of its repeats in a trace.", show_default="the last"),
    ] = None,
    align: Annotated[
        str,
        typer.Option(
            "--align",
            metavar="start|least-squares",
            help="Lay the first events over each other, or all by least squares. Nothing is stretched.",
        ),
    ] = "start",
    unit: Annotated[
        str, typer.Option("--unit", metavar="us|ns|ps|ms", help="The unit of the times in the trace.")
    ] = "us",
    all_blocks: Annotated[
        bool,
        typer.Option("--all-blocks", help="Predict every block that the first core runs, not the first block alone."),
    ] = False,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write a page with both timelines, one above the other."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the page if it exists.")] = False,
    platform: options.RunPlatform = None,
    db: options.Db = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Lay a real run over the timeline that was predicted for it, and say for every pipe how they differ.

    A trace gives the time in which a pipe was busy, its first start, last end, share of the whole and gaps; a summary
    of the profiler gives busy times and shares. The simulator of msprof op, msprof with instruction profiling and
    'pto-tune explain --trace' name pipes in ways that are known; --map says it for others. Scalar instructions, flags
    and waits are not compared. The scale says how much longer the run is throughout.

    The predicted timeline is of the first block; where a core runs several, --all-blocks lays them out.

    \b
    Examples:
      pto-tune trace simulator/trace.json --run latest
      pto-tune trace msprof_20261201.json --run latest --row 118 --op 'flash_attention*' --html beside.html
      pto-tune trace op_summary_20261201.csv --run latest --op 'flash_attention*' --json
      pto-tune trace mine.json --run 3 --map 'Cube MTE2=AIC.MTE2' --align least-squares
    """
    from pto_tune.cli import stored
    from pto_tune.tracing.text import sentences, table

    if html is not None:
        from dashboards.report.page import check_target

        check_target(html, force)
    from db import open_store

    with open_store(db, create=False) as store:
        found = store.find_run(run)
        entry = stored.entry_of(store, found, row)
    chip = stored.platform_of(found, platform)
    title = f"run {found.id}, {found.name}, row {entry['row']}: {found.workload} on {chip.name}"
    with Bar("comparing", quiet=quiet):
        from pto_tune import api
        from pto_tune.tracing.comparing import compare

        explanation = api.explain(
            stored.workload_of(found), entry["configuration"], chip, stored.revision_of(found, chip), found.timing
        )
        comparison = compare(
            file, explanation, maps=map_ or (), group=group, op=op, repeat=repeat, method=align, unit=unit,
            all_blocks=all_blocks,
        )  # fmt: skip
    if html is not None:
        from dashboards.report.page import write_page
        from dashboards.report.tracing import render_trace

        path = write_page(render_trace(comparison, explanation, file.name, title), html)
        if not quiet:
            typer.echo(f"Wrote {path} ({path.stat().st_size / 1e6:.1f} MB): open it in a browser.", err=True)
    if as_json:
        output.as_json({"run": found.id, "row": entry["row"], "file": file.name, **comparison.as_plain()})
        return
    output.say(title)
    output.say(text.settings(entry["configuration"]))
    for line in sentences(comparison):
        output.say(line)
    output.heading("By pipe (us)")
    titles, rows = table(comparison)
    output.table(titles, rows, right=titles[1:])
