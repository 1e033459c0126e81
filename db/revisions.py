"""The schema's revisions, named by the release that brought each."""

REVISIONS = ("v0.1.0", "v0.2.0", "v0.3.0")
"""Oldest first. Kept here too, so that opening a store that is up to date need not load Alembic."""

HEAD = REVISIONS[-1]
