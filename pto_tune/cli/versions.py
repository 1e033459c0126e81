"""The numbers of `pto-tune --version`: one for the program, one for each kind of thing that outlives it."""

from __future__ import annotations


def lines() -> list[str]:
    """The program's version, and those of the schemas of results, platform files and stores."""
    from cost_models.schema import SCHEMA as PLATFORM_SCHEMA
    from db.revisions import HEAD
    from pto_tune import RESULT_SCHEMA, __version__

    return [
        f"pto-tune {__version__}",
        f"result schema {RESULT_SCHEMA}, platform schema {PLATFORM_SCHEMA}, database schema {HEAD}",
    ]
