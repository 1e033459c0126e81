"""`pto-tune platforms`: the chips that are known, every number of one, and the check of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pto_tune.cli import errors, options, output, text

if TYPE_CHECKING:
    from cost_models.number import Number


def register(app: typer.Typer) -> None:
    """Add the command group `platforms` to `app`."""
    group = typer.Typer(rich_markup_mode=None)
    group.callback(invoke_without_command=True)(platforms)
    group.command(name="list", short_help="The platforms that come with pto-tune.")(list_platforms)
    group.command(name="show", short_help="Every number of one platform, with unit and source.")(show)
    group.command(name="check", short_help="Check a platform file of your own.")(check)
    app.add_typer(group, name="platforms", short_help="The chips: list, show, check a file.")


def platforms(ctx: typer.Context, as_json: options.Json = False) -> None:
    """The chips that times can be predicted for: list them, show one, check a file of your own.

    A platform is a TOML file of numbers, each with its unit, how it is known and where from. A file of your
    own can inherit from a built-in one and is used by its path wherever a platform is asked for.

    \b
    Example:
      pto-tune platforms list
      pto-tune platforms show ascend910b2
      pto-tune platforms check my-board.toml
    """
    if ctx.invoked_subcommand is None:
        list_platforms(as_json)
    else:
        options.options_follow_the_command(ctx)


def list_platforms(as_json: options.Json = False) -> None:
    """List the platforms that come with pto-tune.

    \b
    Example:
      pto-tune platforms list --json
    """
    from cost_models.platform import load_platform, platform_names

    found = [load_platform(name) for name in platform_names()]
    if as_json:
        output.as_json(
            [{"name": p.name, "family": p.family, "soc": p.soc, "description": p.description} for p in found]
        )
        return
    output.table(["name", "family", "chip", "description"], ([p.name, p.family, p.soc, p.description] for p in found))


def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A platform's name, or the path of a file.")],
    as_json: options.Json = False,
) -> None:
    """Show every number of a platform: value, unit, how it is known, and its source.

    'spec' is published by the vendor, 'measured' was measured on a board, 'fitted' was fitted to
    measurements, 'assumed' has no published figure behind it.

    \b
    Example:
      pto-tune platforms show ascend910b2
    """
    from cost_models.platform import load_platform

    platform = load_platform(name)
    if as_json:
        output.as_json(
            {
                "name": platform.name,
                "family": platform.family,
                "soc": platform.soc,
                "description": platform.description,
                "sha256": platform.sha256,
                "numbers": [_number(n) for n in platform.numbers.values()],
            }
        )
        return
    output.say(f"{platform.name} ({platform.soc}, family {platform.family}): {platform.description}")
    output.say(f"sha256 {platform.sha256}")
    output.say()
    output.table(
        ["number", "value", "unit", "kind", "source", "note"],
        ([n.key, f"{n.value:.10g}{_range(n)}", n.unit, n.kind, n.source, n.note] for n in platform.numbers.values()),
        right=["value"],
    )


def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A platform file (.toml).")],
    as_json: options.Json = False,
) -> None:
    """Check a platform file and report everything that is wrong with it.

    \b
    Example:
      pto-tune platforms check my-board.toml

    Exit code 1: something is wrong with the file.
    """
    from cost_models.platform import check_file

    if not file.exists():
        raise ValueError(f"{file}: there is no such file; give the path of a platform file")
    wrong = check_file(file)
    if as_json:
        output.as_json({"file": str(file), "errors": wrong})
    if wrong:
        if as_json:
            raise typer.Exit(errors.FAILED)
        raise errors.CheckFailed("\n".join(wrong))
    if not as_json:
        output.say(f"{file}: nothing is wrong with it")


def _range(n: Number) -> str:
    if n.low is None and n.high is None:
        return ""
    low, high = (text.NOTHING if x is None else f"{x:.10g}" for x in (n.low, n.high))
    return f" ({low} to {high})"


def _number(n: Number) -> dict[str, Any]:
    return {
        "key": n.key,
        "value": n.value,
        "unit": n.unit,
        "kind": n.kind,
        "source": n.source,
        "note": n.note,
        "low": n.low,
        "high": n.high,
        "base": n.base,
        "base_unit": n.base_unit,
    }
