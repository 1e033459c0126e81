"""`pto-tune export`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]
Wrong = Callable[..., list[str]]


def rows(cli: Cli, url: str) -> Any:
    return json.loads(cli("show", "first", "--db", url, "--top", "1000", "--json").stdout)


def test_the_best_becomes_a_header(url: str, tmp_path: Path, cli: Cli) -> None:
    done = cli("export", "first", "--db", url)
    assert (done.exit_code, done.stderr) == (0, "")
    header = tmp_path / "pto_tune_stream.hpp"
    assert str(header.name) in done.stdout
    text = header.read_text()
    best = rows(cli, url)["rows"][0]
    assert f"C2v_FifoDepth = {best['configuration']['fifo_depth']}" in text
    assert "namespace pto_tune_config" in text
    assert "first" in text
    again = cli("export", "first", "--best", "--db", url)
    assert again.exit_code == 0
    assert header.read_text() == text


def test_row_file_and_namespace_can_be_chosen(url: str, tmp_path: Path, cli: Cli) -> None:
    other = next(
        r
        for r in rows(cli, url)["rows"]
        if r["configuration"]["fifo_depth"] == 2 and r["configuration"]["sync_period"] == 0
    )
    done = cli("export", "1", "--row", other["row"], "-o", "out.hpp", "--namespace", "a::b", "--db", url)
    assert done.exit_code == 0, done.output
    text = (tmp_path / "out.hpp").read_text()
    assert "C2v_FifoDepth = 2" in text
    assert "namespace a::b" in text


def test_what_no_pipe_can_carry_is_exit_code_1(url: str, tmp_path: Path, cli: Cli, wrong: Wrong) -> None:
    other = next(
        r
        for r in rows(cli, url)["rows"]
        if r["configuration"]["fifo_depth"] == 8 and r["configuration"]["sync_period"] == 2
    )
    (said,) = wrong(cli("export", "first", "--row", other["row"], "--db", url), code=1)
    assert "SyncPeriod" in said
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_not_ours_is_kept_unless_forced(url: str, tmp_path: Path, cli: Cli, wrong: Wrong) -> None:
    mine = tmp_path / "mine.hpp"
    mine.write_text("int precious;\n")
    (said,) = wrong(cli("export", "first", "-o", mine, "--db", url))
    assert "mine.hpp" in said
    assert mine.read_text() == "int precious;\n"
    assert cli("export", "first", "-o", mine, "--force", "--db", url).exit_code == 0
    assert "precious" not in mine.read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["first", "--row", "999999"], ["999999"]),
        (["first", "--row", "1", "--best"], ["--best", "--row"]),
        (["first", "--namespace", "a b"], ["--namespace", "a b"]),
        (["first", "--namespace", "std"], ["std"]),
        (["first", "-o", "no/folder/x.hpp"], ["no/folder/x.hpp"]),
        (["first", "--platform", "nothing"], ["nothing"]),
    ],
)
def test_wrong_input_is_one_sentence_and_writes_nothing(
    arguments: list[str], words: list[str], url: str, tmp_path: Path, cli: Cli, wrong: Wrong
) -> None:
    (said,) = wrong(cli("export", *arguments, "--db", url))
    for word in words:
        assert word in said
    assert list(tmp_path.iterdir()) == []


def test_a_run_of_a_platform_file_asks_for_that_file(tmp_path: Path, cli: Cli, wrong: Wrong) -> None:
    platform = tmp_path / "mine.toml"
    platform.write_text('[platform]\nname = "mine"\nsoc = "x"\ndescription = "y"\ninherits = "ascend910b2"\n')
    assert cli("tune", "stream", "--set", "tiles=16", "--platform", platform).exit_code == 0
    (said,) = wrong(cli("export", "latest"))
    assert "'mine'" in said
    assert "--platform" in said
    assert cli("export", "latest", "--platform", platform).exit_code == 0
    assert cli("explain", "latest", "--platform", platform).exit_code == 0
