"""The page of a new run: its fields as texts, its address, its counts, and what it starts."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboards.api.counting import count_legal
from dashboards.pages.new import page as new
from dashboards.pages.new.form import Form, command, domain_text, parse_domain, read
from dashboards.pages.new.parts import counted_words
from dashboards.site.page import address, place
from dashboards.site.state import Site
from pto_tune.api import problem_of, workload
from pto_tune.table import TableError, parameter

FLASH = workload("flash_attention")
DEPTH = parameter(FLASH, "fifo_depth")
SPLIT = parameter(FLASH, "split")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    from db import open_store
    from pto_tune.tuning import tune

    with open_store(f"sqlite:///{tmp_path_factory.mktemp('new') / 'runs.db'}") as store:
        tune("flash_attention", problem={"s0": 512, "s1": 512}, domains={"fifo_depth": [4, 8], "split": ["UP_DOWN"]},
             store=store, strategy="random", budget=30, seed=3)  # fmt: skip
        yield Site(store, allow_runs=True)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("4", (4,)),
        ("1,2,4", (1, 2, 4)),
        (" 1 2;4 ", (1, 2, 4)),
        ("4-8", (4, 5, 6, 7, 8)),
        ("4-8:2", (4, 6, 8)),
        ("4 - 8 : 2", (4, 6, 8)),
        ("4..6", (4, 5, 6)),
        ("1, 4-9:2, 16", (1, 4, 6, 8, 16)),
        ("8,4-8:2", (8, 4, 6)),
        ("4,4", (4,)),
    ],
)
def test_domains_are_read_as_they_are_written(text: str, values: tuple[int, ...]) -> None:
    assert parse_domain(DEPTH, text) == values


@pytest.mark.parametrize("text", ["UP_DOWN", "up_down, NO_SPLIT", "TILE_UP_DOWN"])
def test_labels_are_values(text: str) -> None:
    assert set(parse_domain(SPLIT, text)) <= {0, 1}


@pytest.mark.parametrize(
    "text", ["x", "8-4", "4-8:0", "0", "1-999", "1-99999999999", "1--2", ",", "4-", "9" * 70, "1e3"]
)
def test_what_is_no_domain_is_told_in_a_sentence(text: str) -> None:
    with pytest.raises(TableError, match="fifo_depth"):
        parse_domain(DEPTH, text)


@given(st.lists(st.integers(1, 255), min_size=1, max_size=30, unique=True))
def test_a_domain_survives_its_text(values: list[int]) -> None:
    assert parse_domain(DEPTH, domain_text(DEPTH, values)) == tuple(values)


FORM = Form(
    platform="ascend910c",
    rules="a2a3-rendezvous",
    timing="event",
    strategy="random",
    budget="500",
    seed="7",
    name='<b>"odd"</b> 管道 🚀 & x=1',
    sizes={"s0": "512", "s1": "1024"},
    domains={"fifo_depth": "2-8:2", "split": "UP_DOWN"},
)


def test_a_form_survives_its_address() -> None:
    target = address("new", **FORM.to_query())
    assert Form.from_place(place({}, target.partition("?")[2])) == FORM
    assert Form.from_place(place({}, "")) == Form()
    assert Form().to_query() == {"workload": "flash_attention"}


def test_an_address_that_names_nothing_is_the_default() -> None:
    odd = place({}, "?workload=../x&platform=/etc/passwd&rules=a5&timing=x&strategy=luck")
    assert Form.from_place(odd) == Form()


def test_a_form_becomes_a_wish() -> None:
    found = read(FORM)
    assert found.faults == []
    assert found.wish is not None
    assert dict(found.wish.problem) == {"s0": 512, "s1": 1024}
    assert dict(found.wish.domains) == {"fifo_depth": (2, 4, 6, 8), "split": (1,)}
    assert (found.wish.budget, found.wish.seed, found.wish.pto_isa) == (500, 7, "a2a3-rendezvous")
    assert found.counts["fifo_depth"] == 4


def test_the_command_says_the_same() -> None:
    words = shlex.split(command(FORM))
    assert words[:3] == ["pto-tune", "tune", "flash_attention"]
    assert words[words.index("--name") + 1] == FORM.name
    assert "fifo_depth=2,4,6,8" in words
    assert {"s0=512", "s1=1024", "split=UP_DOWN"} <= set(words)
    assert command(Form()) == "pto-tune tune flash_attention --platform ascend910b2"


def test_everything_that_is_wrong_is_told_beside_its_field() -> None:
    form = Form(budget="many", seed="-1", sizes={"s0": "x"}, domains={"fifo_depth": "0", "split": "SIDEWAYS"})
    assert {where for where, _ in read(form).faults} == {"budget", "seed", "s.s0", "d.fifo_depth", "d.split"}
    words, said, ready = new.judged(form)
    assert not ready
    assert "not a value" in said["s.s0"]
    assert not said["s.s0"].startswith("s0")
    assert "out of range" in str(words)


@pytest.mark.parametrize(
    ("form", "part"),
    [
        (Form(name="12"), "reads as a run's number"),
        (
            Form(
                strategy="exhaustive",
                domains={"qk_preload": "2-25", "fifo_depth": "1-60", "sync_period": "0-99", "pv_fifo_depth": "0-59"},
            ),
            "20,000,000",
        ),
    ],
)
def test_wishes_that_cannot_start_say_why(form: Form, part: str) -> None:
    words, _, ready = new.judged(form)
    assert not ready
    assert part in str(words)


def test_the_counts_are_those_of_the_api() -> None:
    form = Form(domains={"fifo_depth": "2-8:2"})
    words, said, ready = new.judged(form)
    problem = problem_of("flash_attention")
    from pto_tune.space import space

    counted = count_legal(problem, space(problem.workload, {}, {"fifo_depth": [2, 4, 6, 8]}))
    assert ready
    assert f"{counted.legal:,}" in str(words)
    assert f"{counted.size:,}" in str(words)
    assert said["d.fifo_depth"].strip() == "4 values"


def test_a_space_without_a_legal_configuration_is_told() -> None:
    words, _, ready = new.judged(Form(domains={"cube_s0": "256", "cube_s1": "256"}))
    assert "No configuration is legal" in str(words)
    assert ready  # the run shows why


def test_estimates_say_that_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboards.api.counting.COUNT_S", -1.0)
    words = str(new.judged(Form(domains={"sync_period": "0-200", "fifo_depth": "1-40"}))[0])
    assert "about" in words
    assert "95" in words
    assert "runs only what may be better than the best" in words


def test_a_large_space_with_few_legal_ones_is_gone_through() -> None:
    words = str(new.judged(Form(domains={"cube_s0": "16-400", "fifo_depth": "1-60"}))[0])
    assert "legal configurations and counts the refused ones" in words


def test_counted_words_of_nothing() -> None:
    from dashboards.api.counting import Counted

    assert "0" in str(counted_words(Counted(10, 0, True, 0, 0, 10, {"capacity-UB": 10})))


def test_every_size_and_tunable_has_a_labelled_field(site: Site) -> None:
    import json

    page = new.layout(site, place({}, "?workload=gemm&s.m=512&d.base_m=64"))
    text = json.dumps(page, default=lambda c: c.to_plotly_json())
    model = workload("gemm")
    for kind, parameters in (("size", model.problem), ("domain", model.tunables)):
        for p in parameters:
            id = json.dumps({"name": p.name, "type": f"new-{kind}", "workload": "gemm"}, separators=(",", ":"))
            assert json.dumps(id) in text, p.name  # the label's htmlFor
            assert p.doc[1:] in json.loads(json.dumps(text))
    assert '"512"' in text


def test_a_server_that_only_reads_says_so(site: Site) -> None:
    reader = Site(site.store, allow_runs=False)
    assert new.READ_ONLY in str(new.layout(reader, place({}, "")))
    assert new.READ_ONLY not in str(new.layout(site, place({}, "")))


def test_a_run_can_be_the_start_of_a_form(site: Site) -> None:
    form = Form.from_run(site.views.run("latest"))
    assert dict(form.sizes) == {"s0": "512", "s1": "512"}
    assert dict(form.domains) == {"fifo_depth": "4, 8", "split": "UP_DOWN"}
    assert (form.strategy, form.budget, form.seed, form.rules) == ("random", "30", "3", "default")
    wish = read(form).wish
    assert wish is not None
    assert dict(wish.domains) == {"fifo_depth": (4, 8), "split": (1,)}
    assert "512" in str(new.layout(site, place({}, "?run=1")))


@pytest.mark.parametrize("name", ["ascend910b2", "ascend950pr"])
def test_rules_are_those_of_the_platform(name: str) -> None:
    from cost_models import load_platform
    from pto_tune.rule_sets import rule_sets

    family = [r.name for r in rule_sets(load_platform(name).family)]
    assert [o["value"] for o in new.rule_options(name)] == ["default", *family]


class Recorder:
    """Takes callbacks as pages register them, by the name of their function."""

    def __init__(self) -> None:
        self.found: dict[str, Any] = {}

    def __call__(self, *_: Any, **__: Any) -> Any:
        def register(function: Any) -> Any:
            self.found[function.__name__] = function
            return function

        return register


def values_of(form: Form) -> list[Any]:
    """What the page's components hold for a form."""
    model = workload(form.workload)
    out: list[Any] = [form.workload, form.platform, form.rules, form.timing, form.strategy,
                      form.budget, form.seconds, form.seed, form.name]  # fmt: skip
    for kind, parameters, texts in (("size", model.problem, form.sizes), ("domain", model.tunables, form.domains)):
        out.append([texts.get(p.name, "") for p in parameters])
        out.append([{"type": f"new-{kind}", "workload": form.workload, "name": p.name} for p in parameters])
    return out


