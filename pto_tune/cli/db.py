"""`pto-tune db`: care of a store as a whole: check, prune, vacuum, export, import, upgrade."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pto_tune.cli import errors, options, output, text

if TYPE_CHECKING:
    from db import Run

_AGE = re.compile(r"([0-9]{1,9})(h|d|w)")
_SECONDS = {"h": 3600, "d": 86_400, "w": 604_800}


def register(app: typer.Typer) -> None:
    """Add the command group `db` to `app`."""
    group = typer.Typer(rich_markup_mode=None)
    group.callback(invoke_without_command=True)(database)
    group.command(name="check", short_help="Say whether a store is whole.")(check)
    group.command(name="prune", short_help="Delete old or failed runs.")(prune)
    group.command(name="vacuum", short_help="Give free room back to the disk.")(vacuum)
    group.command(name="export", short_help="Write runs into one portable file.")(export)
    group.command(name="import", short_help="Take the runs of such a file, or of another store.")(import_)
    group.command(name="upgrade", short_help="Bring the schema to this release's.")(upgrade)
    app.add_typer(group, name="db", short_help="The store: check, prune, vacuum, export, import, upgrade.")


def database(ctx: typer.Context) -> None:
    """Care of a store: check it, delete old runs, give room back, carry runs from one store into another.

    \b
    Examples:
      pto-tune db check
      pto-tune db prune --keep 5 --older-than 30d --dry-run
      pto-tune db export latest -o best-runs.db
    """
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help(), err=True)
        raise typer.Exit(errors.WRONG_USE)


def check(db: options.Db = None, as_json: options.Json = False) -> None:
    """Read a whole store and say what is wrong with it. Nothing is changed, and an older store is not upgraded.

    Looked at are the database's own checks (PRAGMA integrity_check; on PostgreSQL the state of the indexes), the
    schema, rows whose run is gone, the rows of every run against what it says of itself, and runs whose program is
    gone. Runs that somebody is writing are not judged.

    \b
    Examples:
      pto-tune db check
      pto-tune db check --db postgresql://me@host/tuning --json

    Exit code 1: something is wrong; each thing is a line.
    """
    from db.health import check_store

    health = check_store(db)
    if as_json:
        output.as_json({**_plain(health), "findings": [_plain(finding) for finding in health.findings]})
    else:
        output.say(
            f"{health.store}: schema {health.revision}, {health.runs:,} runs ({health.live:,} being written), "
            f"{health.configurations:,} configurations, {health.accounts:,} accounts, "
            f"{health.measurements:,} measurements"
        )
        output.say("nothing is wrong" if not health.findings else f"{len(health.findings)} things are wrong")
    if health.findings:
        raise errors.CheckFailed("\n".join(f"{finding.kind}: {finding.what}" for finding in health.findings))


def prune(
    keep: Annotated[
        int | None,
        typer.Option(
            "--keep",
            metavar="N",
            min=0,
            help="Keep the N newest finished runs of each workload and platform, and all that is newer than these.",
        ),
    ] = None,
    older_than: Annotated[
        str | None,
        typer.Option("--older-than", metavar="AGE", help="Only runs created longer ago: 12h, 30d, 8w."),
    ] = None,
    failed: Annotated[bool, typer.Option("--failed", help="Only runs that an error ended.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be deleted.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask on a terminal.")] = False,
    db: options.Db = None,
    as_json: options.Json = False,
) -> None:
    """Delete the runs for which every condition that is given holds. They cannot be brought back.

    A run that somebody is writing stays. The room that an SQLite file gains is used for later runs; 'pto-tune db
    vacuum' gives it back to the disk. On a terminal it asks first; in a script it does not.

    \b
    Examples:
      pto-tune db prune --keep 5 --dry-run
      pto-tune db prune --keep 3 --older-than 30d
      pto-tune db prune --failed
    """
    from db.pruning import Retention
    from db.pruning import prune as delete

    if keep is None and older_than is None and not failed:
        raise ValueError("nothing says which runs may go: give --keep N, --older-than AGE or --failed")
    rule = Retention(keep, None if older_than is None else _age(older_than), failed)
    if not (dry_run or yes) and sys.stdin.isatty():
        would = delete(rule, db, dry_run=True)
        if would.runs and not typer.confirm(f"Delete {len(would.runs)} runs, {would.configurations:,} configurations?"):
            output.say("nothing was deleted")
            return
    done = delete(rule, db, dry_run=dry_run)
    if as_json:
        output.as_json(
            {
                "store": done.store,
                "dry_run": dry_run,
                "runs": [_run(run) for run in done.runs],
                "skipped": [_run(run) for run in done.skipped],
                "configurations": done.configurations,
                "about_bytes": done.about_bytes,
            }
        )
        return
    if done.runs:
        _table(done.runs)
    for run in done.skipped:
        output.say(f"run {run.id}, {run.name}, stays: somebody took it up or deleted it in the meantime")
    output.say(
        f"{'would delete' if dry_run else 'deleted'} {len(done.runs):,} runs, {done.configurations:,} configurations, "
        f"about {text.size(done.about_bytes)}"
    )


def vacuum(
    full: Annotated[
        bool, typer.Option("--full", help="PostgreSQL: write the tables anew; nobody can use them meanwhile.")
    ] = False,
    db: options.Db = None,
    as_json: options.Json = False,
) -> None:
    """Give the room of what was deleted back to the disk.

    An SQLite file is written anew and needs as much free disk as it takes. It is refused while somebody writes a run.

    \b
    Examples:
      pto-tune db vacuum
      pto-tune db vacuum --db postgresql://me@host/tuning --full
    """
    from db.vacuuming import vacuum_store

    done = vacuum_store(db, full)
    if as_json:
        output.as_json(_plain(done))
        return
    output.say(f"{done.store}: {text.size(done.bytes_before)} before, {text.size(done.bytes_after)} now")


def export(
    runs: Annotated[
        list[str] | None, typer.Argument(metavar="RUN...", help="Numbers or names of runs, or 'latest'.")
    ] = None,
    out: Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="The file to write.")] = None,
    every: Annotated[bool, typer.Option("--all", help="All runs that nobody is writing.")] = False,
    measurements: Annotated[
        bool, typer.Option("--measurements", help="All measurements of the store go along.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    db: options.Db = None,
    as_json: options.Json = False,
) -> None:
    """Write runs with their configurations into one file, complete or not at all.

    The file is an SQLite store with these runs only: 'pto-tune db import' takes it into another store, and every
    command reads it with --db sqlite:///FILE.

    \b
    Examples:
      pto-tune db export latest -o best.db
      pto-tune db export 3 7 "before the rewrite" -o three.db --measurements
      pto-tune db export --all -o everything.db --db postgresql://me@host/tuning
    """
    from db import open_store
    from db.health import is_live
    from db.transfer import export_runs

    if out is None:
        raise ValueError("there is no file to write: give -o FILE")
    if every and runs:
        raise ValueError("--all and RUN exclude each other: give one of them")
    if not (every or runs or measurements):
        raise ValueError("nothing is to be exported: give RUN, --all or --measurements")
    refs: list[str | int] = list(runs or ())
    if every:
        with open_store(db, create=False) as store:
            refs = [run.id for run in store.runs() if not is_live(run)]
    done = export_runs(refs, out, db, measurements=measurements, force=force)
    if as_json:
        output.as_json({**_plain(done), "path": str(done.path), "runs": [_run(run) for run in done.runs]})
        return
    output.say(
        f"wrote {done.path}: {len(done.runs):,} runs, {done.configurations:,} configurations, "
        f"{done.measurements:,} measurements, {text.size(done.bytes)}"
    )


def import_(
    source: Annotated[
        str, typer.Argument(metavar="FILE", help="A file of 'pto-tune db export', or any other store (file or URL).")
    ],
    measurements: Annotated[
        bool, typer.Option("--measurements/--no-measurements", help="Take the measurements that are there.")
    ] = True,
    db: options.Db = None,
    as_json: options.Json = False,
) -> None:
    """Take the runs of another store into this one. What is here already is not taken twice.

    Two runs are the same where specification, time of creation, rows and accounts are. The source is not changed; one
    of an older release is read from an upgraded copy.

    \b
    Examples:
      pto-tune db import best.db
      pto-tune db import colleague.db --db postgresql://me@host/tuning --no-measurements
    """
    from db.transfer import import_runs

    done = import_runs(source, db, measurements=measurements)
    if as_json:
        output.as_json(
            {
                **_plain(done),
                "taken": [{"from": _run(there), "as": _run(here)} for there, here in done.taken],
                "already": [{"from": _run(there), "as": _run(here)} for there, here in done.already],
            }
        )
        return
    for there, here in done.taken:
        output.say(f"took run {there.id}, {there.name}, as run {here.id}, {here.name}")
    for there, here in done.already:
        output.say(f"run {there.id}, {there.name}, is here already as run {here.id}, {here.name}")
    output.say(
        f"took {len(done.taken):,} runs, {done.configurations:,} configurations, {done.measurements:,} measurements "
        f"({done.known_measurements:,} were here already) into {done.store}"
    )


def upgrade(
    backup: Annotated[
        bool, typer.Option("--backup/--no-backup", help="Keep a copy of an SQLite file beside it.")
    ] = True,
    db: options.Db = None,
    as_json: options.Json = False,
) -> None:
    """Bring the schema of a store to this release's, in one transaction, and say what is done.

    Every command that opens a store with --db does so too, without a copy; this one keeps the file as it was, as
    FILE.REVISION.bak. A PostgreSQL database is not copied: use pg_dump before.

    \b
    Examples:
      pto-tune db upgrade
      pto-tune db upgrade --db postgresql://me@host/tuning
    """
    from db.upgrading import upgrade_store

    done = upgrade_store(db, backup)
    if as_json:
        output.as_json({**_plain(done), "backup": None if done.backup is None else str(done.backup)})
        return
    if not done.steps:
        output.say(f"{done.store} has the schema {done.after} already: nothing to do")
        return
    if done.backup is not None:
        output.say(f"copied the file as it was to {done.backup}")
    for step in done.steps:
        output.say(f"upgraded to {step}")
    output.say(f"{done.store} has the schema {done.after} now, {done.before} before")


def _age(word: str) -> int:
    """An age in seconds."""
    found = _AGE.fullmatch(word)
    if found is None:
        raise ValueError(f"--older-than {word!r} is no age: write a number and h, d or w, such as 30d")
    return int(found[1]) * _SECONDS[found[2]]


def _plain(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in type(value).__dataclass_fields__}


def _run(run: Run) -> dict[str, Any]:
    return {
        "run": run.id,
        "name": run.name,
        "state": run.state,
        "workload": run.workload,
        "platform": run.platform,
        "n_evaluated": run.n_evaluated,
        "created_at": run.created_at.isoformat(),
    }


def _table(runs: tuple[Run, ...]) -> None:
    output.table(
        ["run", "name", "state", "workload", "platform", "configurations", "created (UTC)"],
        (
            [r.id, r.name, r.state, r.workload, r.platform, text.count(r.n_evaluated), f"{r.created_at:%Y-%m-%d %H:%M}"]
            for r in runs
        ),
        right=["run", "configurations"],
    )
