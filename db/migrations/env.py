"""What Alembic runs for each command. The connection comes from the caller, inside its transaction.

There is no ``alembic.ini`` and no logging set-up: a library does not touch its host's loggers.
"""

from alembic import context

from db.models import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    # SQLite cannot alter most of a table: later revisions copy it.
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
