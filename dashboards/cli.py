"""The command ``pto-tune report``."""

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command `report` to `app`."""
    app.command(name="report", short_help="Write runs as one HTML page that opens offline.")(report)


def report(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN", help="Number or name of a run, or 'latest'; several are compared.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write the page.")] = Path(
        "report.html"
    ),
    db: Annotated[
        str | None,
        typer.Option(
            "--db",
            metavar="URL",
            envvar="PTO_TUNE_DB",
            show_default="sqlite:///pto-tune.db",
            help="The store that holds the run.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Write runs as one HTML page: the best configurations, and pictures of what was found.

    A run is what 'pto-tune tune' leaves in the store. The page shows the time against the on-chip memory of
    every configuration, the best time for each FifoDepth and SyncPeriod, which tunables decide the time, which
    rules refused configurations and what it would take; and of the best one where its time goes, its timeline
    and FIFOs, the numbers that it leans on, and its C++ header to copy. Of several runs a first section compares
    them. It is a single file under 7 MB: open it in any browser, send it, keep it; no network is needed.

    Example: pto-tune report latest -o report.html

    Several runs: pto-tune report 1 2 3 -o report.html
    """
    from dashboards.report.page import check_target, write_report
    from db import open_store

    try:
        check_target(output, force)
        with open_store(db, create=False) as store:
            path = write_report(store, runs, output, force)
    except ValueError as error:
        for line in str(error).splitlines():
            typer.echo(f"pto-tune: {line}", err=True)
        raise typer.Exit(2) from error
    size_mb = path.stat().st_size / 1e6
    typer.echo(f"Wrote {path} ({size_mb:.1f} MB): open it in a browser.")
