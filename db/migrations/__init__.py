"""Alembic's folder: ``env.py`` and one file a schema revision, named by the release that brought it."""
