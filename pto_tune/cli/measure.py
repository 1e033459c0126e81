"""`pto-tune measure`: times from a board into the store, the list of what to run there, and what is stored."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pto_tune.cli import errors, options, output, stored, text

if TYPE_CHECKING:
    from db import Measurement, Run, StoredMeasurement
    from pto_tune.measuring.faults import Fault

SHOWN_FAULTS = 30
"""Rows that are complained of one by one; the rest is counted."""

File = Annotated[Path, typer.Argument(metavar="FILE", help="CSV or JSON lines, or an op summary of msprof.")]
Map = Annotated[
    Path | None,
    typer.Option("--map", metavar="FILE", help="For an op summary: the JSON file that says which op was what."),
]
OfWorkload = Annotated[
    str | None,
    typer.Option("--workload", metavar="NAME|FILE", help="The workload of rows that name none.", show_default=False),
]
OfPlatform = Annotated[
    str | None,
    typer.Option(
        "--platform",
        metavar="NAME|FILE",
        help="The chip of rows without a platform: a name of 'pto-tune platforms', a family (a2a3, a5), or a file.",
        show_default=False,
    ),
]
OfTiming = Annotated[
    str | None,
    typer.Option(
        "--timing",
        metavar="task|event|sync|device",
        help="How the rows that do not say it were timed; 'profiler' is task.",
        show_default=False,
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command group `measure` to `app`."""
    group = typer.Typer(rich_markup_mode=None)
    group.callback()(measure)
    group.command(name="import", short_help="Take a file of measurements into the store.")(import_file)
    group.command(name="template", short_help="What to run on the board, as a CSV file to fill in.")(template)
    group.command(name="list", short_help="The measurements of the store.")(list_measurements)
    app.add_typer(group, name="measure", short_help="Times from a board: import, template, list.")


def measure() -> None:
    """Times measured on a board: import them, list them, and write the list of what is worth measuring.

    \b
    Example:
      pto-tune measure template latest --top 20 -o board.csv
      pto-tune measure import board.csv
      pto-tune measure list
    """


def import_file(
    file: File,
    mapping: Map = None,
    workload: OfWorkload = None,
    platform: OfPlatform = None,
    timing: OfTiming = None,
    db: options.Db = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check the file; write nothing, open no store.")] = False,
    as_json: options.Json = False,
) -> None:
    """Take measurements into the store; what is there already stays as it is.

    CSV with titles, or one JSON object a line. Columns: workload, platform or soc, timing (task, event, sync, device),
    time_us or cycles; if known pto_isa, repeats, spread_us, min_us, max_us, source, note. Every other column is a
    problem size or tunable; where it is empty its default holds. An op summary of the profiler (op_summary_*.csv,
    OpBasicInfo.csv) takes --map FILE: JSON such as
    {"platform": "ascend910b2", "ops": [{"op": "my_kernel*", "workload": "gemm", "configuration": {"m": 512}}]}.
    Rows with faults are reported by number (the titles are row 1) and left out, the others are taken.

    \b
    Examples:
      pto-tune measure import board.csv --platform ascend910b2 --timing event
      pto-tune measure import op_summary_20260812.csv --map ops.json

    Exit code 1: rows with faults were left out.
    """
    from pto_tune.measuring.reading import read_measurements

    found, faults = read_measurements(
        file,
        mapping=mapping,
        workload=_own_workload(workload),
        platform=_own_platform(platform),
        timing=timing,
    )
    added = there = 0
    where = None
    if not dry_run and found:
        from db import open_store

        with open_store(db) as store:
            added, there = store.add_measurements(found)
            where = store.url
    bad = [fault for fault in faults if not fault.harmless]
    if as_json:
        output.as_json(
            {
                "file": str(file),
                "store": where,
                "measurements": len(found),
                "added": added,
                "already_there": there,
                "faults": [_fault_facts(fault) for fault in faults],
                **({"rows": [measurement_facts(m) for m in found]} if dry_run else {}),
            }
        )
    else:
        for fault in faults:
            if fault.harmless:
                output.say(f"{file}: {fault}")
        output.say(_imported(len(found), added, there, where))
    _complain(file, bad)
    if bad:
        raise typer.Exit(errors.FAILED)


def template(
    run: options.Run,
    top: Annotated[int, typer.Option("--top", metavar="N", min=1, help="How many configurations.")] = 20,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Where to write the list.", show_default="standard output"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")] = False,
    db: options.Db = None,
) -> None:
    """Write the best configurations of a run as a CSV file to fill in on the board and to import.

    time_us (the mean), repeats and spread_us (the standard deviation) are empty. Fill in pto_isa, too, with the
    revision of the headers that the kernel is built with, and put the right protocol into timing. Rows that stay
    empty are left out by the import.

    \b
    Example:
      pto-tune measure template latest --top 20 -o board.csv

    Exit code 1: the run has no legal configuration.
    """
    from db import open_store
    from pto_tune.measuring.template import template as as_csv

    with open_store(db, create=False) as store:
        found = store.find_run(run)
        entries = stored.best_entries(store, found, top)
    if not entries:
        raise errors.CheckFailed(f"run {found.name!r} has no legal configuration: there is nothing to measure")
    listed = as_csv(
        found.workload,
        found.platform,
        found.timing,
        found.pto_isa,
        [entry["configuration"] for entry in entries],
        [_note(found, entry) for entry in entries],
    )
    if out is None:
        sys.stdout.write(listed)
        return
    try:
        with out.open("w" if force else "x", encoding="utf-8", newline="") as stream:
            stream.write(listed)
    except FileExistsError:
        raise ValueError(f"{out} is there already: give another name, or --force to overwrite it") from None
    output.say(f"wrote {out} ({len(entries)} configurations of run {found.id})")


