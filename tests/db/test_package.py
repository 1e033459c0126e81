"""The room: what it imports, and what importing it costs."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import db

ROOM = Path(db.__file__).parent


def test_the_room_carries_its_marker() -> None:
    assert db.PTO_TUNE_ROOM == "db"


def test_importing_it_loads_nothing_heavy() -> None:
    program = (
        "import sys, db\n"
        "assert db.PTO_TUNE_ROOM == 'db'\n"
        "heavy = {'sqlalchemy', 'alembic', 'numpy', 'psycopg', 'pandas'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "db.RunSpec, db.Run, db.StoreError\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "db.Store, db.open_store\n"
        "assert not {'alembic', 'numpy', 'psycopg', 'pandas'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=ROOM.parent, check=True, timeout=60)


def test_everything_public_is_there_and_nothing_else() -> None:
    for name in db.__all__:
        assert getattr(db, name) is not None
        assert name in dir(db)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        db.nothing  # noqa: B018


def test_a_store_error_is_a_value_error() -> None:
    assert issubclass(db.StoreError, ValueError)


def test_the_room_imports_no_other_room() -> None:
    found = set()
    for file in ROOM.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add((node.module or "").partition(".")[0])
    assert "sqlalchemy" in found
    assert not found & {"pto_tune", "cost_models", "dashboards"}
