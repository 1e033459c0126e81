"""`pto-tune check`: tune again what a baseline holds, and fail where it became slower or illegal."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pto_tune.cli import errors, options, output, text
from pto_tune.cli.progress import Bar

if TYPE_CHECKING:
    from pto_tune.checking.baseline import Entry
    from pto_tune.checking.comparing import Comparison


def register(app: typer.Typer) -> None:
    """Add the command `check` to `app`."""
    app.command(name="check", short_help="Compare today's predictions with a committed baseline.")(check)


def check(
    baseline: Annotated[
        Path | None, typer.Argument(metavar="BASELINE", help="A JSON file of 'pto-tune check --write'.")
    ] = None,
    max_regression: Annotated[
        str,
        typer.Option("--max-regression", metavar="SHARE", help="How much longer a time may be: 2% or 0.02."),
    ] = "2%",
    run: Annotated[
        str | None,
        typer.Option("--run", metavar="RUN", help="A stored run instead of a file; with --write, what is written."),
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Write today's results into the baseline, whatever they are.")
    ] = False,
    write: Annotated[
        bool, typer.Option("--write", help="Add a search to the baseline, or make one; see the options below.")
    ] = False,
    workload: Annotated[
        str | None, typer.Option("--workload", metavar="WORKLOAD", help="With --write: what to tune.")
    ] = None,
    platform: Annotated[
        str | None,
        typer.Option(
            "--platform",
            metavar="NAME|FILE",
            help="With --write: the chip; with --run: its file, where it is not built in.",
            show_default=options.DEFAULT_PLATFORM_TEXT,
        ),
    ] = None,
    pto_isa: options.PtoIsa = None,
    timing: options.Timing = "task",
    set_: options.Set = None,
    domain: options.Domain = None,
    strategy: options.Strategy = "auto",
    objective: options.Objective = None,
    budget: options.Budget = None,
    seed: options.Seed = 0,
    name: Annotated[
        str | None,
        typer.Option(
            "--name",
            metavar="NAME",
            help="With --write: name of the entry; one of this name is replaced.",
            show_default="workload, platform and sizes",
        ),
    ] = None,
    db: options.Db = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Tune again what a baseline holds and compare: best time, best configuration, verdicts, and the configuration that
    the baseline recommends as it is seen today.

    For repositories that keep tuned headers: commit the baseline beside them. It needs no store and no network. A
    configuration that became faster, or another one that is as fast, is reported and passes. The options from
    --workload to --name say what --write tunes, as for 'pto-tune tune'.

    \b
    Examples:
      pto-tune check tuned.json --write --workload flash_attention --set s0=4096 --set s1=4096
      pto-tune check tuned.json --write --run latest
      pto-tune check tuned.json --max-regression 2%
      pto-tune check tuned.json --update
      pto-tune check --run before-the-rewrite --json

    Exit code 1: a time grew by more than the limit, or the baseline's configuration is not legal and safe any more.
    """
    limit = share(max_regression)
    wishes = {
        "--workload": workload, "--pto-isa": pto_isa, "--set": set_, "--domain": domain, "--objective": objective,
        "--budget": budget, "--name": name, "--seed": seed or None,
        "--strategy": None if strategy == "auto" else strategy, "--timing": None if timing == "task" else timing,
    }  # fmt: skip
    given = [option for option, value in wishes.items() if value is not None]
    if write:
        if baseline is None or update or (run is None) == (workload is None):
            raise ValueError("--write needs BASELINE, and one of --workload and --run; --update goes without it")
        stray = [option for option in given if option not in ("--name", "--workload")]
        if run is not None and stray:
            raise ValueError(f"{', '.join(stray)}: a stored run has its own; leave them out beside --run")
        if run is not None:
            entry = _of_run(run, platform, db, name, baseline.parent)
        else:
            from pto_tune.checking.searches import entry_of

            asked = _asked(
                str(workload), platform, pto_isa, timing, set_, domain, strategy, objective, budget, seed,
                baseline.parent,
            )  # fmt: skip
            with Bar(f"tuning {workload}", quiet=quiet) as bar:
                entry = entry_of(asked, asked.search(bar), name)
        _add(baseline, entry, as_json)
        return
    if given:
        raise ValueError(f"{', '.join(given)}: what is tuned stands in the baseline; these go with --write")
    if (baseline is None) == (run is None) or (update and baseline is None):
        raise ValueError("give BASELINE (which --update rewrites), or --run RUN in its place")
    if baseline is not None and platform is not None:
        raise ValueError("--platform: the platform stands in the baseline; this goes with --write or --run")
    entries, folder = _entries(baseline, run, platform, db)
    found = _compared(entries, folder, limit, quiet)
    _finish(found, limit, baseline if update else None, as_json)


def share(word: str) -> float:
    """`2%` or `0.02` as a number."""
    number, per_cent = (word[:-1], True) if word.endswith("%") else (word, False)
    try:
        value = float(number) / (100 if per_cent else 1)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 100 or (value >= 1 and not per_cent):
        raise ValueError(f"--max-regression {word!r}: expected a share such as 2% or 0.02")
    return value


def _entries(baseline: Path | None, run: str | None, platform: str | None, db: str | None) -> tuple[list[Entry], Path]:
    if baseline is not None:
        from pto_tune.checking.baseline import read_baseline

        return read_baseline(baseline), baseline.parent
    return [_of_run(str(run), platform, db, None, Path())], Path()


