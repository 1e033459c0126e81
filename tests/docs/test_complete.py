"""What is generated is complete: nothing that the product has is missing from its pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer

from cost_models import load_platform, platform_names
from pto_tune.rule_sets import rule_sets
from pto_tune.workloads import workload, workload_names

METHODS = ("get", "post", "put", "patch", "delete")
MODELS = (
    "dma.transfer_cycles", "cube.matmul_cycles", "fixpipe.drain_cycles", "vector.op_cycles", "launch.overhead_us",
    "link.transfer_cycles", "sharing.wait_cycles", "signals.notify_cycles",
)  # fmt: skip


def text_of(page: Path) -> str:
    """What a reader sees of a page, without its markup."""
    body = page.read_text("utf-8").partition("<article")[2].partition("</article>")[0]
    return unescape(re.sub(r"<[^>]+>", "", body))


def parts(page: Path) -> dict[str, str]:
    """What stands under each heading, by the heading's name, up to the next one of any level."""
    body = page.read_text("utf-8").partition("<article")[2].partition("</article>")[0]
    found = re.split(r'<h[1-6] id="([^"]+)"', body)
    return {
        unescape(name): unescape(re.sub(r"<[^>]+>", "", text))
        for name, text in zip(found[1::2], found[2::2], strict=True)
    }


def commands(group: Any = None, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    from pto_tune.cli.main import build_app

    group = group or typer.main.get_command(build_app())
    for name, command in group.commands.items():
        yield (*path, name), command
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))


def test_every_command_with_every_option(site: Path) -> None:
    shown = parts(site / "commands.html")
    found = list(commands())
    assert len(found) > 30
    for path, command in found:
        text = " ".join(shown["-".join(path)].split())
        assert f"pto-tune {' '.join(path)}" in text
        sentence = " ".join(str(command.help).strip().split("\n\n")[0].split())
        assert sentence in text, path
        for parameter in command.params:
            names = parameter.opts if parameter.param_type_name == "option" else [parameter.metavar]
            for name in [*names, *parameter.secondary_opts]:
                assert name in text, (path, name)
            assert " ".join(parameter.help.split()) in text, (path, parameter.name)


def test_the_python_page_has_every_public_name(site: Path) -> None:
    import pto_tune
    from pto_tune import api, tuning

    shown = parts(site / "python.html")
    wanted = {f"pto_tune.{name}" for name in pto_tune._PUBLIC}
    assert wanted <= shown.keys()
    everywhere = {name.rpartition(".")[2] for name in shown}
    for module in (api, tuning, import_module("db"), import_module("cost_models")):
        names = [n for n in module.__all__ if callable(getattr(module, n))]
        assert names
        assert set(names) <= everywhere, module.__name__


@pytest.mark.parametrize(
    "module",
    [
        "dashboards.notebook",
        "pto_tune.model.vocabulary",
        "pto_tune.model.vocabulary_remote",
        "pto_tune.model.expr",
        "pto_tune.model.serial",
    ],
)
def test_the_python_page_has_every_function_of_a_module(module: str, site: Path) -> None:
    shown = parts(site / "python.html")
    home = import_module(module)
    own = [
        name
        for name, value in vars(home).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module and hasattr(value, "__qualname__")
    ]
    assert own
    assert {f"{module}.{name}" for name in own} <= shown.keys()


def test_a_docstring_stands_there_to_its_last_word(site: Path) -> None:
    import pto_tune

    shown = parts(site / "python.html")
    for name in pto_tune._PUBLIC:
        written = str(getattr(pto_tune, name).__doc__).split()[-1].replace("`", "")
        assert written in shown[f"pto_tune.{name}"], name


def test_every_route_parameter_and_schema(site: Path, tmp_path: Path) -> None:
    from dashboards.api.app import api
    from dashboards.site.state import Site
    from db import open_store

    with open_store(f"sqlite:///{tmp_path / 'runs.db'}") as store:
        document = api(Site(store)).openapi()
    shown = parts(site / "http-api.html")
    routes = [(m, path, op) for path, item in document["paths"].items() for m, op in item.items() if m in METHODS]
    assert len(routes) > 15
    for method, path, op in routes:
        text = shown[op["operationId"]]
        assert f"{method.upper()} /api/v1{path}" in text
        for parameter in op.get("parameters", ()):
            assert parameter["name"] in text, (path, parameter["name"])
        assert set(op["responses"]) <= set(text.split()), path
    for name, schema in document["components"]["schemas"].items():
        text = shown[f"schema-{name.lower()}"]
        for field in schema.get("properties", {}):
            assert field in text, (name, field)


@pytest.mark.parametrize("name", platform_names())
def test_every_number_of_a_platform_with_its_source(name: str, site: Path) -> None:
    shown = " ".join(text_of(site / "platforms" / f"{name}.html").split())
    for key, number in load_platform(name).numbers.items():
        assert key in shown
        assert f"{number.kind} {' '.join(number.source.split())}" in shown, key
        assert f"{number.value:.10g}" in shown, key


@pytest.mark.parametrize("name", workload_names())
def test_every_size_tunable_and_pipe_of_a_workload(name: str, site: Path) -> None:
    shown = " ".join(text_of(site / "workloads" / f"{name}.html").split())
    work = workload(name)
    for p in (*work.problem, *work.tunables):
        assert f" {p.name} " in shown
        assert " ".join(p.doc.split()) in shown
    for part in (*work.fifos, *work.buffers, *work.rings, *work.rules):
        assert part.name in shown


def test_every_rule_set_with_its_revisions(site: Path) -> None:
    shown = parts(site / "rule-sets.html")
    for family in ("a2a3", "a5"):
        assert f"family-{family}" in shown
        for r in rule_sets(family):
            text = shown[r.name]
            assert "; ".join(map(str, r.revisions)) in text
            for direction in r.directions:
                assert direction in shown[f"directions-{family}"]


def test_every_latency_model(site: Path) -> None:
    shown = text_of(site / "model.html")
    for name in MODELS:
        assert f"cost_models.{name}" in shown


def test_the_accuracy_is_that_of_the_readme(site: Path) -> None:
    readme = (Path(__file__).resolve().parents[2] / "README.md").read_text("utf-8")
    text = readme.partition("<!-- validate -->")[2].partition("<!-- /validate -->")[0]
    shown = " ".join(text_of(site / "accuracy.html").split())
    rows = [line for line in text.splitlines() if line.startswith("|") and "---" not in line and "--:" not in line]
    assert len(rows) > 20
    for row in rows:
        cells = " ".join(cell.strip().strip("*") for cell in row.strip("|").split("|"))
        assert " ".join(cells.split()) in shown, row


def test_the_glossary_has_one_entry_for_each_word_once(site: Path) -> None:
    page = (site / "glossary.html").read_text("utf-8")
    words = [word for entry in re.findall(r"<dt>(.*?)</dt>", page) for word in re.findall(r"<code>(.*?)</code>", entry)]
    assert {
        "platform", "rule set", "workload", "tunable", "space", "configuration", "run", "result", "verdict",
        "measurement", "calibration",
    } <= set(words)  # fmt: skip
    assert len(words) == len(set(words))
