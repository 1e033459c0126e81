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
        ([], ["no RUN is given"]),
        (["none.json"], ["none.json", "No such file"]),
        (["first", "--format", "pdf"], ["'pdf'", "header, cmake"]),
        (["first", "--prefix", "1A"], ["--prefix", "1A"]),
        (["first", "--pareto", "--best"], ["--best", "--pareto"]),
        (["first", "--template", "x.j2"], ["--template"]),
        (["first", "--format", "template"], ["--template"]),
        (["first", "--top", "3"], ["--top", "header"]),
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


@pytest.fixture(scope="module")
def sizes(app: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store with runs of one workload at two sizes, 'short' and 'long'. To be read only."""
    from typer.testing import CliRunner

    made = f"sqlite:///{tmp_path_factory.mktemp('store') / 'sizes.db'}"
    for name, tiles in (("short", 16), ("long", 64)):
        result = CliRunner().invoke(
            app, ["tune", "stream", "--set", f"tiles={tiles}", "--db", made, "--name", name, "--quiet"]
        )
        assert result.exit_code == 0, result.output
    return made


SUFFIXES = {"header": ".hpp", "cmake": ".cmake", "definitions": ".rsp", "json": ".json", "python": ".py"}


@pytest.mark.parametrize("form", SUFFIXES)
def test_every_format_has_a_file_of_its_own_and_the_same_bytes_again(
    form: str, url: str, tmp_path: Path, cli: Cli
) -> None:
    made = tmp_path / f"pto_tune_stream{SUFFIXES[form]}"
    assert cli("export", "first", "--format", form, "--db", url).exit_code == 0
    before = made.read_bytes()
    made.unlink()
    done = cli("export", "first", "-f", form, "--db", url)
    assert (done.exit_code, done.stderr) == (0, "")
    assert made.name in done.stdout
    assert made.read_bytes() == before
    made.write_bytes(before.replace(b"8", b"9"))
    assert cli("export", "first", "-f", form, "--db", url).exit_code == 2
    assert cli("export", "first", "-f", form, "--db", url, "--force").exit_code == 0
    assert made.read_bytes() == before


def test_json_is_exported_again_without_store_and_to_the_same_bytes(url: str, tmp_path: Path, cli: Cli) -> None:
    assert cli("export", "first", "-f", "json", "-o", "rec.json", "--db", url).exit_code == 0
    for form, suffix in SUFFIXES.items():
        assert cli("export", "first", "-f", form, "-o", f"a{suffix}", "--db", url).exit_code == 0
        done = cli("export", "rec.json", "-f", form, "-o", f"b{suffix}", "--db", "sqlite:///no/such.db")
        assert (done.exit_code, done.stderr) == (0, "")
        assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()


def test_several_runs_become_a_choice_by_shape(sizes: str, tmp_path: Path, cli: Cli) -> None:
    done = cli("export", "short", "long", "-o", "both.hpp", "--db", sizes)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "2 configurations" in done.stdout
    text = (tmp_path / "both.hpp").read_text()
    assert "ForShape" in text
    assert "run         short" in text
    assert "run         long" in text
    for name in ("short", "long"):
        assert cli("export", name, "-f", "json", "-o", f"{name}.json", "--db", sizes).exit_code == 0
    assert cli("export", "short.json", "long.json", "-o", "again.hpp").exit_code == 0
    assert (tmp_path / "again.hpp").read_text() == text


def test_what_holds_one_asks_for_a_file_each_and_gets_it(sizes: str, tmp_path: Path, cli: Cli, wrong: Wrong) -> None:
    said = wrong(cli("export", "short", "long", "-f", "cmake", "--db", sizes), code=1)
    assert "holds one configuration, not 2" in said[0]
    assert "{row}" in said[1]
    assert list(tmp_path.iterdir()) == []


def test_the_front_is_one_file_each_or_one_json(tmp_path: Path, cli: Cli, wrong: Wrong) -> None:
    url = "sqlite:///own.db"
    done = cli("tune", "flash_attention", "--set", "s0=128", "--set", "s1=1024", "--set", "sync_period=0", "--set",
               "cube_s0=128", "--db", url, "--name", "first", "--quiet")  # fmt: skip
    assert done.exit_code == 0, done.output
    done = cli("export", "first", "--pareto", "-o", "front ${x} {row}.hpp", "--db", url)
    assert (done.exit_code, done.stderr) == (0, "")
    files = sorted(path.name for path in tmp_path.glob("*.hpp"))
    assert len(files) > 1
    assert cli("export", "first", "--pareto", "-f", "json", "-o", "front.json", "--db", url).exit_code == 0
    front = json.loads((tmp_path / "front.json").read_text())["recommendations"]
    assert sorted(f"front ${{x}} {rec['row']}.hpp" for rec in front) == files
    times = [rec["predicted_us"] for rec in front]
    assert times == sorted(times)
    said = wrong(cli("export", "first", "--pareto", "-o", "front.hpp", "--db", url), code=1)
    assert "one for each problem size would be right" in " ".join(said)


def test_printing_goes_to_stdout_alone(url: str, tmp_path: Path, cli: Cli) -> None:
    done = cli("export", "first", "-f", "definitions", "-o", "-", "--db", url)
    assert all(line.startswith("-DPTO_TUNE_") for line in done.stdout.splitlines())
    assert "-DPTO_TUNE_C2v_FifoDepth=" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_template_names_the_line_that_is_wrong(url: str, tmp_path: Path, cli: Cli, wrong: Wrong) -> None:
    own = tmp_path / "my 中.sh.j2"
    own.write_text("# {{ content_sha256 }}\nDEPTH={{ rec.pipes[0].slot_num }}\n", encoding="utf-8")
    done = cli("export", "first", "-f", "template", "--template", own, "--db", url)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "DEPTH=" in (tmp_path / "pto_tune_stream.sh").read_text()
    own.write_text("a\n{{ rec.missing }}\n", encoding="utf-8")
    (said,) = wrong(cli("export", "first", "-f", "template", "--template", own, "-o", "x", "--db", url), code=1)
    assert "my 中.sh.j2:2: " in said
    assert not (tmp_path / "x").exists()


def test_what_a_format_leaves_out_is_refused_or_said(tmp_path: Path, cli: Cli, wrong: Wrong) -> None:
    made = cli("tune", "stream", "--set", "tiles=1", "--set", "fifo_depth=2", "--set", "allocate=0", "--set", "free=0",
               "--set", "flow=TileData", "--db", "sqlite:///own.db", "--name", "off", "--quiet")  # fmt: skip
    assert made.exit_code == 0, made.output
    said = wrong(cli("export", "off", "-f", "definitions", "--db", "sqlite:///own.db"), code=1)
    assert "prod.setAllocateStatus(false)" in said[0]
    assert "--accept-loss" in said[-1]
    done = cli("export", "off", "-f", "definitions", "--accept-loss", "--db", "sqlite:///own.db")
    assert done.exit_code == 0
    assert "left out: switches of pipe 'c2v_tiles'" in done.stdout
    assert (tmp_path / "pto_tune_stream.rsp").exists()


def test_a_best_that_no_file_can_carry_names_the_one_that_can_be(tmp_path: Path, cli: Cli, wrong: Wrong) -> None:
    own = "sqlite:///own.db"
    done = cli("tune", "stream", "--set", "tiles=64", "--set", "fifo_depth=4", "--domain", "sync_period=1,2",
               "--db", own, "--name", "x", "--quiet")  # fmt: skip
    assert done.exit_code == 0, done.output
    (said,) = wrong(cli("export", "x", "--db", own), code=1)
    assert "c2v: SyncPeriod 1 with FifoDepth 4, where a TPipe derives 2" in said
    assert "% slower)" in said
    row = int(said.split("--row ")[1].split()[0])
    assert cli("export", "x", "--row", row, "--db", own).exit_code == 0
    assert "C2v_SyncPeriod = 2;" in (tmp_path / "pto_tune_stream.hpp").read_text()
    done = cli("export", "x", "--pareto", "-o", "front.hpp", "--db", own)  # of what can be built
    assert "C2v_SyncPeriod = 2;" in (tmp_path / "front.hpp").read_text(), done.output


@pytest.mark.parametrize(("environment", "day"), [("0", "1970-01-01"), ("1764547200", "2025-12-01")])
def test_a_date_is_named_where_asked(
    environment: str, day: str, url: str, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", environment)
    assert cli("export", "first", "--date", "-o", "x.hpp", "--db", url).exit_code == 0
    assert f"// exported    {day}\n" in (tmp_path / "x.hpp").read_text()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "soon")
    assert cli("export", "first", "--date", "-o", "y.hpp", "--db", url).exit_code == 2


def test_nothing_of_the_user_or_the_machine_is_in_a_file(url: str, tmp_path: Path, cli: Cli) -> None:
    import getpass
    import socket

    for form, suffix in SUFFIXES.items():
        assert cli("export", "first", "-f", form, "--db", url).exit_code == 0
        text = (tmp_path / f"pto_tune_stream{suffix}").read_text()
        for word in (str(tmp_path), str(Path.home()), socket.gethostname(), url):
            assert word not in text
        assert f"user {getpass.getuser()}" not in text


def test_formats_schema_and_the_cmake_package_are_told(cli: Cli) -> None:
    listed = cli("export", "--formats")
    for form in ("header", "cmake", "definitions", "json", "cases", "python", "template"):
        assert f"\n{form} " in listed.stdout
    assert json.loads(cli("export", "--schema").stdout)["title"] == "Recommendations of pto-tune"
    assert (Path(cli("export", "--cmake-dir").stdout.strip()) / "PtoTuneConfig.cmake").is_file()


@pytest.mark.parametrize("option", [["--pareto"], ["--platform", "ascend910b1"], ["--row", "99999"]])
def test_a_file_has_no_other_rows_and_platforms(
    option: list[str], url: str, tmp_path: Path, cli: Cli, wrong: Wrong
) -> None:
    assert cli("export", "first", "-f", "json", "-o", "rec.json", "--db", url).exit_code == 0
    (said,) = wrong(cli("export", "rec.json", *option, "-o", "x.hpp"))
    assert "rec.json" in said
    assert not (tmp_path / "x.hpp").exists()
