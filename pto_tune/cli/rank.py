"""`pto-tune rank`: read an exported file back, and say how its configuration ranks today."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pto_tune.cli import options, output, text
from pto_tune.cli.errors import CheckFailed
from pto_tune.cli.progress import Bar

if TYPE_CHECKING:
    from cost_models.platform import Platform
    from pto_tune.exporters.ranking import Ranking
    from pto_tune.exporters.reading import ReadBack
    from pto_tune.model.nodes import Workload


def register(app: typer.Typer) -> None:
    """Add the command `rank` to `app`."""
    app.command(name="rank", short_help="Say how the configuration of an exported file ranks today.")(rank)


def rank(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="A header, a CMake cache, CMakeCache.txt or JSON of 'pto-tune export'."),
    ],
    workload: Annotated[
        str | None,
        typer.Option(
            "--workload",
            metavar="NAME|FILE",
            help="The workload, where the file's is not built in.",
            show_default="the file's",
        ),
    ] = None,
    platform: Annotated[
        str | None,
        typer.Option(
            "--platform",
            metavar="NAME|FILE",
            help="Another platform than the file's, or the file of its own.",
            show_default="the file's",
        ),
    ] = None,
    most: Annotated[
        int, typer.Option("--most", metavar="N", min=1, help="Evaluate at most so many configurations.")
    ] = 100_000,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", min=0, help="Seed of the sample, where one is taken.")
    ] = 0,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Read an exported file back, and say how its configuration ranks today: verdict, time, and place among all others.

    The others are the configurations of the workload's default domains at the file's problem sizes; of more than
    --most a sample is taken. A constant that was changed by hand counts as it stands in the file.

    \b
    Examples:
      pto-tune rank pto_tune_flash_attention.hpp
      pto-tune rank build/CMakeCache.txt --platform ascend910b3 --json

    Exit code 1: a configuration is not safe today, or no configuration has the constants of the file.
    """
    from pto_tune.exporters.checks import ExportError
    from pto_tune.exporters.reading import read_back

    found = [one for path in files for one in read_back(path)]
    rankings: list[Ranking] = []
    for read in found:
        model, chip = _workload(read, workload), _platform(read, platform)
        with Bar(f"ranking {read.where}", quiet=quiet):
            from pto_tune.exporters import ranking

            try:
                rankings.append(ranking.rank(read, model, chip, most, seed))
            except ExportError as error:
                raise CheckFailed(str(error)) from None
    if as_json:
        output.as_json([one.as_plain() for one in rankings])
    else:
        for one in rankings:
            _say(one)
    if any(one.verdict != "ok" for one in rankings):
        raise typer.Exit(1)


def _workload(read: ReadBack, given: str | None) -> Workload:
    from pto_tune.workloads import workload_names

    if given is None and read.workload not in workload_names():
        raise ValueError(
            f"{read.where}: workload {read.workload!r} is not built in: give its file with --workload FILE"
        )
    return options.workload_named(given or read.workload)


def _platform(read: ReadBack, given: str | None) -> Platform:
    from cost_models.platform import load_platform, platform_names

    if given is None and read.platform not in platform_names():
        raise ValueError(
            f"{read.where}: platform {read.platform!r} is not built in: give its file with --platform FILE"
        )
    return load_platform(given or read.platform)


def _say(one: Ranking) -> None:
    output.heading(one.where)
    now = "no time" if one.time_us is None else f"{text.microseconds(one.time_us)} us"
    then = f", {text.microseconds(one.then_us)} us when it was written"
    lines = [("workload", f"{one.workload} on {one.platform}, rule set {one.rule_set}, {one.timing} timing")]
    lines += [("verdict", one.verdict + (f": {one.reason}" if one.reason else "")), ("time", now + then)]
    lines += [("place", _place(one))]
    if one.best is not None and one.best_us is not None and one.faster:
        own = {n: v for n, v in one.best.items() if v != one.configuration[n]}
        lines += [("fastest", f"{text.microseconds(one.best_us)} us with {text.settings(own)}")]
    lines += [("changed", said) for said in (*one.changes, *one.differs)]
    for name, value in lines:
        output.say(f"{name:<10}  {value}")


def _place(one: Ranking) -> str:
    among = f"{one.legal:,} legal and safe of {one.looked_at:,}"
    among += f" sampled from {one.candidates:,}" if one.sampled else " configurations"
    if one.place is None:
        return f"none: it is not among the {among}"
    by = "" if not one.slower_by else f", {text.percent(one.slower_by)} slower than the fastest"
    if one.slower_by is not None and one.slower_by < 0:
        by = ", faster than all of them"
    return f"{one.place:,} of the {among}{by}"
