"""Who writes a run: an epoch that counts how often it was taken up. Bulk writing without a question a row, and an index
by cycles of those rows alone that have any: most of a space is refused, and its entries cost the most.

PostgreSQL asks for the run of every configuration that is added, which takes longer than adding it. A writer holds
the run's row for the length of its transaction anyway, so that no run is deleted under what it adds; deleting a run
deletes its configurations by name. SQLite asks cheaply, and cannot drop a constraint.

Revision v0.3.0, after v0.2.0.
"""

import sqlalchemy as sa
from alembic import op

revision = "v0.3.0"
down_revision = "v0.2.0"
branch_labels = None
depends_on = None

_INDEX = "ix_configuration_run_id_verdict_cycles"


def upgrade() -> None:
    op.add_column("run", sa.Column("epoch", sa.Integer(), server_default="0", nullable=False))
    if op.get_bind().dialect.name == "postgresql":
        op.drop_constraint("fk_configuration_run_id_run", "configuration", type_="foreignkey")
    op.drop_index(_INDEX, "configuration")
    timed = sa.text("cycles IS NOT NULL")
    op.create_index(
        _INDEX, "configuration", ["run_id", "verdict", "cycles"], sqlite_where=timed, postgresql_where=timed
    )


def downgrade() -> None:
    op.drop_index(_INDEX, "configuration")
    op.create_index(_INDEX, "configuration", ["run_id", "verdict", "cycles"])
    if op.get_bind().dialect.name == "postgresql":
        op.create_foreign_key(
            "fk_configuration_run_id_run", "configuration", "run", ["run_id"], ["id"], ondelete="CASCADE"
        )
    op.drop_column("run", "epoch")