def list_measurements(
    workload: Annotated[
        str | None, typer.Option("--workload", metavar="NAME", help="Only those of this workload.")
    ] = None,
    platform: Annotated[
        str | None, typer.Option("--platform", metavar="NAME", help="Only those of this platform or family.")
    ] = None,
    timing: Annotated[
        str | None,
        typer.Option("--timing", metavar="task|event|sync|device", help="Only those of this timing protocol."),
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", min=1, help="At most so many.")] = None,
    db: options.Db = None,
    as_json: options.Json = False,
) -> None:
    """List the measurements of the store, in the order in which they came in.

    \b
    Example:
      pto-tune measure list --workload gemm --platform ascend910b2
    """
    from cost_models.platform import load_platform, platform_names
    from db import open_store
    from pto_tune.measuring.protocols import protocol

    families = {load_platform(name).family for name in platform_names()}
    filters = {
        "workload": workload,
        "family": platform if platform in families else None,
        "platform": None if platform in families else platform,
        "timing": None if timing is None else protocol(timing),
    }
    with open_store(db, create=False) as store:
        found = store.measurements(limit=limit, **filters)
        count = store.count_measurements(**filters)
    if as_json:
        output.as_json([{**measurement_facts(m), **_stored_facts(m)} for m in found])
        return
    output.table(
        ["id", "workload", "chip", "timing", "time", "spread", "repeats", "configuration", "source"],
        (
            [
                m.id,
                m.workload,
                m.platform or m.soc,
                m.timing,
                _time(m.value, m.metric),
                text.NOTHING if m.spread is None else _time(m.spread, m.metric),
                text.count(m.repeats),
                text.settings(dict(m.configuration)),
                m.source or text.NOTHING,
            ]
            for m in found
        ),
        right=["id", "time", "spread", "repeats"],
    )
    output.say()
    output.say(f"{len(found):,} of {count:,} measurements" if len(found) < count else _counted(count))


def measurement_facts(m: Measurement) -> dict[str, Any]:
    """A measurement for --json, in the names of the simple form where it has them."""
    return {
        "workload": m.workload,
        "configuration": dict(m.configuration),
        "family": m.family,
        "platform": m.platform,
        "soc": m.soc,
        "pto_isa": m.pto_isa,
        "timing": m.timing,
        "metric": m.metric,
        "value": m.value,
        "repeats": m.repeats,
        "spread": m.spread,
        "minimum": m.minimum,
        "maximum": m.maximum,
        "source": m.source,
        "note": m.note,
    }


def _stored_facts(m: StoredMeasurement) -> dict[str, Any]:
    return {"id": m.id, "imported_at": m.imported_at.isoformat(), "digest": m.digest}


def _fault_facts(fault: Fault) -> dict[str, Any]:
    return {"row": fault.row, "text": fault.text, "harmless": fault.harmless}


def _own_workload(given: str | None) -> Any:
    """A name as it is, so that all that is wrong is said together; the workload of a file."""
    return options.workload_named(given) if given is not None and options.looks_like_path(given) else given


def _own_platform(given: str | None) -> Any:
    from cost_models.platform import load_platform
    from cost_models.schema import is_name

    return given if given is None or is_name(given) else load_platform(given)


def _complain(file: Path, bad: Sequence[Fault]) -> None:
    for fault in bad[:SHOWN_FAULTS]:
        errors.complain(f"{file}, {fault}")
    if len(bad) > SHOWN_FAULTS:
        errors.complain(f"{file}: {len(bad) - SHOWN_FAULTS:,} more faults ('--json' has them all)")


def _imported(n: int, added: int, there: int, where: str | None) -> str:
    if where is None:
        return f"{_counted(n)} found, nothing was written" if n else "no measurements found, nothing was written"
    return f"{_counted(added)} added to {where}, {there:,} already there"


def _counted(n: int) -> str:
    return f"{n:,} {'measurement' if n == 1 else 'measurements'}"


def _time(value: float, metric: str) -> str:
    return f"{text.microseconds(value)} us" if metric == "us" else f"{value:,.0f} cycles"


def _note(run: Run, entry: dict[str, Any]) -> str:
    """Where a configuration comes from and what was predicted, so that the two can be laid side by side."""
    return f"run {run.id}, row {entry['row']}, predicted {entry['time_us']:.2f} us"
