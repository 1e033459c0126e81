"""The tables: ``run``, ``configuration``, ``account`` and ``measurement``, one schema for SQLite and PostgreSQL.

A configuration is a row of integers. Its tunables ``t0``, ``t1``, ... are indices into the run's own list of
domains, its ``rule``, ``verdict`` and ``bound`` indices into the run's own lists of names. A value that is
not there is NULL; no number stands for "none".
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    DateTime,
    Dialect,
    Float,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    SmallInteger,
    Text,
    text,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.sql.expression import FunctionElement
from sqlalchemy.types import TypeDecorator

RUN_STATES = ("running", "done", "stopped", "failed")
ACCOUNT_KINDS = ("busy", "wait")


class UtcDateTime(TypeDecorator[datetime]):
    """A moment: always aware and in UTC once read, whatever the database's session thinks of zones."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class DatabaseNow(FunctionElement[datetime]):
    """The database's own clock, so that the writers of one store need no common clock."""

    type = UtcDateTime()
    inherit_cache = True


@compiles(DatabaseNow, "sqlite")
def _sqlite_now(_element: Any, _compiler: Any, **_options: Any) -> str:
    return "strftime('%Y-%m-%d %H:%M:%f', 'now')"


@compiles(DatabaseNow, "postgresql")
def _postgresql_now(_element: Any, _compiler: Any, **_options: Any) -> str:
    return "clock_timestamp()"


_ONLY_ON = "only on"


def expected_on(dialect: str) -> Callable[..., bool]:
    """Alembic's ``include_object``: leaves out what only other databases have."""

    def include(thing: Any, *_: Any) -> bool:
        return bool(thing.info.get(_ONLY_ON, dialect) == dialect)

    return include


class Base(DeclarativeBase):
    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


class RunRow(Base):
    """One search or evaluation. Times in UTC, clock in MHz, launch overhead in microseconds."""

    __tablename__ = "run"

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    name: Mapped[str] = mapped_column(Text, unique=True)
    state: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    heartbeat_at: Mapped[datetime] = mapped_column(UtcDateTime)
    finished_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    message: Mapped[str] = mapped_column(Text)
    workload: Mapped[str] = mapped_column(Text)
    workload_json: Mapped[str] = mapped_column(Text)
    problem_json: Mapped[str] = mapped_column(Text)
    platform: Mapped[str] = mapped_column(Text)
    platform_sha256: Mapped[str] = mapped_column(Text)
    rule_set: Mapped[str] = mapped_column(Text)
    pto_isa: Mapped[str | None] = mapped_column(Text)
    timing: Mapped[str] = mapped_column(Text)
    strategy: Mapped[str] = mapped_column(Text)
    seed: Mapped[int] = mapped_column(BigInteger)
    objectives_json: Mapped[str] = mapped_column(Text)
    spec_sha256: Mapped[str] = mapped_column(Text, index=True)
    versions_json: Mapped[str] = mapped_column(Text)
    tunables_json: Mapped[str] = mapped_column(Text)
    rules_json: Mapped[str] = mapped_column(Text)
    verdicts_json: Mapped[str] = mapped_column(Text)
    pipes_json: Mapped[str] = mapped_column(Text)
    columns_json: Mapped[str] = mapped_column(Text)
    clock_mhz: Mapped[float] = mapped_column(Float(53))
    launch_us: Mapped[float] = mapped_column(Float(53))
    n_candidates: Mapped[int] = mapped_column(BigInteger)
    n_evaluated: Mapped[int] = mapped_column(BigInteger)
    counts_json: Mapped[str] = mapped_column(Text)
    best_row: Mapped[int | None] = mapped_column(Integer)
    best_cycles: Mapped[int | None] = mapped_column(BigInteger)
    # How often a writer has taken the run up; what an earlier one still writes is refused.
    epoch: Mapped[int] = mapped_column(Integer, server_default="0")

    __table_args__ = (
        CheckConstraint("state IN ('running', 'done', 'stopped', 'failed')", name="state"),
        # The number of a deleted run must never name another one.
        {"sqlite_autoincrement": True},
    )