@pytest.fixture
def callbacks(site: Site) -> dict[str, Any]:
    on = Recorder()
    new.callbacks(on, site)  # type: ignore[arg-type]
    return on.found


def test_callbacks_count_keep_and_start(callbacks: dict[str, Any], site: Site) -> None:
    form = Form(strategy="random", budget="20", sizes={"s0": "512", "s1": "512"}, domains={"fifo_depth": "8"})
    ids = [{"type": "new-said", "workload": form.workload, "field": f} for f in ("d.fifo_depth", "s.s0")]
    _, disabled, _, said, classes = callbacks["count"](ids, *values_of(form))
    assert not disabled
    assert said == [" 1 value", ""]
    assert classes == ["said", "said"]
    assert callbacks["keep"](*values_of(form)) == form.to_query()
    target = callbacks["start"](1, *values_of(form))
    run = site.views.run("latest")
    assert target == address("runs", run.id)
    assert site.sweeps.wait(run.id, 300)
    assert site.views.run(run.id).n_evaluated == 20


def test_callbacks_wait_for_the_fields_of_another_workload(callbacks: dict[str, Any]) -> None:
    from dash.exceptions import PreventUpdate

    values = values_of(Form())
    values[0] = "gemm"
    with pytest.raises(PreventUpdate):
        callbacks["count"]([], *values)
    sizes, domains, doc = callbacks["fields"]("gemm")
    assert (len(sizes), len(domains)) == (len(workload("gemm").problem), len(workload("gemm").tunables))
    assert doc == workload("gemm").doc


def test_a_wrong_form_does_not_start(callbacks: dict[str, Any], site: Site) -> None:
    before = len(site.store.runs())
    with pytest.raises(ValueError, match="out of range"):
        callbacks["start"](1, *values_of(Form(domains={"fifo_depth": "0"})))
    assert len(site.store.runs()) == before
