"""What the command line says about itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from pto_tune.cli.main import OWN, build_app

ROOT = Path(__file__).resolve().parents[3]
HEAVY = (
    "numpy",
    "pandas",
    "numba",
    "scipy",
    "sqlalchemy",
    "alembic",
    "optuna",
    "plotly",
    "jinja2",
    "pydantic",
)
HELP_CPU_S = 0.5


def commands(group: Any = None, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command and group of commands with the words that call it."""
    group = group or typer.main.get_command(build_app())
    for name, command in sorted(group.commands.items()):
        yield (*path, name), command
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))


ALL = dict(commands())
NAMES = [" ".join(path) for path in ALL]


def test_all_verbs_are_there() -> None:
    for verb in ("runs", "platforms", "workloads"):
        assert {(verb, "list"), (verb, "show")} <= ALL.keys()
    assert {(name,) for name in OWN} <= ALL.keys()
    assert {("runs", "resume"), ("runs", "rename"), ("runs", "delete"), ("platforms", "check")} <= ALL.keys()
    assert ("bench", "executor") in ALL


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_help_with_an_example(name: str, cli: Callable[..., Any]) -> None:
    shown = cli(*name.split(), "--help")
    assert shown.exit_code == 0
    assert shown.stderr == ""
    command = ALL[tuple(name.split())]
    sentence = str(command.help).strip().splitlines()[0]
    assert len(sentence) > 20
    assert "Example" in shown.stdout
    assert f"pto-tune {name.split()[0]}" in shown.stdout


@pytest.mark.parametrize("name", NAMES)
def test_every_option_of_ours_says_what_it_is(name: str) -> None:
    for parameter in ALL[tuple(name.split())].params:
        assert getattr(parameter, "help", None), parameter.name


@pytest.mark.parametrize("name", [" ".join(path) for path in ALL if path[0] in (*OWN, "report")])
def test_every_command_is_in_the_readme(name: str) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    verb, _, rest = name.partition(" ")
    assert f"pto-tune {verb}" in readme
    assert rest in readme


@pytest.mark.parametrize("name", ["tune", "evaluate", "explain"])
def test_the_rule_sets_are_in_the_help_of_the_option_that_takes_them(name: str, cli: Callable[..., Any]) -> None:
    from pto_tune.rule_sets import rule_set_for, rule_sets

    (option,) = [p for p in ALL[name,].params if "--pto-isa" in p.opts]
    shown = cli(name, "--help").stdout
    for board, family in (("910B", "a2a3"), ("950", "a5")):
        assert f"{board}: {', '.join(r.name for r in rule_sets(family))}." in option.help
        assert rule_set_for(family).name in str(option.show_default).split(" or ")
    assert "a5-local-drain" in shown


def test_the_version_is_that_of_the_package(cli: Callable[..., Any]) -> None:
    from pto_tune import __version__

    shown = cli("--version")
    assert (shown.exit_code, shown.stdout.splitlines()[0]) == (0, f"pto-tune {__version__}")


def test_without_a_command_it_shows_its_help_as_wrong_use(cli: Callable[..., Any]) -> None:
    shown = cli()
    assert shown.exit_code == 2
    assert shown.stdout == ""
    assert "Usage: pto-tune" in shown.stderr


def test_starting_loads_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import json, sys; from pto_tune.cli.main import build_app; build_app()\n"
        f"print(json.dumps([m for m in {HEAVY!r} if m in sys.modules]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == []


@pytest.mark.skipif(not hasattr(os, "wait4"), reason="processor time of a process needs wait4")
@pytest.mark.parametrize("arguments", [["--help"], ["tune", "--help"], ["--version"]])
def test_help_comes_at_once(arguments: list[str], tmp_path: Path) -> None:
    """Measured in processor time, which other work on the machine lengthens less, and with compiled modules,
    as an installation has them; the best of six, of which the first one compiles."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(tmp_path / "compiled")}
    spent = []
    for _ in range(6):
        child = subprocess.Popen(
            [sys.executable, "-m", "pto_tune.cli.main", *arguments],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.DEVNULL,
        )
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        assert child.returncode == 0
        spent.append(usage.ru_utime + usage.ru_stime)
        if spent[-1] < HELP_CPU_S:
            break
    assert min(spent) < HELP_CPU_S
