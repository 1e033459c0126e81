"""Is a store whole: the database's own checks, every row under its run, every run as it says of itself."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, text

from db.errors import shorten
from db.opening import as_it_is
from db.records import DEAD_AFTER_S
from db.revisions import HEAD, REVISIONS

if TYPE_CHECKING:
    from db.records import Run

_MOST = 100

_COUNTED_ALONE = "refused"
"""What a search through a large space counts and does not store."""


@dataclass(frozen=True)
class Finding:
    """Something that is wrong. ``kind``: damage, schema, orphans, rows, summary or dead; ``run``: the number of the
    run that it is about, if one; ``what``: one sentence with what can be done."""

    kind: str
    run: int | None
    what: str


@dataclass(frozen=True)
class Health:
    """What a check of a store found.

    Attributes:
        store: the database's URL, without its password.
        revision: the schema that the store has.
        runs, live, configurations, accounts, measurements: how many there are; live: runs that somebody writes.
        findings: what is wrong, nothing where the store is whole.
    """

    store: str
    revision: str
    runs: int
    live: int
    configurations: int
    accounts: int
    measurements: int
    findings: tuple[Finding, ...]


def check_store(url: str | None = None) -> Health:
    """Read the whole store and say what is wrong with it; nothing is changed.

    Memory stays small whatever the store holds. Runs that somebody is writing are counted and not judged.

    Raises:
        StoreError: no store there, or one of a newer release or another program.
    """
    with as_it_is(url) as (database, revision):
        found: list[Finding] = []
        counts = dict.fromkeys(("runs", "live", "configurations", "accounts", "measurements"), 0)
        try:
            with database.read() as connection:
                _look(connection, revision, found, counts)
        except (ValueError, TypeError, ArithmeticError) as error:  # what a damaged file makes of a query or a value
            found.append(Finding("damage", None, shorten(f"the store cannot be read to its end: {error}")))
        return Health(database.shown, revision, **counts, findings=tuple(found))


def _look(connection: Connection, revision: str, found: list[Finding], counts: dict[str, int]) -> None:
    one_state(connection)
    found += _damage(connection)
    tables = {"run": "runs", "configuration": "configurations", "account": "accounts", "measurement": "measurements"}
    for table, name in tables.items():
        if table != "measurement" or revision != REVISIONS[0]:
            counts[name] = int(connection.execute(text(f"SELECT COUNT(*) FROM {table}")).scalar_one())
    if revision != HEAD:
        found.append(Finding("schema", None, f"the schema is {revision}, not yet {HEAD}: run 'pto-tune db upgrade'"))
        return
    found += _schema(connection)
    found += _orphans(connection)
    for run in _runs(connection):
        if is_live(run):
            counts["live"] += 1
        else:
            found += _of_run(connection, run)


def is_live(run: "Run", dead_after_s: float = DEAD_AFTER_S) -> bool:
    """Whether somebody writes this run, as its last sign of life by the database's clock says."""
    return run.state == "running" and run.heartbeat_age_s < dead_after_s


def one_state(connection: Connection) -> None:
    """Let all that this transaction reads be of one moment. To be called before anything else in it."""
    if connection.dialect.name != "sqlite":
        connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"))


def _runs(connection: Connection) -> "list[Run]":
    from db.runs import load_runs

    return list(reversed(load_runs(connection)))


def _damage(connection: Connection) -> Iterator[Finding]:
    if connection.dialect.name == "sqlite":
        for (said,) in connection.exec_driver_sql(f"PRAGMA integrity_check({_MOST})"):
            if said != "ok":
                yield Finding("damage", None, f"{shorten(str(said), 200)}: put back a copy of the file")
        return
    indexes = text(
        "SELECT i.relname FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid"
        " WHERE t.oid IN (to_regclass('run'), to_regclass('configuration'), to_regclass('account'),"
        " to_regclass('measurement')) AND NOT (x.indisvalid AND x.indisready)"
    )
    for (name,) in connection.execute(indexes):
        yield Finding("damage", None, f"the index {name} is not valid: REINDEX INDEX {name}")


def _schema(connection: Connection) -> Iterator[Finding]:
    """Whether the tables are those that this release makes."""
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    from db.models import Base, expected_on

    def ours(name: str | None, kind: str, parents: Any) -> bool:  # noqa: ARG001
        return kind != "table" or name in Base.metadata.tables

    options = {"compare_type": True, "include_name": ours, "include_object": expected_on(connection.dialect.name)}
    options = {
        "compare_type": True,
        "include_name": ours,
        "include_object": expected_on(connection.dialect.name),
    }
    context = MigrationContext.configure(connection, opts=options)
    for difference in compare_metadata(context, Base.metadata):
        found = difference if isinstance(difference, tuple) else difference[0]
        named = [str(getattr(part, "name", part)) for part in found[1:4] if part is not None]
        yield Finding(
            "schema", None, f"the tables are not those of {HEAD} ({found[0]} {'.'.join(named)}): put back a copy"
        )


