"""Measurements: times that boards needed, beside what is predicted.

Revision v0.2.0, after v0.1.0.
"""

import sqlalchemy as sa
from alembic import op

revision = "v0.2.0"
down_revision = "v0.1.0"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "measurement",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("workload", sa.Text(), nullable=False),
        sa.Column("configuration_json", sa.Text(), nullable=False),
        sa.Column("family", sa.Text(), nullable=False),
        sa.Column("soc", sa.Text(), nullable=False),
        sa.Column("platform", sa.Text()),
        sa.Column("pto_isa", sa.Text()),
        sa.Column("timing", sa.Text(), nullable=False),
        sa.Column("metric", sa.Text(), nullable=False),
        sa.Column("value", sa.Float(53), nullable=False),
        sa.Column("repeats", sa.Integer()),
        sa.Column("spread", sa.Float(53)),
        sa.Column("minimum", sa.Float(53)),
        sa.Column("maximum", sa.Float(53)),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("imported_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_measurement"),
        sa.UniqueConstraint("digest", name="uq_measurement_digest"),
        sa.CheckConstraint("metric IN ('us', 'cycles')", name=op.f("ck_measurement_metric")),
        sa.CheckConstraint("value > 0", name=op.f("ck_measurement_value")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_measurement_workload_platform", "measurement", ["workload", "platform"])


def downgrade() -> None:
    op.drop_table("measurement")