class ConfigurationRow(Base):
    """One configuration of a run: tunables as indices, verdict, cycles, bytes by memory."""

    __tablename__ = "configuration"

    run_id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    row: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    t0: Mapped[int | None] = mapped_column(SmallInteger)
    t1: Mapped[int | None] = mapped_column(SmallInteger)
    t2: Mapped[int | None] = mapped_column(SmallInteger)
    t3: Mapped[int | None] = mapped_column(SmallInteger)
    t4: Mapped[int | None] = mapped_column(SmallInteger)
    t5: Mapped[int | None] = mapped_column(SmallInteger)
    t6: Mapped[int | None] = mapped_column(SmallInteger)
    t7: Mapped[int | None] = mapped_column(SmallInteger)
    t8: Mapped[int | None] = mapped_column(SmallInteger)
    t9: Mapped[int | None] = mapped_column(SmallInteger)
    t10: Mapped[int | None] = mapped_column(SmallInteger)
    t11: Mapped[int | None] = mapped_column(SmallInteger)
    t12: Mapped[int | None] = mapped_column(SmallInteger)
    t13: Mapped[int | None] = mapped_column(SmallInteger)
    t14: Mapped[int | None] = mapped_column(SmallInteger)
    t15: Mapped[int | None] = mapped_column(SmallInteger)
    verdict: Mapped[int] = mapped_column(SmallInteger)
    rule: Mapped[int | None] = mapped_column(SmallInteger)
    cycles: Mapped[int | None] = mapped_column(BigInteger)
    ub: Mapped[int | None] = mapped_column(BigInteger)
    l1: Mapped[int | None] = mapped_column(BigInteger)
    l0a: Mapped[int | None] = mapped_column(BigInteger)
    l0b: Mapped[int | None] = mapped_column(BigInteger)
    l0c: Mapped[int | None] = mapped_column(BigInteger)
    gm_ring: Mapped[int | None] = mapped_column(BigInteger)
    gm_traffic: Mapped[int | None] = mapped_column(BigInteger)
    bound: Mapped[int | None] = mapped_column(SmallInteger)
    stretch_milli: Mapped[int | None] = mapped_column(Integer)
    busy_cube: Mapped[int | None] = mapped_column(BigInteger)
    busy_vector: Mapped[int | None] = mapped_column(BigInteger)

    __table_args__ = (
        # PostgreSQL would look the run up for every row, which takes longer than adding it (see revision v0.3.0).
        ForeignKeyConstraint(["run_id"], ["run.id"], ondelete="CASCADE", info={_ONLY_ON: "sqlite"}),
        Index(
            None,
            "run_id",
            "verdict",
            "cycles",
            sqlite_where=text("cycles IS NOT NULL"),
            postgresql_where=text("cycles IS NOT NULL"),
        ),
        # Rows live in the key's own tree: one tree less to write and a run's rows lie side by side.
        {"sqlite_with_rowid": False},
    )


class AccountRow(Base):
    """Busy or waiting cycles of one pipe or channel in one configuration."""

    __tablename__ = "account"

    run_id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    row: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    kind: Mapped[str] = mapped_column(Text, primary_key=True)
    name: Mapped[str] = mapped_column(Text, primary_key=True)
    cycles: Mapped[int] = mapped_column(BigInteger)

    __table_args__ = (
        ForeignKeyConstraint(["run_id", "row"], ["configuration.run_id", "configuration.row"], ondelete="CASCADE"),
        CheckConstraint("kind IN ('busy', 'wait')", name="kind"),
        {"sqlite_with_rowid": False},
    )


class MeasurementRow(Base):
    """A time that a board needed for one configuration; value, spread, minimum and maximum in the unit ``metric``."""

    __tablename__ = "measurement"

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    workload: Mapped[str] = mapped_column(Text)
    configuration_json: Mapped[str] = mapped_column(Text)
    family: Mapped[str] = mapped_column(Text)
    soc: Mapped[str] = mapped_column(Text)
    platform: Mapped[str | None] = mapped_column(Text)
    pto_isa: Mapped[str | None] = mapped_column(Text)
    timing: Mapped[str] = mapped_column(Text)
    metric: Mapped[str] = mapped_column(Text)
    value: Mapped[float] = mapped_column(Float(53))
    repeats: Mapped[int | None] = mapped_column(Integer)
    spread: Mapped[float | None] = mapped_column(Float(53))
    minimum: Mapped[float | None] = mapped_column(Float(53))
    maximum: Mapped[float | None] = mapped_column(Float(53))
    source: Mapped[str] = mapped_column(Text)
    note: Mapped[str] = mapped_column(Text)
    imported_at: Mapped[datetime] = mapped_column(UtcDateTime)
    digest: Mapped[str] = mapped_column(Text, unique=True)

    __table_args__ = (
        CheckConstraint("metric IN ('us', 'cycles')", name="metric"),
        CheckConstraint("value > 0", name="value"),
        Index(None, "workload", "platform"),
        {"sqlite_autoincrement": True},
    )
