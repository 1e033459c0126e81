"""`pto-tune runs`: what the store holds; go on with a run, rename it, delete it."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from pto_tune.cli import options, output, text
from pto_tune.cli.show import best_us, run_facts, show


def register(app: typer.Typer) -> None:
    """Add the command group `runs` to `app`."""
    group = typer.Typer(rich_markup_mode=None)
    group.callback(invoke_without_command=True)(runs)
    group.command(name="list", short_help="All runs, newest first.")(list_runs)
    group.command(name="show", short_help="A run and its best configurations.")(show)
    group.command(name="resume", short_help="Go on with a run that was interrupted.")(resume)
    group.command(name="rename", short_help="Give a run another name.")(rename)
    group.command(name="delete", short_help="Delete a run with everything in it.")(delete)
    app.add_typer(group, name="runs", short_help="Stored runs: list, show, resume, rename, delete.")


def runs(ctx: typer.Context, db: options.Db = None, as_json: options.Json = False) -> None:
    """The runs that 'pto-tune tune' left in the store: list, show, resume, rename, delete.

    A run is named by its number, its name, or 'latest'.

    \b
    Example:
      pto-tune runs list
      pto-tune runs rename 3 "before the rewrite"
    """
    if ctx.invoked_subcommand is None:
        list_runs(db, as_json)
    else:
        options.options_follow_the_command(ctx)


def list_runs(db: options.Db = None, as_json: options.Json = False) -> None:
    """List all runs, newest first.

    \b
    Example:
      pto-tune runs list --db sqlite:///team.db
    """
    from db import open_store

    with open_store(db, create=False) as store:
        found = store.runs()
    if as_json:
        output.as_json([run_facts(run) for run in found])
        return
    output.table(
        [
            "run",
            "name",
            "state",
            "workload",
            "platform",
            "strategy",
            "evaluated",
            "best (us)",
            "created (UTC)",
        ],
        (
            [
                run.id,
                run.name,
                run.status,
                run.workload,
                run.platform,
                run.strategy,
                f"{run.n_evaluated:,} of {run.n_candidates:,}",
                text.microseconds(best_us(run)),
                f"{run.created_at:%Y-%m-%d %H:%M:%S}",
            ]
            for run in found
        ),
        right=["run", "evaluated", "best (us)"],
    )


def resume(
    run: options.Run,
    platform: options.RunPlatform = None,
    db: options.Db = None,
    scheduler: options.Scheduler = None,
    take_over: options.TakeOver = False,
    quiet: options.Quiet = False,
    top: Annotated[int, typer.Option("--top", metavar="N", min=1, help="Rows to show.")] = 10,
    as_json: options.Json = False,
) -> None:
    """Go on with a run that was stopped or whose program ended before its time.

    The search continues behind the last configuration that the store holds, with the run's own workload,
    platform, domains and seed. So does the command that started it, when it is given again.

    A run that somebody is writing is refused. Its program counts as gone after a minute without a sign of life; the
    run's state is then 'interrupted'.

    \b
    Example:
      pto-tune runs resume latest
      pto-tune runs resume 3 --take-over
    """
    from pto_tune.cli.leaving import two_interrupts
    from pto_tune.cli.progress import Bar
    from pto_tune.cli.tune import dead_after_s, finish

    with Bar(f"resuming {run}", quiet=quiet) as bar, two_interrupts():
        from db import open_store
        from pto_tune import tuning

        with open_store(db, create=False) as store:
            result = tuning.resume(
                store,
                run,
                progress=bar,
                top=top,
                platform=platform,
                scheduler=scheduler,
                dead_after_s=dead_after_s(take_over),
            )
    finish(result, top, as_json)


def rename(
    run: options.Run,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The new name; not a number and not 'latest'.")],
    db: options.Db = None,
) -> None:
    """Give a run another name.

    \b
    Example:
      pto-tune runs rename latest "fa 4096, first try"
    """
    from db import open_store

    with open_store(db, create=False) as store:
        renamed = store.rename_run(run, name)
    output.say(f"run {renamed.id} is now named {renamed.name}")


def delete(
    run: options.Run,
    db: options.Db = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask on a terminal.")] = False,
) -> None:
    """Delete a run with its configurations and accounts. It cannot be brought back.

    On a terminal it asks first; in a script it does not.

    \b
    Example:
      pto-tune runs delete 3 --yes
    """
    from db import open_store

    with open_store(db, create=False) as store:
        found = store.find_run(run)
        label = f"run {found.id}, {text.printable(found.name)}, {found.n_evaluated:,} configurations"
        if not yes and sys.stdin.isatty() and not typer.confirm(f"Delete {label}?"):
            output.say("nothing was deleted")
            return
        store.delete_run(found.id)
    output.say(f"deleted {label}")
