"""`pto-tune check`: a committed baseline, the exit codes that a job needs, and its file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]
Wrong = Callable[..., list[str]]
SEARCH = ("--write", "--workload", "stream", "--set", "tiles=16", "--domain", "fifo_depth=2,4", "--quiet")


@pytest.fixture
def baseline(cli: Cli, tmp_path: Path) -> Path:
    made = cli("check", "b.json", *SEARCH)
    assert made.exit_code == 0, made.output
    return tmp_path / "b.json"


def spoil(path: Path, **best: Any) -> None:
    """Let the baseline say something else of its best configuration."""
    content = json.loads(path.read_text())
    content["entries"][0]["best"].update(best)
    path.write_text(json.dumps(content))


def time_us(path: Path) -> float:
    return float(json.loads(path.read_text())["entries"][0]["best"]["time_us"])


def test_what_is_as_it_was_passes(baseline: Path, cli: Cli) -> None:
    before = baseline.read_bytes()
    shown = cli("check", baseline, "--quiet")
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert "stream on ascend910b2 (tiles=16): unchanged" in shown.stdout
    assert baseline.read_bytes() == before
    found = json.loads(cli("check", baseline, "--json", "--quiet").stdout)
    assert (found["limit"], found["updated"]) == (0.02, False)
    assert [entry["state"] for entry in found["entries"]] == ["unchanged"]
    assert sorted(path.name for path in baseline.parent.iterdir()) == ["b.json"]


def test_a_regression_fails_and_an_update_takes_it(baseline: Path, cli: Cli) -> None:
    today = time_us(baseline)
    spoil(baseline, time_us=today / 1.03)
    failed = cli("check", baseline, "--max-regression", "2%", "--quiet")
    assert failed.exit_code == 1
    assert "the best time is" in failed.stderr
    assert "+3.00%, more than 2.00%" in failed.stderr
    for limit in ("4%", "0.04"):
        assert cli("check", baseline, "--max-regression", limit, "--quiet").exit_code == 0
    updated = cli("check", baseline, "--update", "--quiet")
    assert updated.exit_code == 0, updated.output
    assert "(+3.00%)" in updated.stdout
    assert time_us(baseline) == today
    assert cli("check", baseline, "--max-regression", "0%", "--quiet").exit_code == 0


def test_what_is_faster_passes_and_is_said(baseline: Path, cli: Cli) -> None:
    spoil(baseline, time_us=time_us(baseline) * 2)
    shown = cli("check", baseline, "--max-regression", "0", "--quiet")
    assert shown.exit_code == 0
    assert "improved" in shown.stdout
    assert "(-50.00%)" in shown.stdout


def test_a_recommendation_that_is_not_legal_any_more_fails(baseline: Path, cli: Cli) -> None:
    content = json.loads(baseline.read_text())
    spoil(baseline, configuration={**content["entries"][0]["best"]["configuration"], "fifo_depth": 10**6})
    failed = cli("check", baseline, "--max-regression", "99%", "--quiet")
    assert failed.exit_code == 1
    assert "the baseline's configuration is refused today" in failed.stderr
    found = json.loads(cli("check", baseline, "--json", "--quiet").stdout)
    assert found["entries"][0]["baseline_today"]["verdict"] == "refused"


def test_several_searches_are_in_one_file(baseline: Path, cli: Cli, own_url: str) -> None:
    assert cli("check", baseline, "--write", "--run", "first", "--db", own_url).exit_code == 0
    replaced = cli("check", baseline, *SEARCH)
    assert "replaced" in replaced.stdout
    assert cli("check", baseline, *SEARCH, "--name", "again").exit_code == 0
    names = [entry["name"] for entry in json.loads(baseline.read_text())["entries"]]
    assert names == ["stream on ascend910b2 (tiles=16)", "first", "again"]
    assert cli("check", baseline, "--quiet").exit_code == 0


def test_a_stored_run_is_a_baseline_too(cli: Cli, url: str, tmp_path: Path) -> None:
    shown = cli("check", "--run", "first", "--db", url, "--quiet")
    assert shown.exit_code == 0, shown.output
    assert "first: unchanged" in shown.stdout
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_updated_where_nothing_is_legal(baseline: Path, cli: Cli) -> None:
    content = json.loads(baseline.read_text())
    content["entries"][0]["problem"]["slot_bytes"] = 131072
    content["entries"][0]["domains"]["fifo_depth"] = [14]
    baseline.write_text(json.dumps(content))
    before = baseline.read_bytes()
    failed = cli("check", baseline, "--update", "--quiet")
    assert failed.exit_code == 1
    assert "nothing was updated" in failed.stderr
    assert baseline.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "give BASELINE"),
        (["b.json", "--run", "first"], "give BASELINE"),
        (["--run", "first", "--update"], "give BASELINE"),
        (["none.json"], "cannot be read"),
        (["b.json", "--write"], "--write needs BASELINE"),
        (["b.json", "--write", "--workload", "stream", "--run", "1"], "--write needs BASELINE"),
        (["b.json", "--write", "--run", "1", "--set", "tiles=4"], "--set: a stored run has its own"),
        (["b.json", "--set", "tiles=4"], "these go with --write"),
        (["b.json", "--platform", "ascend910b2"], "the platform stands in the baseline"),
        (["b.json", "--max-regression", "2"], "expected a share"),
        (["b.json", "--max-regression", "nan"], "expected a share"),
        (["b.json", "--max-regression", "-1%"], "expected a share"),
        (["c.json", "--write", "--workload", "nothing"], "nothing"),
        (["c.json", "--write", "--workload", "stream", "--set", "tiels=4"], "tiels"),
    ],
)
def test_wrong_use(words: list[str], says: str, cli: Cli, wrong: Wrong) -> None:
    said = wrong(cli("check", *words))
    assert any(says in line for line in said), said
    assert not Path("c.json").exists()
