"""``pto-tune validate``: what a user types and sees."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from dashboards.validate import register
from pto_tune.cli.main import build_app

Cli = Callable[..., Any]


@pytest.fixture
def cli() -> Cli:
    app = build_app()
    if "validate" not in [command.name for command in app.registered_commands]:  # an older installation
        register(app)

    def invoke(*arguments: object) -> Any:
        return CliRunner().invoke(app, ["validate", *map(str, arguments)], prog_name="pto-tune")

    return invoke


def test_a_table_with_its_limits_and_cases(cli: Cli) -> None:
    done = cli("--table", "gemm")
    assert done.exit_code == 0, done.stderr
    assert "gemm/manual-6144 " in done.stdout
    assert "shares of the pipes" in done.stdout
    assert "all tables" in done.stdout
    assert "gemm, 8 shares of pipes: " in done.stdout
    assert "take long" not in done.stdout


def test_several_tables_on_one_platform(cli: Cli) -> None:
    done = cli("--table", "gemm", "--table", "datacopy", "--platform", "ascend950pr", "--json", "--quiet")
    record = json.loads(done.stdout)
    assert [t["table"] for t in record["tables"]] == ["gemm", "datacopy"]
    assert {c["platform"] for c in record["cases"]} == {"ascend950pr"}


def test_markdown_is_what_the_readme_takes(cli: Cli) -> None:
    from pto_tune.validating.report import validate
    from pto_tune.validating.text import markdown

    done = cli("--table", "gemm", "--markdown", "--quiet")
    assert done.stdout.strip() == markdown(validate(["gemm"])).strip()


def test_a_page_beside_the_table(cli: Cli, tmp_path: Path) -> None:
    target = tmp_path / "parity.html"
    done = cli("--table", "tget", "-o", target)
    assert done.exit_code == 0, done.stderr
    assert "parity.html" in done.stderr
    assert "<!DOCTYPE html>" in target.read_text(encoding="utf-8")
    again = cli("--table", "tget", "-o", target)
    assert again.exit_code == 2
    assert "exists already" in again.stderr
    assert cli("--table", "tget", "-o", target, "--force").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--table", "gem"], "unknown table 'gem': choose one of"),
        (["--platform", "ascend911"], "unknown platform 'ascend911'"),
        (["--json", "--markdown"], "give one of them"),
        (["-o", "no/such/folder/p.html"], "does not exist"),
    ],
)
def test_wrong_use_is_a_sentence(cli: Cli, arguments: list[str], sentence: str) -> None:
    done = cli(*arguments)
    assert done.exit_code == 2
    assert sentence in done.stderr
    assert done.stdout == ""
