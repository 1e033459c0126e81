"""The configuration file: below options and environment, checked as a whole, and never needed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pto_tune.cli import settings

Cli = Callable[..., Any]


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Write the configuration file that the environment names."""

    def write(text: str) -> Path:
        path = tmp_path / "settings.toml"
        path.write_text(text, encoding="utf-8")
        monkeypatch.setenv(settings.VARIABLE, str(path))
        return path

    return write


def platform_of(shown: Any) -> str:
    assert shown.exit_code == 0, shown.stderr
    return str(json.loads(shown.stdout)[0]["platform"])


def evaluate(cli: Cli, *words: str) -> Any:
    return cli("evaluate", "stream", "--json", *words)


def test_a_key_above_the_tables_holds_for_every_command_that_has_the_option(cli: Cli, config: Any) -> None:
    config('platform = "ascend910c"\njson = true\n')
    shown = cli("evaluate", "stream")
    assert shown.exit_code == 0
    assert "ascend910c" in shown.stdout or json.loads(shown.stdout)
    assert json.loads(cli("platforms", "list").stdout)


def test_a_table_wins_over_what_stands_above(cli: Cli, config: Any) -> None:
    config("json = true\n[platforms.list]\njson = false\n")
    assert json.loads(cli("workloads", "list").stdout)
    with pytest.raises(json.JSONDecodeError):
        json.loads(cli("platforms", "list").stdout)


def test_an_option_wins_over_the_file(cli: Cli, config: Any) -> None:
    config("[bench.executor]\ns1 = [4096]\n[runs.list]\ndb = 'nonsense://'\n")
    assert cli("runs", "list").exit_code == 2
    shown = cli("runs", "list", "--db", "sqlite:///none-there.db")
    assert "no results yet" in shown.stderr


def test_the_environment_wins_over_the_file(cli: Cli, config: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    config('db = "sqlite:///of-the-file.db"\n')
    assert "of-the-file.db" in cli("runs", "list").stderr
    monkeypatch.setenv("PTO_TUNE_DB", "sqlite:///of-the-environment.db")
    assert "of-the-environment.db" in cli("runs", "list").stderr


def test_everything_that_is_wrong_is_said_at_once(cli: Cli, config: Any) -> None:
    path = config("foo = 1\nseed = { a = 1 }\n[tune]\ntpo = 3\ntop = 1979-05-27\n[bar]\n")
    shown = cli("runs", "list")
    assert shown.exit_code == 2
    lines = shown.stderr.strip().splitlines()
    assert all(str(path) in line for line in lines)
    told = shown.stderr
    assert "foo is no option of any command" in told
    assert "[seed] is no command" in told
    assert "did you mean 'top'?" in told
    assert "[tune] top = " in told
    assert "[bar] is no command" in told


@pytest.mark.parametrize("text", ["= 1", "a = ", "\x00", "[tune", "a" * 70_000])
def test_what_is_no_toml_is_refused(cli: Cli, config: Any, text: str) -> None:
    config(text)
    shown = cli("workloads", "list")
    assert shown.exit_code == 2
    assert "settings.toml" in shown.stderr
    assert "Traceback" not in shown.stderr


def test_a_file_that_is_named_has_to_be_there(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(settings.VARIABLE, str(tmp_path / "gone.toml"))
    shown = cli("workloads", "list")
    assert (shown.exit_code, "gone.toml" in shown.stderr) == (2, True)


def test_where_the_file_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(settings.VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    assert settings.file() is None
    of_user = tmp_path / "home" / "pto-tune" / "config.toml"
    of_user.parent.mkdir(parents=True)
    of_user.touch()
    assert settings.file() == of_user
    (tmp_path / settings.LOCAL).touch()
    assert settings.file() == Path(settings.LOCAL)
    monkeypatch.setenv(settings.VARIABLE, "")
    assert settings.file() is None
