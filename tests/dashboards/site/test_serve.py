"""The command `pto-tune serve`: where it listens, whom it refuses, what its help says."""

from __future__ import annotations

from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from dashboards.serve import ServeError, listen, register, url


def run(*words: str, env: dict[str, str] | None = None) -> Any:
    app = typer.Typer()
    register(app)
    app.callback()(lambda: None)
    return CliRunner().invoke(app, ["serve", *words], env={"COLUMNS": "160", "PTO_TUNE_TOKEN": "", **(env or {})})


def test_listens_at_any_free_port() -> None:
    with listen("127.0.0.1", 0) as one, listen("127.0.0.1", 0) as other:
        assert one.getsockname()[1] != other.getsockname()[1]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_port_that_is_taken_is_told() -> None:
    with listen("127.0.0.1", 0) as one:
        port = one.getsockname()[1]
        with pytest.raises(ServeError, match=f"port {port}"):
            listen("127.0.0.1", port)


def test_an_address_that_is_none_is_told() -> None:
    with pytest.raises(ServeError, match="cannot listen at"):
        listen("256.256.256.256", 0)


def test_addresses_for_a_browser() -> None:
    assert url("127.0.0.1", 8050) == "http://127.0.0.1:8050/"
    assert url("0.0.0.0", 1) == "http://127.0.0.1:1/"
    assert url("::1", 1) == "http://[::1]:1/"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "tuning.example"])
def test_other_machines_are_let_in_with_a_token_only(host: str, tmp_path: Any) -> None:
    result = run("--host", host, "--port", "0", "--db", f"sqlite:///{tmp_path / 'x.db'}")
    assert result.exit_code == 2
    assert "PTO_TUNE_TOKEN" in result.output
    assert not (tmp_path / "x.db").exists()


def test_short_tokens_are_refused(tmp_path: Any) -> None:
    for words, env in ((["--token", "short"], {}), ([], {"PTO_TUNE_TOKEN": "short"})):
        result = run(*words, "--port", "0", "--db", f"sqlite:///{tmp_path / 'x.db'}", env=env)
        assert result.exit_code == 2
        assert "at least 16 characters" in result.output
        assert "short" not in result.output.replace("is short enough", "")


def test_help_lists_every_option() -> None:
    result = run("--help")
    assert result.exit_code == 0
    for option in ("--db", "--host", "--port", "--allow-runs", "--allow-host", "--token", "--open"):
        assert option in result.output
    assert "/api/v1" in result.output


def test_a_server_answers_and_ends(tmp_path: Any) -> None:
    import json
    import os
    import re
    import subprocess
    import sys
    import urllib.request

    process = subprocess.Popen(
        [sys.executable, "-c", "from pto_tune.cli.main import main; main()", "serve", "--port", "0",
         "--db", f"sqlite:///{tmp_path / 'x.db'}"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1", "PTO_TUNE_TOKEN": "0123456789abcdef"},
    )  # fmt: skip
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/", line)
        assert found is not None, line
        assert "0123456789abcdef" not in line
        request = urllib.request.Request(found[0] + "api/v1/runs", headers={"Authorization": "Bearer 0123456789abcdef"})
        with urllib.request.urlopen(request, timeout=30) as response:
            assert json.load(response)["total"] == 0
    finally:
        process.terminate()
        rest, _ = process.communicate(timeout=20)
    assert "Traceback" not in rest
