"""The README against the command line: what it shows is what is printed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cost_models.platform import platform_names
from pto_tune.rule_sets import rule_set_for
from pto_tune.workloads import workload, workload_names

Cli = Callable[..., Any]

README = (Path(__file__).resolve().parents[3] / "README.md").read_text(encoding="utf-8")
REST = "..."


def sessions() -> Iterator[tuple[str, str]]:
    """Commands of the console blocks, each with the output that stands behind it."""
    inside, command, shown = False, "", []
    for line in [*README.splitlines(), "```"]:
        if line.startswith(("```", "$ ")):
            if inside and command:
                yield command, "\n".join(shown)
            inside = inside if line.startswith("$ ") else line == "```console"
            command, shown = line.removeprefix("$ ") if line.startswith("$ ") else "", []
        else:
            shown.append(line)


SESSIONS = list(sessions())


def test_there_is_something_shown() -> None:
    assert len(SESSIONS) >= 3
    assert all(shown.replace(REST, "").strip() for _, shown in SESSIONS)


@pytest.mark.parametrize(("command", "shown"), SESSIONS, ids=[command for command, _ in SESSIONS])
def test_a_command_prints_what_is_shown(command: str, shown: str, cli: Cli) -> None:
    done = cli(*shlex.split(command)[1:])
    assert done.exit_code in (0, 1), done.stderr
    pattern = ".*".join(re.escape(part) for part in shown.split(REST))
    assert re.fullmatch(pattern, done.stdout.strip(), re.DOTALL), done.stdout


def rows(first: str) -> list[list[str]]:
    """The cells of the table rows that begin with a cell."""
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in README.splitlines()
        if line.startswith(f"| `{first}` |")
    ]


@pytest.mark.parametrize("name", workload_names())
def test_every_workload_is_there_with_all_that_can_be_set(name: str) -> None:
    work = workload(name)
    ((_, sizes, tunables),) = rows(name)
    assert sizes.strip("`").split() == [p.name for p in work.problem]
    assert tunables.strip("`").split() == [t.name for t in work.tunables]


def test_every_platform_is_named() -> None:
    (line,) = re.findall(r"^Platforms: (.*?)\. A platform", README, re.MULTILINE | re.DOTALL)
    assert sorted(re.findall(r"`(\w+)`", line)) == sorted(platform_names())


def test_every_verdict_is_explained_once() -> None:
    from pto_tune.verdicts import VERDICTS

    for verdict in VERDICTS:
        assert len(rows(verdict)) == 1, verdict


def test_the_rule_sets_that_it_names_as_default_and_newest_are_those() -> None:
    for family in ("a2a3", "a5"):
        assert f"has `{rule_set_for(family).name}`" in README
    assert rule_set_for("a2a3", "2099-01-01").name == "a2a3"
    assert f"headers behave as `{rule_set_for('a5', '2099-01-01').name}`" in " ".join(README.split())


@pytest.mark.parametrize(
    ("platform", "second_sub_core", "verdict"),
    [("ascend950pr", "off", "ok"), ("ascend950pr", "on", "hang"),
     ("ascend910b2", "off", "hang"), ("ascend910b2", "on", "ok")],
)  # fmt: skip
def test_the_second_sub_core_takes_part_as_it_says(platform: str, second_sub_core: str, verdict: str) -> None:
    from pto_tune import api

    configuration = {
        "flow": "TileData", "slot_bytes": 8192, "split": "NO_SPLIT", "second_sub_core": second_sub_core
    }  # fmt: skip
    (record,) = api.evaluate_records("stream", configuration, platform=platform)
    assert record["verdict"] == verdict
