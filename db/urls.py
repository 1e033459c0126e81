"""Database URLs: which ones are understood, and how they are shown without a password."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from db.errors import StoreError, shorten

if TYPE_CHECKING:
    from sqlalchemy import URL

ENVIRONMENT_VARIABLE = "PTO_TUNE_DB"
DEFAULT_URL = "sqlite:///pto-tune.db"

_SQLITE = ("sqlite", "sqlite+pysqlite")
_POSTGRESQL = ("postgresql", "postgres", "postgresql+psycopg")
_FORMS = "sqlite:///FILE or postgresql://USER@HOST/DATABASE"
_SCHEME = re.compile(r"[A-Za-z0-9+.-]{1,40}:|sqlite|postgres|postgresql")
_SECRET_OPTION = re.compile(r"(?i)(pass\w*|pwd|sslpassword)=[^&]*")


@dataclass(frozen=True)
class Target:
    """A database that a URL names.

    Attributes:
        shown: the URL as it may be shown, without a password.
        path: the absolute file of an SQLite database, None for PostgreSQL.
        url: the SQLAlchemy URL of a PostgreSQL database, None for SQLite.
    """

    shown: str
    path: Path | None = None
    url: "URL | None" = None

    @property
    def secret(self) -> str | None:
        """The password, to be struck out of what a driver says."""
        if self.url is None:
            return None
        option = self.url.query.get("password")
        return self.url.password or (option if isinstance(option, str) else None)


def redact(text: str) -> str:
    """``text`` without what stands before its last ``@`` and without password options."""
    head, at, tail = text.rpartition("@")
    if at:
        scheme, slashes, _ = head.partition("//")
        # What stands before the slashes is shown only where it is a scheme: it may hold the password too.
        text = f"{scheme}{slashes}***@{tail}" if slashes and _SCHEME.fullmatch(scheme) else f"***@{tail}"
    return shorten(_SECRET_OPTION.sub(r"\1=***", text), 200)


def parse_target(url: str | None) -> Target:
    """The database that ``url`` names; None means the environment's ``PTO_TUNE_DB`` or the default file.

    A relative SQLite path is resolved against the current folder once, here. As in every URL, %20 is a space
    and %25 a per cent sign.

    Raises:
        StoreError: the URL is malformed, names another kind of database, or a database in memory.
    """
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    text = url if url is not None else (os.environ.get(ENVIRONMENT_VARIABLE) or DEFAULT_URL)
    malformed = StoreError(f"'{redact(text)}' is not a database URL: write {_FORMS}")
    if any(ord(character) < ord(" ") for character in text):
        raise malformed
    try:
        parsed = make_url(text)
    except (ArgumentError, ValueError):
        raise malformed from None
    if parsed.drivername in _SQLITE:
        return _sqlite_target(text, parsed)
    if parsed.drivername in _POSTGRESQL:
        # One driver only: bulk inserts use COPY through psycopg.
        psycopg_url = parsed.set(drivername="postgresql+psycopg")
        shown = shorten(parsed.set(query={}).render_as_string(hide_password=True), 200)
        return Target(shown=shown, url=psycopg_url)
    raise StoreError(
        f"'{shorten(parsed.drivername, 60)}' in '{redact(text)}' is not a database that results can be "
        f"kept in: write {_FORMS}"
    )


def _sqlite_target(text: str, parsed: "URL") -> Target:
    if parsed.host or parsed.username or parsed.password:
        raise StoreError(f"'{redact(text)}' names a host, but SQLite is a file: write sqlite:///FILE")
    if parsed.query:
        raise StoreError(f"'{redact(text)}' carries options, which SQLite takes none of: write sqlite:///FILE")
    name = parsed.database or ""
    if name in ("", ":memory:") or name.startswith("file:") or "\x00" in name:
        raise StoreError(f"'{shorten(text, 200)}' names no file to keep results in: write sqlite:///FILE")
    return Target(shown=text, path=Path(os.path.abspath(name)))
