"""`pto-tune demo`: the whole way once, from a workload to a header."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import typer

from pto_tune.cli import errors, export, output, stored
from pto_tune.cli.progress import Bar
from pto_tune.cli.tune import show, stalls

WORKLOAD = "flash_attention"
PLATFORM = "ascend910b2"
PROBLEM = {"s0": 4096, "s1": 4096, "head": 128}
DATABASE = "pto-tune.db"
HEADER = f"pto_tune_{WORKLOAD}.hpp"
REPORT = "report.html"
_PLAIN_IN_URL = "/\\: +=,;()[]{}@!$&'~"


def register(app: typer.Typer) -> None:
    """Add the command `demo` to `app`."""
    app.command(name="demo", short_help="Tune Flash Attention once, from question to header.")(demo)


def demo(
    ctx: typer.Context,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Folder for the store, the header and the report.")
    ] = Path("demo-out"),
) -> None:
    """Tune Flash Attention (S0 = S1 = 4096, head 128) for the Ascend 910B2 and write the header.

    The search is that of 'pto-tune tune'; store, header and report go to one folder.

    \b
    Example:
      pto-tune demo --out demo-out
    """
    out.mkdir(parents=True, exist_ok=True)
    database = out / DATABASE
    url = f"sqlite:///{quote(database.as_posix(), safe=_PLAIN_IN_URL)}"
    with Bar(f"tuning {WORKLOAD}"):
        from db import open_store
        from pto_tune import tuning

        result = tuning.tune(WORKLOAD, platform=PLATFORM, problem=PROBLEM, store=url)
        summary = stalls(result)
    show(result, summary)
    if result.best is None or result.run is None:
        raise errors.CheckFailed("the demo found no legal configuration")
    with open_store(url, create=False) as store:
        run = store.find_run(result.run.id)
        entry = stored.entry_of(store, run, None)
    header = export.write(run, entry, None, out / HEADER, export.NAMESPACE, force=False)
    output.heading("Written")
    output.table(["what", "where"], [["header", header], ["store", database], *_report(ctx, out, url, run.id)])
    output.heading("Next")
    for words in (
        ["explain", "latest", "--db", url, "--trace", str(out / "best.json")],
        ["show", "latest", "--db", url, "--sort", "memory"],
        ["workloads", "show", WORKLOAD],
    ):
        output.say(f"  {shlex.join(['pto-tune', *words])}")


def _report(ctx: typer.Context, out: Path, url: str, run: int) -> list[list[object]]:
    """The page of the run, where an installed package has the command for it."""
    root: Any = ctx.find_root().command
    command = root.get_command(ctx.find_root(), "report")
    if command is None:
        return []
    path = out / REPORT
    command.main(
        args=[str(run), "-o", str(path), "--db", url, "--force"],
        prog_name="pto-tune report",
        standalone_mode=False,
    )
    return [["report", path]]
