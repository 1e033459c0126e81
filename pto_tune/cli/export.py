"""`pto-tune export`: a configuration of a run as a C++ header for the kernel's build."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pto_tune.cli import options, output, stored
from pto_tune.cli.errors import CheckFailed

if TYPE_CHECKING:
    from db import Run

NAMESPACE = "pto_tune_config"


def register(app: typer.Typer) -> None:
    """Add the command `export` to `app`."""
    app.command(name="export", short_help="Write a configuration as a C++ header.")(export)


def export(
    run: options.Run,
    row: options.Row = None,
    best: Annotated[bool, typer.Option("--best", help="The best configuration (the default).")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE.hpp",
            help="Where to write the header.",
            show_default="pto_tune_<workload>.hpp",
        ),
    ] = None,
    namespace: Annotated[
        str, typer.Option("--namespace", metavar="NS", help="C++ namespace of everything in the header.")
    ] = NAMESPACE,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite a file that was changed by hand or is not ours.")
    ] = False,
    platform: options.RunPlatform = None,
    db: options.Db = None,
) -> None:
    """Write a configuration of a run as a C++ header: constants, TPipe and TMPipe aliases, checks at compile time.

    The header carries where it comes from, what was predicted, and in comments what the kernel has to do. It does not
    compile for another platform family, nor with a pipe library that derives another SyncPeriod than the recommended
    one.

    \b
    Examples:
      pto-tune export latest -o best.hpp
      pto-tune export 3 --row 118 --namespace my_kernel::config

    Exit code 1: the configuration is unsafe, or no header can carry it.
    """
    if best and row is not None:
        raise ValueError("--best and --row exclude each other: give one of them")
    from db import open_store

    with open_store(db, create=False) as store:
        found = store.find_run(run)
        entry = stored.entry_of(store, found, row)
    target = out or Path(f"pto_tune_{found.workload}.hpp")
    path = write(found, entry, platform, target, namespace, force)
    output.say(f"wrote {path} (row {entry['row']} of run {found.id}, namespace {namespace})")


def write(run: Run, entry: dict[str, Any], given: str | None, target: Path, namespace: str, force: bool) -> Path:
    """Write the header of one stored configuration; `given` is a platform instead of the run's own.

    CheckFailed: it cannot be exported, every reason a line. ValueError: the namespace or the file.
    """
    from pto_tune import api
    from pto_tune.exporters.checks import faults
    from pto_tune.exporters.header import write_header
    from pto_tune.exporters.names import namespace_fault

    wrong = namespace_fault(namespace)
    if wrong is not None:
        raise ValueError(f"--namespace {namespace!r}: {wrong}; a name such as {NAMESPACE!r} would be right")
    if entry["verdict"] != "ok":
        rule = f" (rule {entry['rule']})" if entry["rule"] else ""
        raise CheckFailed(
            f"row {entry['row']} of run {run.name!r} is not exported, its verdict is "
            f"{entry['verdict']!r}{rule}: choose a row that 'pto-tune show' lists"
        )
    platform = stored.platform_of(run, given)
    model, revision = stored.workload_of(run), stored.revision_of(run, platform)
    configuration = entry["configuration"]
    # The prediction is made again: the numbers of the platform may have been replaced by --platform.
    (record,) = api.evaluate_records(
        model, configuration, platform=platform, pto_isa=revision, timing=run.timing, accounts=False
    )
    if not record["exportable"]:
        why = ": ".join(filter(None, (record["not_exportable_because"], record["reason"])))
        raise CheckFailed(f"row {entry['row']} of run {run.name!r} is not exported: {why}")
    recommendation = api.recommendation(model, configuration, platform, revision, run.timing, run=run.name)
    found = faults(recommendation, namespace)
    if found:
        raise CheckFailed("\n".join(found))
    return write_header(recommendation, target, force=force, namespace=namespace)
