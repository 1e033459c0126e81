"""`pto-tune lint`: what is wrong with PTOAS kernels, with places in the files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pto_tune.cli import errors, options, output, text
from pto_tune.cli.import_ import Unknown

if TYPE_CHECKING:
    from pto_tune.kernels.linting import Report

FORMATS = ("text", "json", "sarif")
FORMAT = "pto-tune-lint/1"


def register(app: typer.Typer) -> None:
    """Add the command `lint` to `app`."""
    app.command(name="lint", short_help="Check PTOAS kernels (.pto): hang, overwrite, race, capacity ...")(lint)


def lint(
    kernels: Annotated[list[str], typer.Argument(metavar="KERNEL.pto...", help="PTOAS kernels.")],
    platform: Annotated[
        str | None,
        typer.Option(
            "--platform", metavar="NAME|FILE", help="The chip.", show_default="ascend950pr for a5, else ascend910b2"
        ),
    ] = None,
    pto_isa: options.PtoIsa = None,
    format_: Annotated[
        str, typer.Option("--format", metavar="text|json|sarif", help="How findings are printed.")
    ] = "text",
    unknown: Unknown = "refuse",
    settings: options.Set = None,
) -> None:
    """Check kernels under their own configuration: one line a finding, as FILE:LINE:COLUMN: verdict (rule): sentence.

    Found are what the platform and the pipe library refuse (capacity, splits, slots, flags), and what the program can
    do whatever the durations are: hang, overwrite, race. --format sarif is for editors and CI services. Problem sizes
    that are arguments of the kernel have defaults that are no values of the file: --set gives them others.

    \b
    Examples:
      pto-tune lint kernel.pto
      pto-tune lint kernel.pto --platform ascend950pr --set n=4096
      pto-tune lint src/*.pto --format sarif > lint.sarif

    Exit codes: 0 nothing found, 1 findings, 2 a file that cannot be read, or wrong use.
    """
    from pto_tune.kernels.linting import lint as check

    if format_ not in FORMATS:
        raise ValueError(f"--format {format_!r}: expected {', '.join(FORMATS)}")
    given = {name: _whole(name, value) for name, value in options.assignments(settings, "--set").items()}
    reports = [check(kernel, platform, pto_isa, given, unknown) for kernel in kernels]
    if format_ == "sarif":
        from pto_tune.kernels.sarif import sarif

        output.as_json(sarif(reports))
    elif format_ == "json":
        output.as_json({"format": FORMAT, "files": [_plain(r) for r in reports]})
    else:
        _show(reports)
    if any(r.unread for r in reports):
        raise typer.Exit(errors.WRONG_USE)
    if any(r.findings for r in reports):
        raise typer.Exit(errors.FAILED)


def _whole(name: str, value: str) -> int:
    if not value.lstrip("-").isdigit() or len(value) > 12:
        raise ValueError(f"--set {name}={value}: expected a whole number")
    return int(value)


def _show(reports: Sequence[Report]) -> None:
    from pto_tune.kernels.linting import by_verdict

    for r in reports:
        for f in r.findings:
            output.say(str(f))
            for place, what in f.others:
                output.say(f"  {f.file}:{place}: {what}")
        for sentence in r.warnings:
            output.say(f"{r.file}: warning: {sentence}")
        for sentence in r.notes:
            output.say(f"{r.file}: note: {sentence}")
        if r.unread:
            output.say(f"{r.file}: cannot be read")
        elif not r.findings:
            where = f"{r.platform}, rule set {r.rule_set}"
            times = [f"{name} {text.microseconds(us)} us" for name, us in r.kernels if us is not None]
            said = ", ".join(times) or f"{text.microseconds(r.time_us)} us"
            output.say(f"{r.file}: ok ({where}; predicted {said})")
        else:
            counts = ", ".join(f"{n} {v}" for v, n in by_verdict(r.findings).items())
            output.say(f"{r.file}: {counts} ({r.platform}, rule set {r.rule_set})")


def _plain(r: Report) -> dict[str, Any]:
    return {
        "file": r.file,
        "verdict": r.verdict,
        "platform": r.platform,
        "rule_set": r.rule_set,
        "time_us": r.time_us,
        "kernels": [{"name": name, "time_us": us} for name, us in r.kernels],
        "findings": [
            {
                "line": f.place.line,
                "column": f.place.column,
                "verdict": f.verdict,
                "rule": f.rule,
                "sentence": f.sentence,
                "others": [{"line": p.line, "column": p.column, "what": what} for p, what in f.others],
            }
            for f in r.findings
        ],
        "warnings": list(r.warnings),
        "notes": list(r.notes),
    }
