"""The schema and its revisions.

``data/v0.1.0.sqlite`` is a store as release 0.1.0 wrote it: two runs, one of them with configurations and
accounts. ``data/v0.2.0.sqlite`` is the same store with two measurements, as release 0.2.0 wrote it. Both are kept
as they are; a later release has to read them.
"""

import contextlib
import logging
import shutil
import sqlite3
from datetime import UTC
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

import db
from db.columns import COLUMNS
from db.engine import Database
from db.models import Base, ConfigurationRow, expected_on
from db.opening import MIGRATIONS
from db.revisions import HEAD, REVISIONS
from db.urls import parse_target

KEPT = Path(__file__).parent / "data"


def schema(path: Path) -> set[str]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return {sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")}


def test_the_revisions_are_one_line_and_those_that_opening_knows() -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    scripts = ScriptDirectory.from_config(config)
    assert scripts.get_heads() == [HEAD]
    assert [script.revision for script in scripts.walk_revisions()] == list(reversed(REVISIONS))


def test_the_migrated_schema_is_that_of_the_models(url: str) -> None:
    db.open_store(url).close()
    database = Database(parse_target(url), create=False)
    with database.read() as connection:
        options = {"compare_type": True, "include_object": expected_on(connection.dialect.name)}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, Base.metadata) == []
    database.close()


def test_the_columns_of_the_interface_are_those_of_the_table() -> None:
    table = ConfigurationRow.__table__
    sizes = {"SMALLINT": 16, "INTEGER": 32, "BIGINT": 64}
    in_table = [(column.name, sizes[str(column.type)], column.nullable) for column in table.columns]
    assert in_table[0] == ("run_id", 32, False)
    assert in_table[1:] == [(column.name, column.bits, column.nullable) for column in COLUMNS]


def test_a_new_store_has_the_schema_of_the_kept_one(tmp_path: Path) -> None:
    """A released revision is never edited: a new store and an upgraded one are the same."""
    path = tmp_path / "new.db"
    db.open_store(f"sqlite:///{path}").close()
    upgraded = tmp_path / "old.db"
    shutil.copy(KEPT / "v0.1.0.sqlite", upgraded)
    db.open_store(f"sqlite:///{upgraded}").close()
    assert schema(path) == schema(upgraded)
    assert len(schema(path)) == 9


def test_measurements_of_an_older_release_are_read(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    shutil.copy(KEPT / "v0.2.0.sqlite", path)
    with db.open_store(f"sqlite:///{path}", create=False) as store:
        first, second = store.measurements()
        assert first.configuration == {"s0": 4096, "split": "UP_DOWN"}
        assert (first.workload, first.family, first.soc, first.platform) == (
            "flash_attention", "a2a3", "Ascend 910B2 (24 AIC)", "ascend910b2"
        )  # fmt: skip
        assert (first.value, first.metric, first.timing, first.pto_isa) == (88.875, "us", "event", "0a15e15c")
        assert (first.repeats, first.spread, first.minimum, first.maximum) == (20, 0.5, 88.25, 90.5)
        assert (first.source, first.note) == ("融合.csv", "")
        assert (second.value, second.metric, second.platform, second.repeats) == (1.0, "cycles", None, None)
        assert first.imported_at.tzinfo is UTC
        assert store.add_measurements([first, second]) == (0, 2)


def test_a_store_without_measurements_gets_their_table(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    shutil.copy(KEPT / "v0.1.0.sqlite", path)
    with db.open_store(f"sqlite:///{path}", create=False) as store:
        assert store.measurements() == []
        assert len(store.runs()) == 2


def test_a_migration_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    migrations = tmp_path / "100% broken"
    shutil.copytree(MIGRATIONS, migrations, ignore=shutil.ignore_patterns("__pycache__"))
    script = migrations / "versions" / "v0_1_0.py"
    text = script.read_text("utf-8")
    broken = text.replace(
        '    op.create_table(\n        "account"',
        '    raise RuntimeError("half-way")\n    op.create_table(\n        "account"',
    )
    assert broken != text
    script.write_text(broken, "utf-8")
    path = tmp_path / "x.db"
    with monkeypatch.context() as patched:
        patched.setattr("db.opening.MIGRATIONS", migrations)
        with pytest.raises(RuntimeError, match="half-way"):
            db.open_store(f"sqlite:///{path}")
    assert schema(path) == set()
    with db.open_store(f"sqlite:///{path}") as store:
        assert store.runs() == []


def test_a_migration_leaves_the_hosts_loggers_alone(tmp_path: Path) -> None:
    root = logging.getLogger()
    before = (root.level, list(root.handlers), logging.getLogger("alembic").disabled)
    db.open_store(f"sqlite:///{tmp_path}/x.db").close()
    assert (root.level, list(root.handlers), logging.getLogger("alembic").disabled) == before
