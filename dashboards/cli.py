"""The command ``pto-tune report``."""

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command `report` to `app`."""
    app.command(name="report", short_help="Write a run as one HTML page that opens offline.")(report)


def report(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Number or name of the run, or 'latest'.")],
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
    """Write a run as one HTML page: the best configurations, and pictures of what was found.

    A run is what 'pto-tune tune' leaves in the store. The page shows the time against the on-chip memory of
    every configuration, the best time for each FifoDepth and SyncPeriod, where the best configuration waits,
    and which rules refused the others. It is a single file: open it in any browser, send it, keep it; no
    network is needed.

    Example: pto-tune report latest -o report.html
    """
    from dashboards.report import check_target, write_report
    from dashboards.runview import from_store
    from db import open_store

    try:
        check_target(output, force)
        with open_store(db, create=False) as store:
            view = from_store(store, run)
        path = write_report(view, output, force)
    except ValueError as error:
        for line in str(error).splitlines():
            typer.echo(f"pto-tune: {line}", err=True)
        raise typer.Exit(2) from error
    size_mb = path.stat().st_size / 1e6
    typer.echo(f"Wrote {path} ({size_mb:.1f} MB): open it in a browser.")
