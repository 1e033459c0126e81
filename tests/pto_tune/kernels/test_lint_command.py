"""The commands `import` and `lint`: texts, JSON, SARIF and exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from pto_tune.cli import import_, lint, main
from pto_tune.kernels.linting import ORDER
from pto_tune.kernels.rule_texts import TEXTS, help_of
from pto_tune.kernels.sarif import LEVELS
from pto_tune.model import serial
from pto_tune.verdicts import ALL_VERDICTS

Changed = Callable[..., Path]
FILES = Path(__file__).parent / "files"


@pytest.fixture
def run() -> Callable[..., Result]:
    app = typer.Typer(cls=main.Commands, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.callback(invoke_without_command=True)(main._root)
    import_.register(app)
    lint.register(app)
    return lambda *words: CliRunner().invoke(app, list(map(str, words)))


Run = Callable[..., Result]


def test_a_clean_kernel_ends_with_0(run: Run, changed: Changed) -> None:
    path = changed("product.pto")
    result = run("lint", path)
    assert result.exit_code == 0, result.output
    assert f"{path}: ok (ascend910b2, rule set a2a3; predicted " in result.output


def test_findings_end_with_1_and_a_place_each(run: Run, changed: Changed) -> None:
    path = changed("product.pto", ("slot_num = 4", "slot_num = 5"))
    result = run("lint", path)
    assert result.exit_code == 1
    first = result.output.splitlines()[0]
    assert first.startswith(f"{path}:")
    assert ": overwrite (slot-reuse): pipe3: tile 5 may be written" in first


def test_what_cannot_be_read_ends_with_2(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "broken.pto"
    path.write_text("module {\n", encoding="utf-8")
    result = run("lint", path)
    assert result.exit_code == 2
    assert result.output.splitlines()[0].startswith(f"{path}:1:8: unread (syntax): ")


@pytest.mark.parametrize(
    "words", [("--format", "xml"), ("--platform", "nowhere"), ("--set", "n=many"), ("--set", "q=1")]
)
def test_wrong_use_ends_with_2(run: Run, changed: Changed, words: tuple[str, ...]) -> None:
    result = run("lint", changed("product.pto"), *words)
    assert result.exit_code == 2, result.output


def test_several_files_are_one_document(run: Run, changed: Changed) -> None:
    bad = changed("product.pto", ("slot_num = 4", "slot_num = 5"))
    result = run("lint", FILES / "flags.pto", bad, "--format", "json")
    data = json.loads(result.stdout)
    assert data["format"] == lint.FORMAT
    assert [f["verdict"] for f in data["files"]] == ["ok", "overwrite"]
    finding = data["files"][1]["findings"][0]
    assert finding["rule"] == "slot-reuse"
    assert finding["line"] > 1
    assert finding["others"]


def sarif_of(result: Result) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(result.stdout)
    return data


def test_sarif_has_what_the_standard_asks_for(run: Run, changed: Changed, tmp_path: Path) -> None:
    bad = changed("product.pto", ("slot_num = 4", "slot_num = 5"))
    broken = tmp_path / "broken kernel ä.pto"
    broken.write_text("module {\n", encoding="utf-8")
    result = run("lint", bad, broken, "--format", "sarif")
    assert result.exit_code == 2
    data = sarif_of(result)
    assert data["version"] == "2.1.0"
    assert data["$schema"].endswith("sarif-2.1.0.json")
    (one,) = data["runs"]
    driver = one["tool"]["driver"]
    assert driver["name"] == "pto-tune"
    assert driver["version"]
    ids = [rule["id"] for rule in driver["rules"]]
    assert ids == sorted(set(ids))
    assert all(rule["help"]["text"] for rule in driver["rules"])
    for entry in one["results"]:
        assert ids[entry["ruleIndex"]] == entry["ruleId"]
        assert entry["level"] in ("error", "warning", "note")
        assert entry["message"]["text"]
        for location in [*entry["locations"], *entry.get("relatedLocations", [])]:
            physical = location["physicalLocation"]
            assert physical["region"]["startLine"] >= 1
            assert physical["region"]["startColumn"] >= 1
            assert " " not in physical["artifactLocation"]["uri"]
            assert physical["artifactLocation"]["uri"].isascii()
    assert {e["ruleId"] for e in one["results"]} == set(ids) == {"slot-reuse", "syntax", *ids}


def test_sarif_of_clean_kernels_is_an_empty_run(run: Run) -> None:
    result = run("lint", FILES / "product.pto", "--format", "sarif")
    assert result.exit_code == 0
    assert sarif_of(result)["runs"][0]["results"] == []


def test_every_verdict_and_every_rule_of_the_model_has_a_level_and_a_text() -> None:
    assert set(LEVELS) == set(ORDER)
    assert set(ALL_VERDICTS) <= set(TEXTS)
    for rule in (
        "pipe0-slot-size",
        "capacity-UB",
        "align-aiv_t",
        "pipe0-flags-of-pipe1",
        "tmatmul-m",
        "pipe0.C2V-layout",
    ):
        assert help_of(rule)


def test_import_writes_a_workload_that_is_read_back(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "kernel.json"
    result = run("import", FILES / "product.pto", "-o", out)
    assert result.exit_code == 0, result.output
    w = serial.load(out)
    assert [f.name for f in w.fifos] == ["pipe3"]
    assert "tunable  pipe3_slot_num = 4" in result.output
    assert "note: pipes of a core without flags" in result.stderr


def test_import_to_stdout_is_the_workload_alone(run: Run) -> None:
    result = run("import", FILES / "flags.pto")
    assert serial.from_json(result.stdout).name == "copy"


def test_import_writes_over_nothing_unless_told(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "kernel.json"
    out.write_text("mine", encoding="utf-8")
    refused = run("import", FILES / "flags.pto", "-o", out)
    assert refused.exit_code == 2
    assert out.read_text(encoding="utf-8") == "mine"
    assert run("import", FILES / "flags.pto", "-o", out, "--force").exit_code == 0
    assert serial.load(out).name == "copy"
    assert [p.name for p in tmp_path.iterdir()] == ["kernel.json"]


def test_import_refuses_what_contradicts_itself(run: Run, changed: Changed, tmp_path: Path) -> None:
    path = changed("local_handles.pto", ("{split = 0}", "{split = 1}"))
    result = run("import", path, "-o", tmp_path / "kernel.json")
    assert result.exit_code == 2
    assert not (tmp_path / "kernel.json").exists()
    assert "has nosplit = true" in result.output


def test_import_prices_what_it_does_not_know_only_if_told(run: Run, changed: Changed, tmp_path: Path) -> None:
    path = changed("product.pto", ("pto.tmuls ins(%part, %by : !half, f32)", "pto.tfancy ins(%part : !half)"))
    assert run("import", path).exit_code == 2
    result = run("import", path, "--unknown", "price", "-o", tmp_path / "kernel.json", "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["unknown"] == {"pto.tfancy": [70]}
