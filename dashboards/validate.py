"""The command ``pto-tune validate``: predictions beside published results, as tables, JSON, Markdown or a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pto_tune.cli import options, output
from pto_tune.cli.progress import Bar

if TYPE_CHECKING:
    from pto_tune.validating.report import Report

Tables = Annotated[
    list[str] | None,
    typer.Option("--table", metavar="NAME", help="A table of published results; may be given several times."),
]
OnePlatform = Annotated[
    str | None,
    typer.Option(
        "--platform",
        metavar="NAME|FILE",
        help="The cases of one platform, by its name; or a platform file in place of the one of the same SoC.",
        show_default="every platform",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command `validate` to `app`."""
    app.command(name="validate", short_help="How near the predictions come to published results.")(validate)


def validate(
    table: Tables = None,
    platform: OnePlatform = None,
    slow: Annotated[bool, typer.Option("--all", help="Also the cases that take many seconds each.")] = False,
    as_json: options.Json = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print the summary as Markdown.")] = False,
    output_file: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write a page with a parity plot as well.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Predict what was published and say how near the predictions come.

    Every published case that a built-in workload expresses is predicted with the timing protocol that it was
    measured by. By table and in all: errors (predicted over measured, less one), how well the order agrees
    (Kendall's tau), how often the best configuration is among those that are predicted best, and what the one that
    is predicted best takes longer. Cases that a number of a platform was derived from are counted apart. With
    --table every case is listed.

    \b
    Examples:
      pto-tune validate
      pto-tune validate --table gemm --json
      pto-tune validate --all -o parity.html
    """
    if as_json and as_markdown:
        raise ValueError("--json and --markdown are two forms of one answer: give one of them")
    from dashboards.report import check_target

    if output_file is not None:
        check_target(output_file, force)
    with Bar("predicting published cases", quiet=quiet):
        from pto_tune.validating import report as reporting

        report = reporting.validate(table or (), platform, slow=slow)
    if output_file is not None:
        _write(report, output_file, quiet)
    if as_json:
        output.as_json(reporting.as_record(report))
    elif as_markdown:
        from pto_tune.validating.text import markdown

        for line in markdown(report).splitlines():
            output.say(line)
    else:
        _show(report, cases=bool(table))


def _write(report: Report, target: Path, quiet: bool) -> None:
    from dashboards.parity import render_parity
    from dashboards.report import write_page

    path = write_page(render_parity(report), target)
    if not quiet:
        typer.echo(f"Wrote {path} ({path.stat().st_size / 1e6:.1f} MB): open it in a browser.", err=True)


def _show(report: Report, cases: bool) -> None:
    from pto_tune.validating import text

    right = [title for title in text.SUMMARY_TITLES if title not in ("table", "worst")]
    output.table(text.SUMMARY_TITLES, text.summary_rows(report), right=right)
    shares = [s for s in report.tables if s.shares.n + s.fitted_shares.n]
    for s in shares:
        both = (("not fitted", s.shares), ("fitted", s.fitted_shares))
        found = ", ".join(f"{e.n} {name}: {e.worst.error:+.3f} at most" for name, e in both if e.worst is not None)
        output.say(f"{s.table}, shares of pipes: {found}")
    if report.limits:
        output.heading("Limits")
        output.table(text.LIMIT_TITLES, text.limit_rows(report.limits), right=text.LIMIT_TITLES[1:5])
    if cases:
        output.heading("Cases")
        output.table(text.CASE_TITLES, text.case_rows(report.outcomes), right=["measured", "predicted", "error"])
    for summary in report.tables:
        for o in summary.untimed:
            output.say(f"{o.case.name} has no predicted time: {o.verdict}, {o.reason}")
    if text.left_out(report):
        output.say()
        output.say(text.left_out(report))
