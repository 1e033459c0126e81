"""Where the commands come from."""

from __future__ import annotations

import subprocess
import tomllib
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import typer

from pto_tune.cli import main

ROOT = Path(__file__).resolve().parents[3]
Process = Callable[..., subprocess.CompletedProcess[str]]


def project() -> dict[str, Any]:
    data: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return data


def installed(folder: Path, name: str, points: dict[str, str]) -> Path:
    """A folder for PYTHONPATH that looks as if a distribution with these entry points lay there."""
    info = folder / f"{name.replace('-', '_')}-0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0\n")
    lines = "\n".join(f"{key} = {value}" for key, value in points.items())
    (info / "entry_points.txt").write_text(f"[{main.GROUP}]\n{lines}\n")
    return folder


def test_the_package_names_all_its_commands_as_entry_points() -> None:
    points = project()["entry-points"][main.GROUP]
    own = {name: f"{main.module_of(name)}:register" for name in main.OWN}
    assert own.items() <= points.items()
    assert points["report"] == "dashboards.cli:register"
    assert points["validate"] == "dashboards.validate:register"
    assert project()["scripts"] == {"pto-tune": "pto_tune.cli.main:main"}


def test_without_an_installation_the_own_commands_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main, "entry_points", lambda group: metadata.EntryPoints())  # noqa: ARG005
    group: Any = typer.main.get_command(main.build_app())
    assert group.list_commands(None) == list(main.OWN)


def test_commands_of_the_dashboards_come_by_their_entry_points_alone(process: Process, tmp_path: Path) -> None:
    folder = installed(tmp_path / "site", "pto-tune", project()["entry-points"][main.GROUP])
    shown = process("--help", PYTHONPATH=f"{ROOT}:{folder}")
    assert shown.returncode == 0, shown.stderr
    commands = [line.split()[0] for line in shown.stdout.split("Commands:")[1].splitlines() if line.strip()]
    assert commands == [*main.OWN, "report", "serve", "trace", "validate"]


def test_a_command_of_another_package_that_is_broken_stops_no_other(process: Process, tmp_path: Path) -> None:
    folder = installed(tmp_path / "site", "other", {"extra": "no_such_module_at_all:register"})
    shown = process("--version", PYTHONPATH=f"{ROOT}:{folder}")
    assert shown.returncode == 0
    assert shown.stdout.startswith("pto-tune ")
    assert shown.stderr.startswith("pto-tune: the command 'extra' cannot be loaded: ModuleNotFoundError")


def test_no_other_package_takes_the_place_of_ours(process: Process, tmp_path: Path) -> None:
    folder = installed(tmp_path / "one", "a-other", {"platforms": "no_such_module_at_all:register"})
    ours = installed(tmp_path / "two", "pto-tune", project()["entry-points"][main.GROUP])
    shown = process("platforms", "list", PYTHONPATH=f"{ROOT}:{folder}:{ours}")
    assert shown.returncode == 0, shown.stderr
    assert "ascend910b2" in shown.stdout


def test_a_foreign_db_beside_the_script_is_one_sentence(process: Process, tmp_path: Path) -> None:
    (tmp_path / "plug.py").write_text(
        "import sys, types\n"
        "def register(app):\n"
        "    sys.modules['db'] = types.ModuleType('db')\n"
    )  # fmt: skip
    folder = installed(tmp_path / "site", "other", {"plug": "plug:register"})
    shown = process("--version", PYTHONPATH=f"{ROOT}:{folder}:{tmp_path}")
    assert shown.returncode == 2
    assert len(shown.stderr.splitlines()) == 1
    assert "'db' was loaded from" in shown.stderr