def _orphans(connection: Connection) -> Iterator[Finding]:
    questions = (
        ("configurations", "configuration", "run_id NOT IN (SELECT id FROM run)"),
        (
            "accounts",
            "account",
            "NOT EXISTS (SELECT 1 FROM configuration c WHERE c.run_id = account.run_id AND c.row = account.row)",
        ),
    )
    for what, table, lost in questions:
        query = f"SELECT run_id, COUNT(*) FROM {table} WHERE {lost} GROUP BY run_id ORDER BY run_id LIMIT {_MOST}"
        for run_id, n in connection.execute(text(query)):
            of = "a run that is gone" if what == "configurations" else "configurations that are gone"
            yield Finding(
                "orphans", int(run_id), f"{n:,} {what} under the run number {run_id} are of {of}: put back a copy"
            )


def _of_run(connection: Connection, run: "Run") -> Iterator[Finding]:
    where = f"run {run.id} ({shorten(run.name, 60)})"

    def wrong(kind: str, what: str) -> Finding:
        return Finding(kind, run.id, f"{where} {what}")

    if run.state == "running":
        yield wrong(
            "dead",
            f"is running and gave no sign of life for {run.heartbeat_age_s:,.0f} s: go on with "
            f"'pto-tune runs resume {run.id}', or delete it",
        )
    n, first, last = _extent(connection, run.id)
    if n and (first != 0 or last != n - 1):
        yield wrong("rows", f"has {n:,} rows numbered {first} to {last}, some are missing: delete it and tune again")
    # A program writes its rows first and then how many they are: an interrupted run may have one batch more.
    if n != run.n_evaluated and (run.state == "done" or n < run.n_evaluated):
        yield wrong("rows", f"says {run.n_evaluated:,} configurations and has {n:,}: delete it and tune again")
    yield from (wrong("rows", what) for what in _outside(connection, run))
    if run.state == "done":
        yield from (wrong("summary", what) for what in _summary(connection, run))


def _extent(connection: Connection, run_id: int) -> tuple[int, int, int]:
    query = text('SELECT COUNT(*), MIN("row"), MAX("row") FROM configuration WHERE run_id = :run')
    n, first, last = connection.execute(query, {"run": run_id}).one()
    return int(n), int(first or 0), int(last or 0)


def _outside(connection: Connection, run: "Run") -> Iterator[str]:
    """Indices beyond the run's own lists."""
    lists = {f"t{i}": len(tunable["domain"]) for i, tunable in enumerate(run.tunables)}
    lists |= {"verdict": len(run.verdicts), "rule": len(run.rules), "bound": len(run.pipes)}
    cells = ", ".join(f"MIN({name}), MAX({name})" for name in lists)
    found = connection.execute(text(f"SELECT {cells} FROM configuration WHERE run_id = :run"), {"run": run.id}).one()
    for i, (name, n) in enumerate(lists.items()):
        lowest, highest = found[2 * i : 2 * i + 2]
        if lowest is None:
            continue
        # SQLite takes a text into a column of numbers.
        if not (isinstance(lowest, int) and isinstance(highest, int) and lowest >= 0 and highest < n):
            yield f"has values of '{name}' from {lowest} to {highest} and lists {n} for it: delete it and tune again"


def _summary(connection: Connection, run: "Run") -> Iterator[str]:
    """Whether counts and best configuration are those of the rows."""
    query = "SELECT verdict, COUNT(*) FROM configuration WHERE run_id = :run GROUP BY verdict"
    rows = {int(verdict): int(n) for verdict, n in connection.execute(text(query), {"run": run.id})}
    there = {run.verdicts[verdict]: n for verdict, n in rows.items() if 0 <= verdict < len(run.verdicts)}
    said = {verdict: n for verdict, by in run.counts.items() if (n := _total(by))}
    stored_too = {verdict for verdict in {*said, *there} if verdict != _COUNTED_ALONE}
    few = said.get(_COUNTED_ALONE, 0) < there.get(_COUNTED_ALONE, 0)
    if run.counts and (few or any(said.get(v, 0) != there.get(v, 0) for v in stored_too)):
        yield f"counts {said} and its rows are {there}: delete it and tune again"
    if run.best_row is None:
        return
    best = connection.execute(
        text('SELECT verdict, cycles FROM configuration WHERE run_id = :run AND "row" = :row'),
        {"run": run.id, "row": run.best_row},
    ).one_or_none()
    if best is None:
        yield f"has no row {run.best_row}, which it calls its best: delete it and tune again"
        return
    verdict, cycles = best
    fastest = connection.execute(
        text("SELECT MIN(cycles) FROM configuration WHERE run_id = :run AND verdict = :verdict AND cycles IS NOT NULL"),
        {"run": run.id, "verdict": verdict},
    ).scalar_one()
    if not cycles == run.best_cycles == fastest:
        yield (
            f"calls {run.best_cycles} cycles its best, its row {run.best_row} has {cycles} and the fastest {fastest}: "
            "delete it and tune again"
        )


def _total(by_rule: Any) -> int:
    return sum(by_rule.values()) if isinstance(by_rule, dict) else int(by_rule)
