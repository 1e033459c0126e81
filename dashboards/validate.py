"""The command ``pto-tune validate``: predictions beside published results, as tables, JSON, Markdown or a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pto_tune.cli import options, output
from pto_tune.cli.progress import Bar

if TYPE_CHECKING:
    from pto_tune.validating.leading import Leading
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
    leading: Annotated[
        bool,
        typer.Option(
            "--leading", help="Also the numbers that could explain the errors (about 8 s more, minutes with --all)."
        ),
    ] = False,
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
    is predicted best takes longer. With --table every case is listed.

    Each table is predicted with numbers that never saw it: fitted again without the table, or as published. Beside
    that stand the numbers as they are shipped, cases that some number was fitted to apart.

    With --leading: which number of the platforms, moved alone inside its 90 % interval, would cut most of a table's
    squared error, at which value, and whether its range allows that. Nothing is fitted.

    \b
    Examples:
      pto-tune validate
      pto-tune validate --table gemm --json
      pto-tune validate --table gemm --leading
      pto-tune validate --all -o parity.html
    """
    if as_json and as_markdown:
        raise ValueError("--json and --markdown are two forms of one answer: give one of them")
    from dashboards.report.page import check_target

    if output_file is not None:
        check_target(output_file, force)
    with Bar("predicting published cases", quiet=quiet):
        from pto_tune.validating import report as reporting

        report = reporting.validate(table or (), platform, slow=slow, lead=leading)
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
    from dashboards.report.page import write_page
    from dashboards.report.validation import render_parity

    path = write_page(render_parity(report), target)
    if not quiet:
        typer.echo(f"Wrote {path} ({path.stat().st_size / 1e6:.1f} MB): open it in a browser.", err=True)


def _show(report: Report, cases: bool) -> None:
    from pto_tune.validating import text

    right = [title for title in text.SUMMARY_TITLES if title not in ("table", "worst")]
    output.table(text.SUMMARY_TITLES, text.summary_rows(report), right=right)
    for s in report.tables:
        if s.shares.worst is not None:
            output.say(f"{s.table}, {s.shares.n} shares of pipes: {s.shares.worst.error:+.3f} at most")
    if report.limits:
        output.heading("Limits")
        output.table(
            text.LIMIT_TITLES,
            text.limit_rows(report.limits),
            right=["cases (fitted)", "at most", "is", "shipped", "not fitted"],
        )
        for line in text.gap_lines(report.limits):
            output.say()
            output.say(line)
    if cases:
        output.heading("Cases")
        right = ["measured", "predicted", "error", "shipped"]
        output.table(text.CASE_TITLES, text.case_rows(report), right=right)
    if report.leading is not None:
        _show_leading(report.leading, cases)
    for summary in report.tables:
        for o in summary.untimed:
            output.say(f"{o.case.name} has no predicted time: {o.verdict}, {o.reason}")
    if text.left_out(report):
        output.say()
        output.say(text.left_out(report))


def _show_leading(found: Leading, cases: bool) -> None:
    from pto_tune.validating import leading_text as text

    output.heading("What could explain the errors (a diagnosis: nothing is fitted)")
    for line in text.sentences(found):
        output.say(line)
    if cases:
        output.say()
        output.table(text.SWING_TITLES, text.swing_rows(found.cases), right=["log error"])
