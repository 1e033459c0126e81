"""The command `pto-tune`: put together from the entry points of the group `pto_tune.commands`.

Each entry point is a function `register(app: typer.Typer) -> None`. Without an installation there are none,
and this package's own commands are used. Nothing heavy is imported here or in the modules of the commands.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import typer
from typer.core import TyperGroup

from pto_tune._rooms import check_loaded
from pto_tune.cli import errors

GROUP = "pto_tune.commands"

OWN = (
    "tune",
    "import",
    "lint",
    "evaluate",
    "explain",
    "show",
    "export",
    "rank",
    "robust",
    "runs",
    "db",
    "check",
    "platforms",
    "workloads",
    "space",
    "rules",
    "measure",
    "calibrate",
    "bench",
    "doctor",
    "demo",
)
"""Commands of this package, in the order in which the help lists them; each is a module beside this one."""

_MODULES = {"import": "import_"}
"""Modules that cannot have the name of their command."""

_DISTRIBUTION = "pto-tune"

Register = Callable[[typer.Typer], None]


class Commands(TyperGroup):
    """The root command: every way to fail ends in a sentence on stderr and an exit code."""

    def main(self, *args: Any, **options: Any) -> Any:
        options["standalone_mode"] = False
        try:
            code = super().main(*args, **options)
            sys.stdout.flush()
        except KeyboardInterrupt:
            code = errors.INTERRUPTED
        except Exception as error:
            code = _aborted() if isinstance(error, typer.Abort) else errors.report(error)
        if code == errors.INTERRUPTED:
            errors.complain("stopped")
        sys.exit(code if isinstance(code, int) else errors.OK)

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        from pto_tune.cli import settings

        # what the parser puts below options and environment
        extra.setdefault("default_map", settings.defaults(self))
        return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:  # the parser would end with the code of a failed check
            raise typer.Exit(errors.report(error)) from error

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        own = [name for name in OWN if name in self.commands]
        return own + sorted(self.commands.keys() - set(OWN))


def _aborted() -> int:
    errors.complain("an answer was asked for and none came: nothing was done")
    return errors.WRONG_USE


def build_app() -> typer.Typer:
    """The whole command line. A command of another package that cannot be loaded is reported and left out."""
    app = typer.Typer(
        name="pto-tune",
        cls=Commands,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback(invoke_without_command=True)(_root)
    for name, load in _registers().items():
        try:
            load()(app)
        except Exception as error:
            if name in OWN:
                raise
            errors.complain(f"the command {name!r} cannot be loaded: {type(error).__name__}: {error}")
    check_loaded()
    return app


def _registers() -> dict[str, Callable[[], Register]]:
    """How to get the register function of each command. The entry points decide; what they lack of our own
    (no installation, or one older than the source) is taken from this package."""

    def own(name: str) -> Callable[[], Register]:
        return lambda: import_module(module_of(name)).register

    found: dict[str, Callable[[], Register]] = {name: own(name) for name in OWN}
    # Ours last: no other package takes the place of one of our commands.
    for point in sorted(entry_points(group=GROUP), key=lambda p: (_is_ours(p), p.name)):
        found[point.name] = point.load
    return found


def module_of(command: str) -> str:
    """The module of a command of this package."""
    return f"pto_tune.cli.{_MODULES.get(command, command)}"


def _is_ours(point: EntryPoint) -> bool:
    return point.dist is not None and point.dist.name == _DISTRIBUTION


def _version(wanted: bool) -> None:
    if wanted:
        from pto_tune.cli.versions import lines

        typer.echo("\n".join(lines()))
        raise typer.Exit


def _root(
    ctx: typer.Context,
    version: bool = typer.Option(  # noqa: ARG001
        False, "--version", callback=_version, is_eager=True, help="Print the versions and exit."
    ),
    verbose: int = typer.Option(
        0, "--verbose", "-v", count=True, help="Say on stderr what is done; -vv says everything.", show_default=False
    ),
) -> None:
    """Predict how long a PTO kernel takes on an Ascend NPU, without a board, and find its best configuration.

    Start with 'pto-tune demo', or see what there is with 'pto-tune workloads', 'pto-tune platforms' and
    'pto-tune rules'.

    \b
    Example:
      pto-tune tune flash_attention --platform ascend910b2 --set s0=4096 --set s1=4096
      pto-tune explain latest
      pto-tune export latest -o best.hpp

    Exit codes: 0 done, 1 no legal configuration or a failed check, 2 wrong use.
    """
    from pto_tune.cli import logs

    logs.show(verbose)
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help(), err=True)
        raise typer.Exit(errors.WRONG_USE)


def main() -> None:
    """Run the command line of this process."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A name in Chinese on a terminal of another encoding is shown by its code, not refused.
            stream.reconfigure(errors="backslashreplace")
    try:
        app = build_app()
    except ImportError as error:
        if errors.debugging():
            raise
        errors.complain(" ".join(str(error).split()))
        sys.exit(errors.WRONG_USE)
    app(prog_name="pto-tune")


if __name__ == "__main__":
    main()
