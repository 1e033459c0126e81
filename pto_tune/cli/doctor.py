"""`pto-tune doctor`: what pto-tune runs on here, and what is wrong with it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import NamedTuple

import typer

from pto_tune.cli import options, output
from pto_tune.cli.errors import CheckFailed

FINE, NOTE, WRONG = "ok", "note", "wrong"

LIBRARIES = ("numpy", "numba", "pandas", "sqlalchemy", "alembic", "optuna", "plotly", "dash", "pydantic", "typer")
EXTRAS = {
    "postgres": ("psycopg",),
    "parquet": ("pyarrow",),
    "distributed": ("dask", "distributed"),
    "pto": ("tree-sitter", "tree-sitter-mlir"),
}
"""Distributions behind each extra of `pip install 'pto-tune[...]'`."""


class Finding(NamedTuple):
    """One line: what was looked at, FINE, NOTE or WRONG, and what was found."""

    what: str
    state: str
    found: str


def register(app: typer.Typer) -> None:
    """Add the command `doctor` to `app`."""
    app.command(name="doctor", short_help="Say what pto-tune runs on here, and what is wrong.")(doctor)


def doctor(
    db: options.Db = None,
    as_json: options.Json = False,
) -> None:
    """Look at versions, threads, the folder of compiled kernels, the configuration file and the store.

    No store is made (one of an older release is brought to this one's schema, as by every command), and nothing is
    sent anywhere: what is printed can be pasted into a report of a problem.

    \b
    Example:
      pto-tune doctor --db sqlite:///team.db

    Exit code 1: something keeps pto-tune from working.
    """
    found = list(findings(db))
    if as_json:
        output.as_json([one._asdict() for one in found])
    else:
        output.table(["what", "state", "found"], found)
    wrong = [one for one in found if one.state == WRONG]
    if wrong:
        raise CheckFailed("\n".join(f"{one.what}: {one.found}" for one in wrong))


def findings(db: str | None) -> Iterator[Finding]:
    """All of them."""
    yield from _versions()
    yield _threads()
    yield _kernels()
    yield _settings()
    yield _store(db)


def _versions() -> Iterator[Finding]:
    import platform

    from pto_tune.cli.versions import lines
    from pto_tune.installed import installed

    for line in lines():
        yield Finding("pto-tune", FINE, line)
    old = sys.version_info < (3, 11)
    yield Finding(
        "Python", WRONG if old else FINE, platform.python_version() + (": 3.11 or newer is needed" if old else "")
    )
    system = f"{platform.system()} {platform.machine()}"
    usual = platform.system() == "Linux"
    yield Finding("system", FINE if usual else NOTE, system if usual else f"{system}: only Linux is tested")
    libraries = installed(LIBRARIES)
    for name in LIBRARIES:
        if name in libraries:
            yield Finding(name, FINE, libraries[name])
        else:
            yield Finding(name, WRONG, "is not installed: run pip install pto-tune again")
    for extra, names in EXTRAS.items():
        have = installed(names)
        if len(have) == len(names):
            yield Finding(f"extra {extra}", FINE, ", ".join(f"{name} {number}" for name, number in have.items()))
        else:
            yield Finding(f"extra {extra}", NOTE, f"not there: pip install 'pto-tune[{extra}]'")


def _threads() -> Finding:
    from pto_tune.executor.engine import thread_count

    return Finding("threads", FINE, f"{thread_count()} (of {os.cpu_count()} processors)")


def _kernels() -> Finding:
    from pto_tune.executor.jit import cache_folder, jit_enabled

    if not jit_enabled():
        return Finding(
            "compiled kernels", NOTE, "switched off by PTO_TUNE_NO_JIT: everything is hundreds of times slower"
        )
    folder = cache_folder()
    if folder is None:
        return Finding(
            "compiled kernels",
            NOTE,
            "no folder for them can be written: each start compiles for a minute or two; set PTO_TUNE_CACHE to a "
            "folder that can",
        )
    compiled = any(name.endswith(".nbc") for _, _, names in os.walk(folder) for name in names)
    shown = _short(folder)
    if compiled:
        return Finding("compiled kernels", FINE, shown)
    return Finding("compiled kernels", NOTE, f"none yet in {shown}: the first start compiles for a minute or two")


def _settings() -> Finding:
    from pto_tune.cli import settings

    path = settings.file()
    return Finding("configuration file", FINE, "none" if path is None else _short(str(path)))


def _short(path: str) -> str:
    """A path without the user's name, so that it can be shown around."""
    home = os.path.expanduser("~")
    return "~" + path[len(home) :] if path.startswith(home + os.sep) else path


def _store(db: str | None) -> Finding:
    from db import open_store
    from db.errors import StoreError
    from db.revisions import HEAD
    from db.urls import parse_target, redact

    try:
        target = parse_target(db)
        if target.path is not None and not target.path.exists():
            return Finding("store", NOTE, f"{target.shown} is not there yet: 'pto-tune tune' makes it")
        with open_store(db, create=False) as store:
            n = len(store.runs())
            return Finding("store", FINE, f"{store.url}, schema {HEAD}, {n} run{'' if n == 1 else 's'}")
    except StoreError as error:
        text = redact(" ".join(str(error).split()))
        return Finding("store", NOTE if "no results yet" in text else WRONG, text)