def _compared(entries: list[Entry], folder: Path, limit: float, quiet: bool) -> list[Comparison]:
    from pto_tune.checking.comparing import compare

    found = []
    for entry in entries:
        with Bar(f"checking {entry.name}", quiet=quiet) as bar:
            found.append(compare(entry, folder, limit, bar))
    return found


def _asked(
    workload: str, platform: str | None, pto_isa: str | None, timing: str, set_: list[str] | None,
    domain: list[str] | None, strategy: str, objective: list[str] | None, budget: int | None, seed: int, folder: Path,
) -> Any:  # fmt: skip
    """The search that the options ask for."""
    from pto_tune.checking.searches import Asked, relative
    from pto_tune.workloads import workload_names

    model, sizes, domains = options.wishes(workload, set_, domain)
    is_file = workload not in workload_names() and options.looks_like_path(workload)
    return Asked(
        relative(workload, folder) if is_file else workload,
        _platform(options.platform_for(model, platform), folder), folder, pto_isa, timing,
        sizes, domains, strategy, tuple(objective or ("time",)), budget, seed,
    )  # fmt: skip


def _platform(given: str, folder: Path) -> str:
    from cost_models.platform import platform_names
    from pto_tune.checking.searches import is_platform_file, relative

    is_file = given not in platform_names() and is_platform_file(given)
    return relative(given, folder) if is_file else given


def _of_run(run: str, platform: str | None, db: str | None, name: str | None, folder: Path) -> Entry:
    from db import open_store
    from pto_tune.checking.stored import entry_of_run

    with open_store(db, create=False) as store:
        found = store.find_run(run)
        entry = entry_of_run(store, found, platform, name)
    return entry if platform is None else entry.model_copy(update={"platform": _platform(platform, folder)})


def _add(baseline: Path, entry: Entry, as_json: bool) -> None:
    from pto_tune.checking.baseline import read_baseline, write_baseline

    entries = read_baseline(baseline) if baseline.exists() else []
    names = [other.name for other in entries]
    replaced = entry.name in names
    if replaced:
        entries[names.index(entry.name)] = entry
    else:
        entries.append(entry)
    write_baseline(baseline, entries)
    if as_json:
        output.as_json({"baseline": str(baseline), "replaced": replaced, "entry": entry.model_dump()})
        return
    output.say(
        f"{'replaced' if replaced else 'added'} {entry.name!r} in {baseline}: best {entry.best.time_us:,.3f} us of "
        f"{entry.n_evaluated:,} configurations"
    )


def _finish(found: list[Comparison], limit: float, to_update: Path | None, as_json: bool) -> None:
    """Print the comparisons, update the baseline where that is wanted, and end with the exit code."""
    gone = [c.then.name for c in found if c.now is None]
    if to_update is not None and not gone:
        from pto_tune.checking.baseline import write_baseline

        write_baseline(to_update, [c.now for c in found if c.now is not None])
    updated = to_update is not None and not gone
    if as_json:
        output.as_json({"limit": limit, "updated": updated, "entries": [as_plain(c) for c in found]})
    else:
        for comparison in found:
            show(comparison)
        if updated:
            output.say(f"wrote today's results into {to_update}")
    if to_update is not None and gone:
        raise errors.CheckFailed("\n".join(f"{name}: no configuration is legal: nothing was updated" for name in gone))
    said = [f"{c.then.name}: {sentence}" for c in found for sentence in c.regressions]
    if said and not updated:
        raise errors.CheckFailed("\n".join(said))


def show(c: Comparison) -> None:
    """One comparison on the screen."""
    output.say(f"{c.then.name}: {c.state}")
    time_us = None if c.now is None else c.now.best.time_us
    today = c.baseline_today
    facts = [
        (
            "best time",
            f"{text.microseconds(c.then.best.time_us)} -> {text.microseconds(time_us)} us{_signed(c.change)}",
        ),
        (
            "its configuration",
            f"{today.verdict} today, {text.microseconds(today.time_us)} us{_signed(today.change)}",
        ),
        ("best is now", ", ".join(f"{n} {was} -> {now}" for n, (was, now) in c.settings.items())),
        ("verdicts", ", ".join(f"{n} {was:,} -> {now:,}" for n, (was, now) in c.verdicts.items())),
        ("changed", "; ".join(c.causes)),
    ]
    for title, value in facts:
        if value:
            output.say(f"  {title:<17}  {value}")


def as_plain(c: Comparison) -> dict[str, Any]:
    """One comparison for --json."""
    return {
        "name": c.then.name,
        "state": c.state,
        "then": c.then.best.model_dump(),
        "now": None if c.now is None else c.now.best.model_dump(),
        "change": c.change,
        "baseline_today": {
            name: getattr(c.baseline_today, name) for name in ("verdict", "reason", "time_us", "change")
        },
        "settings": {n: {"then": was, "now": now} for n, (was, now) in c.settings.items()},
        "verdicts": {n: {"then": was, "now": now} for n, (was, now) in c.verdicts.items()},
        "changed": list(c.causes),
        "regressions": list(c.regressions),
    }


def _signed(change: float | None) -> str:
    return "" if change is None else f" ({change:+.2%})"
