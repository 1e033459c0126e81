"""The first schema: runs, configurations, accounts.

Revision v0.1.0, after none. Released, hence never edited: a change of the schema is a revision of its own.
"""

import sqlalchemy as sa
from alembic import op

revision = "v0.1.0"
down_revision = None
branch_labels = None
depends_on = None

_RUN_TEXTS_AFTER_FINISH = (
    "message",
    "workload",
    "workload_json",
    "problem_json",
    "platform",
    "platform_sha256",
    "rule_set",
)
_RUN_JSONS = (
    "objectives_json",
    "spec_sha256",
    "versions_json",
    "tunables_json",
    "rules_json",
    "verdicts_json",
    "pipes_json",
    "columns_json",
)
_BYTES = ("ub", "l1", "l0a", "l0b", "l0c", "gm_ring", "gm_traffic")


def upgrade() -> None:
    op.create_table(
        "run",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("heartbeat_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True)),
        *(sa.Column(name, sa.Text(), nullable=False) for name in _RUN_TEXTS_AFTER_FINISH),
        sa.Column("pto_isa", sa.Text()),
        sa.Column("timing", sa.Text(), nullable=False),
        sa.Column("strategy", sa.Text(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in _RUN_JSONS),
        sa.Column("clock_mhz", sa.Float(53), nullable=False),
        sa.Column("launch_us", sa.Float(53), nullable=False),
        sa.Column("n_candidates", sa.BigInteger(), nullable=False),
        sa.Column("n_evaluated", sa.BigInteger(), nullable=False),
        sa.Column("counts_json", sa.Text(), nullable=False),
        sa.Column("best_row", sa.Integer()),
        sa.Column("best_cycles", sa.BigInteger()),
        sa.PrimaryKeyConstraint("id", name="pk_run"),
        sa.UniqueConstraint("name", name="uq_run_name"),
        sa.CheckConstraint("state IN ('running', 'done', 'stopped', 'failed')", name=op.f("ck_run_state")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_run_spec_sha256", "run", ["spec_sha256"])
    op.create_table(
        "configuration",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("row", sa.Integer(), autoincrement=False, nullable=False),
        *(sa.Column(f"t{index}", sa.SmallInteger()) for index in range(16)),
        sa.Column("verdict", sa.SmallInteger(), nullable=False),
        sa.Column("rule", sa.SmallInteger()),
        sa.Column("cycles", sa.BigInteger()),
        *(sa.Column(name, sa.BigInteger()) for name in _BYTES),
        sa.Column("bound", sa.SmallInteger()),
        sa.Column("stretch_milli", sa.Integer()),
        sa.Column("busy_cube", sa.BigInteger()),
        sa.Column("busy_vector", sa.BigInteger()),
        sa.PrimaryKeyConstraint("run_id", "row", name="pk_configuration"),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_configuration_run_id_run", ondelete="CASCADE"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_configuration_run_id_verdict_cycles", "configuration", ["run_id", "verdict", "cycles"])
    op.create_table(
        "account",
        sa.Column("run_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("row", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("cycles", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "row", "kind", "name", name="pk_account"),
        sa.ForeignKeyConstraint(
            ["run_id", "row"],
            ["configuration.run_id", "configuration.row"],
            name="fk_account_run_id_row_configuration",
            ondelete="CASCADE",
        ),
        sa.CheckConstraint("kind IN ('busy', 'wait')", name=op.f("ck_account_kind")),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    op.drop_table("account")
    op.drop_table("configuration")
    op.drop_table("run")
