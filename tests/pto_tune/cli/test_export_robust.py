"""`pto-tune export --robust`: the configuration that loses least in the worst case."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

Cli = Callable[..., Any]
Wrong = Callable[..., list[str]]

DOMAINS = ["--domain", "cube_s0=64,128", "--domain", "tile_s1=128,256,512", "--set", "cube_s1=128",
           "--domain", "fifo_depth=2,4,8", "--domain", "sync_period=0,1", "--set", "split=UP_DOWN"]  # fmt: skip


@pytest.fixture(scope="module")
def runs(app: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Flash attention of two sizes and on two chips, and a stream."""
    url = f"sqlite:///{tmp_path_factory.mktemp('robust') / 'runs.db'}"
    own = ["--quiet", "--db", url]
    for line in (
        ["flash_attention", "--set", "s0=512", "--set", "s1=512", *DOMAINS, "--name", "small"],
        ["flash_attention", "--set", "s0=2048", "--set", "s1=4096", *DOMAINS, "--name", "large"],
        ["flash_attention", "--set", "s0=512", "--set", "s1=512", *DOMAINS, "--name", "fewer cores", "--platform",
         "ascend910b4"],
        ["flash_attention", "--set", "s0=512", "--set", "s1=512", *DOMAINS, "--name", "event", "--timing", "event"],
        ["flash_attention", "--set", "s0=512", "--set", "s1=512", "--set", "cube_s0=64", "--set", "qk_preload=1",
         "--set", "fifo_depth=16", "--set", "tile_s1=128", "--set", "split=UP_DOWN", "--set", "sync_period=0",
         "--name", "deep"],
        ["stream", "--set", "tiles=16", "--name", "stream"],
    ):  # fmt: skip
        done = CliRunner().invoke(app, ["tune", *line, *own])
        assert done.exit_code == 0, done.output
    return url


def exported(cli: Cli, url: str, *arguments: str) -> list[dict[str, Any]]:
    done = cli("export", *arguments, "--robust", "-f", "json", "-o", "x.json", "--force", "--db", url)
    assert done.exit_code == 0, done.output
    found: list[dict[str, Any]] = json.loads(Path("x.json").read_text())["recommendations"]
    return found


def times(cli: Cli, url: str, run: str) -> dict[tuple[tuple[str, Any], ...], float]:
    """Time by configuration of what is ok and can be exported: sync_period 0 is the derived one."""
    rows = json.loads(cli("show", run, "--top", "9999", "--json", "--db", url).stdout)["rows"]
    sizes = ("s0", "s1", "head", "causal")
    return {
        tuple(sorted((n, v) for n, v in row["configuration"].items() if n not in sizes)): row["time_us"] for row in rows
    }


def test_of_several_runs_it_is_that_of_least_worst_regret(runs: str, cli: Cli) -> None:
    (rec,) = exported(cli, runs, "small", "large")
    every = [times(cli, runs, run) for run in ("small", "large")]
    best = [min(t.values()) for t in every]
    own = tuple(sorted((n, v) for n, v in rec["configuration"].items()))

    def worst(configuration: tuple[tuple[str, Any], ...]) -> float:
        return max(t[configuration] / b - 1 for t, b in zip(every, best, strict=True))

    derived = [c for c in every[0] if c in every[1] and dict(c)["sync_period"] == 0]
    assert own in every[0]
    assert worst(own) == pytest.approx(min(map(worst, derived)))
    assert rec["chosen"].startswith("least worst regret over 2 runs: +")
    assert "in small, +" in rec["chosen"]
    assert "in large, of " in rec["chosen"]
    assert (rec["run"], rec["predicted_us"]) == ("small", pytest.approx(every[0][own]))


def test_it_says_so_in_a_header(runs: str, tmp_path: Path, cli: Cli) -> None:
    done = cli("export", "small", "large", "--robust", "--db", runs, "-o", "x.hpp")
    assert done.exit_code == 0, done.output
    assert "// chosen      least worst regret over 2 runs: +" in (tmp_path / "x.hpp").read_text()
    assert "least worst regret over 2 runs" in done.stdout
    assert cli("rank", "x.hpp", "--quiet").exit_code == 0


def test_chips_of_one_family_have_one_configuration(runs: str, cli: Cli) -> None:
    (rec,) = exported(cli, runs, "small", "fewer cores")
    assert "in fewer cores" in rec["chosen"]


def test_of_one_run_it_is_looked_over_samples_of_its_platform(runs: str, cli: Cli) -> None:
    (rec,) = exported(cli, runs, "small", "--samples", "8")
    assert rec["chosen"].startswith("least worst regret over 8 samples of the numbers of ascend910b2: +")
    found = json.loads(
        cli("robust", "flash_attention", "--scenario", "s0=512,s1=512", *DOMAINS, "--samples", "8", "--top", "100",
            "--json").stdout
    )["found"]  # fmt: skip
    can = next(f for f in found if f["configuration"]["sync_period"] == 0)
    assert rec["configuration"] == can["configuration"]
    rows = times(cli, runs, "small")
    assert rec["row"] is not None
    assert rec["predicted_us"] == pytest.approx(rows[tuple(sorted(rec["configuration"].items()))])


def test_without_samples_it_is_the_best(runs: str, cli: Cli) -> None:
    (rec,) = exported(cli, runs, "small", "--samples", "0")
    assert rec["predicted_us"] == pytest.approx(min(times(cli, runs, "small").values()))
    assert "+0.0 %" in rec["chosen"]


def test_the_same_again_gives_the_same_bytes(runs: str, tmp_path: Path, cli: Cli) -> None:
    for name in ("a.hpp", "b.hpp"):
        assert cli("export", "small", "--robust", "--samples", "4", "--db", runs, "-o", name).exit_code == 0
    assert (tmp_path / "a.hpp").read_bytes() == (tmp_path / "b.hpp").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["small", "--robust", "--pareto"], "--pareto and --robust exclude each other"),
        (["small", "--robust", "--row", "1"], "--row and --robust exclude each other"),
        (["small", "--samples", "4"], "--samples is of --robust"),
        (["small", "large", "--robust", "--samples", "4"], "--samples is of one run"),
        (["small", "large", "--robust", "--platform", "ascend910b3"], "--platform is of one run"),
        (["small", "stream", "--robust"], "are not of one workload"),
        (["small", "event", "--robust"], "have the timings task and event"),
        (["small", "deep", "--robust"], "the runs have no value of fifo_depth in common"),
        (["x.json", "--robust"], "--robust needs a run of the store"),
        (["small", "x.json", "--robust"], "--robust needs runs of the store"),
        (["small", "--robust", "--samples", "1"], "expected none, or 2 and more"),
    ],
)
def test_what_does_not_go_together_is_said(
    runs: str, arguments: list[str], words: str, tmp_path: Path, cli: Cli, wrong: Wrong
) -> None:
    (tmp_path / "x.json").write_text("{}")
    before = sorted(tmp_path.iterdir())
    said = wrong(cli("export", *arguments, "--db", runs))
    assert words in "\n".join(said)
    assert sorted(tmp_path.iterdir()) == before
