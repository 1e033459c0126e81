"""Checking a store: a whole one has nothing to say, and each kind of damage is found."""

from collections.abc import Callable

import numpy as np
import pytest

import db
from db import Run, RunSpec, Store
from db.engine import Database
from db.health import check_store
from db.urls import parse_target

MakeSpec = Callable[..., RunSpec]


def finished(store: Store, spec: RunSpec) -> Run:
    """A run of four configurations: two legal, two refused."""
    run = store.create_run(spec)
    columns = {
        "t0": np.array([0, 1, 2, 0]),
        "verdict": np.array([0, 1, 0, 1]),
        "rule": np.array([0, 1, 0, 0]),
        "cycles": np.array([500, 0, 300, 0]),
    }
    timed = columns["verdict"] == 0
    store.add_configurations(run.id, columns, 0, {"cycles": timed, "rule": ~timed})
    store.progress(run.id, 4)
    store.add_accounts(run.id, [(2, "busy", "AIC.M", 200)])
    counts = {"ok": {"": 2}, "refused": {"ub-capacity": 1, "flag-ids": 1}}
    return store.finish_run(run.id, "done", counts=counts, best_row=2, best_cycles=300)


def change(url: str, *statements: str) -> None:
    """What no program of ours does."""
    target = parse_target(url)
    if target.path is None:
        import psycopg

        with psycopg.connect(url, autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement.encode())
        return
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(target.path, isolation_level=None)) as file:
        for statement in statements:
            file.execute(statement)


def kinds(url: str) -> list[str]:
    return [finding.kind for finding in check_store(url).findings]


def test_a_whole_store_has_nothing_to_say(url: str, spec: MakeSpec) -> None:
    with db.open_store(url) as store:
        finished(store, spec())
        live = store.create_run(spec())
        store.progress(live.id, 3)  # its rows are on their way
    health = check_store(url)
    assert health.findings == ()
    assert (health.runs, health.live, health.configurations, health.accounts, health.measurements) == (2, 1, 4, 1, 0)


def test_a_large_space_counts_more_refused_ones_than_it_stores(url: str, spec: MakeSpec) -> None:
    with db.open_store(url) as store:
        run = finished(store, spec())
    change(url, f"""UPDATE run SET counts_json = '{{"ok": {{"": 2}}, "refused": {{"x": 99}}}}' WHERE id = {run.id}""")
    assert kinds(url) == []


@pytest.mark.parametrize(
    ("statement", "kind", "says"),
    [
        ("DELETE FROM configuration WHERE row = 1", "rows", "some are missing"),
        ("UPDATE run SET n_evaluated = 9", "rows", "says 9 configurations and has 4"),
        ("UPDATE configuration SET t0 = 7 WHERE row = 0", "rows", "'t0' from 0 to 7 and lists 3"),
        ("UPDATE configuration SET verdict = 2 WHERE row = 3", "summary", "counts"),
        ("UPDATE configuration SET cycles = 200 WHERE row = 0", "summary", "the fastest 200"),
        ("UPDATE run SET best_row = 8", "summary", "no row 8"),
        ("UPDATE run SET state = 'running', heartbeat_at = '2020-01-01 00:00:00'", "dead", "no sign of life"),
    ],
)
def test_what_a_run_says_and_what_it_has(url: str, spec: MakeSpec, statement: str, kind: str, says: str) -> None:
    with db.open_store(url) as store:
        run = finished(store, spec())
    change(url, statement)
    findings = check_store(url).findings
    assert (kind, run.id) in {(finding.kind, finding.run) for finding in findings}
    said = [finding.what for finding in findings if finding.kind == kind]
    assert any(says in what for what in said), said
    assert all("\n" not in what and f"run {run.id} " in what for what in said)


def test_rows_without_a_run_are_orphans(url: str, spec: MakeSpec) -> None:
    with db.open_store(url) as store:
        finished(store, spec())
    change(url, "DELETE FROM run")
    (finding,) = check_store(url).findings
    assert (finding.kind, finding.run) == ("orphans", 1)
    assert "4 configurations" in finding.what


def test_a_table_that_was_altered_is_seen(url: str) -> None:
    db.open_store(url).close()
    change(url, "DROP INDEX ix_configuration_run_id_verdict_cycles")
    (finding,) = check_store(url).findings
    assert finding.kind == "schema"
    assert "ix_configuration_run_id_verdict_cycles" in finding.what


def test_pages_that_were_overwritten_are_damage(tmp_path, spec: MakeSpec) -> None:  # type: ignore[no-untyped-def]
    url = f"sqlite:///{tmp_path}/x.db"
    with db.open_store(url) as store:
        run = store.create_run(spec())
        n = 3_000
        columns = {"verdict": np.zeros(n, np.int64), "cycles": np.arange(n)}
        store.add_configurations(run.id, columns, 0)
        store.progress(run.id, n)
        store.finish_run(run.id, "done", counts={"ok": {"": n}}, best_row=0, best_cycles=0)
    database = Database(parse_target(url), create=False)
    with database.read() as connection:
        size = int(connection.exec_driver_sql("PRAGMA page_size").scalar_one())
    database.close()
    content = bytearray((tmp_path / "x.db").read_bytes())
    middle = len(content) // size // 2 * size
    content[middle : middle + 2 * size] = b"\x55" * (2 * size)
    (tmp_path / "x.db").write_bytes(content)
    assert "damage" in kinds(url)
