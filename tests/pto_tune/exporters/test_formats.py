"""The registry of formats: each renders every workload on every platform or says why not, and loses nothing unsaid."""

import ast
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from cost_models import platform_names
from pto_tune import api
from pto_tune.exporters import formats
from pto_tune.exporters.checks import ExportError
from pto_tune.exporters.document import parse_document
from pto_tune.exporters.formats import FORMATS, Format, Options, format_named, render
from pto_tune.exporters.recommendation import PipeRecommendation, Recommendation
from pto_tune.exporters.writing import is_signed
from pto_tune.workloads import workload_names

Make = Callable[..., Recommendation]
MakePipe = Callable[..., PipeRecommendation]
Compile = Callable[..., str]

TEMPLATE = "{{ content_sha256 }}\n{{ rec.workload }} {{ recommendations | length }}\n"
OPTIONS = Options(template=TEMPLATE)
ALONE = [form for form in FORMATS if form.needs != "source"]
"""Formats that are not the patched kernel file of a workload."""
NOT_THERE = {"flash_attention_950": "a2a3", "bulk_transfer": "a5"}
"""Workloads whose default configuration is refused on a family, which has no such pipes or links."""
TOO_SMALL = [("gemm_allreduce", "ascend910b3"), ("gemm_allreduce", "ascend910b4")]
"""Platforms with fewer cores than a workload's default configuration has blocks."""


@cache
def made(workload: str, platform: str) -> Recommendation | str:
    try:
        return api.recommendation(workload, {}, platform)
    except ValueError as error:
        return str(error)


@pytest.fixture
def no_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples of the platform take time and change no constant."""
    monkeypatch.setattr(api, "quick_interval", lambda _: (None, 0))


@pytest.mark.parametrize("platform", platform_names())
@pytest.mark.parametrize("workload", workload_names())
@pytest.mark.usefixtures("no_intervals")
def test_every_workload_on_every_platform_compiles_as_header_and_renders_in_every_format(
    workload: str, platform: str, compiler_says: Compile
) -> None:
    rec = made(workload, platform)
    family = "a5" if platform.startswith("ascend950") else "a2a3"
    if isinstance(rec, str):
        assert NOT_THERE.get(workload) == family or (workload, platform) in TOO_SMALL
        assert "refused" in rec
        return
    assert compiler_says(render(format_named("header"), [rec]), family=family) == ""
    assert compiler_says(render(format_named("header"), [rec], Options(by_shape=True)), family=family) == ""
    for form in ALONE:
        if form.key == "cases" and workload != "flash_attention":
            with pytest.raises(ExportError, match="no public scripts"):
                render(form, [rec], OPTIONS)
            continue
        text = render(form, [rec], replace(OPTIONS, accept_loss=True))
        assert is_signed(text.encode()) is True
        assert render(form, [rec], replace(OPTIONS, accept_loss=True)) == text


@pytest.mark.parametrize("form", ALONE, ids=lambda form: form.key)
def test_equal_recommendations_give_equal_bytes(form: Format, flash: Make) -> None:
    rec = flash()
    turned = replace(
        rec,
        **{
            name: dict(reversed(list(getattr(rec, name).items())))
            for name in ("configuration", "problem", "constants", "versions")
        },
    )
    assert render(form, [turned], OPTIONS) == render(form, [rec], OPTIONS)


@pytest.mark.parametrize("form", ALONE, ids=lambda form: form.key)
def test_no_format_has_a_date_unless_asked(form: Format, flash: Make) -> None:
    rec = flash()
    template = replace(OPTIONS, template="{{ content_sha256 }} {{ rec.exported }}\n")
    assert "2026-12-01" not in render(form, [rec], template)
    dated = render(form, [replace(rec, exported="2026-12-01")], template)
    assert ("2026-12-01" in dated) == (form.key != "definitions")


@pytest.mark.parametrize("form", ALONE, ids=lambda form: form.key)
def test_only_what_is_ok_becomes_a_file(form: Format, flash: Make) -> None:
    with pytest.raises(ExportError, match="verdict is 'race'"):
        render(form, [flash(verdict="race")], replace(OPTIONS, accept_loss=True))
    with pytest.raises(ExportError, match="no configuration to export"):
        render(form, [], OPTIONS)


@pytest.mark.parametrize("key", ["cmake", "definitions"])
def test_what_holds_one_refuses_two(key: str, recommendation: Make) -> None:
    with pytest.raises(ExportError, match="holds one configuration, not 2"):
        render(format_named(key), [recommendation()] * 2, OPTIONS)


def test_a_format_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(ValueError, match=r"no export format 'pdf': choose one of header, cmake, "):
        format_named("pdf")


def test_a_format_of_whole_runs_is_offered_where_its_module_is(monkeypatch: pytest.MonkeyPatch) -> None:
    here = formats.RunFormat("x", "x", ".x", "pto_tune.exporters.formats", 5)
    gone = formats.RunFormat("y", "y", ".y", "pto_tune.exporters.no_such_module", 5)
    monkeypatch.setattr(formats, "RUN_FORMATS", (here, gone))
    assert formats.run_format_named("x") is here
    assert formats.run_format_named("y") is None
    assert "x" in formats.names()
    assert "y" not in formats.names()


def test_a_format_of_whole_runs_is_told_how_many_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    form = formats.RunFormat("x", "x", ".x", "pto_tune.exporters.formats", 5)
    monkeypatch.setattr(formats, "write_run", lambda *all_: asked.append(all_) or "written", raising=False)
    nothing: Any = None
    assert form.write(nothing, nothing, nothing, None, True) == "written"
    form.write(nothing, nothing, nothing, 7, False)
    assert asked == [(None, None, None, 5, True), (None, None, None, 7, False)]


@pytest.fixture
def gated(recommendation: Make, pipe: MakePipe) -> Recommendation:
    """A TMPipe whose period no rule derives, with a switch that stays off, and a warning."""
    odd = pipe("t", kind="TMPipe", gated=True, slot_num=8, sync_period=2, switches_off=("record",))
    return recommendation(pipes=(odd,), warnings=("a page forbids this",))


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("definitions", ["gates of TMPipe 't'", "prod.setRecordStatus(false)", "a page forbids this"]),
        ("python", ["TMPipe 't' with FiFoDepth 8 and FiFoSyncT 2", "prod.setRecordStatus(false)"]),
    ],
)
def test_what_a_format_cannot_express_is_refused_unless_accepted(
    key: str, words: list[str], gated: Recommendation
) -> None:
    form = format_named(key)
    with pytest.raises(ExportError) as refused:
        render(form, [gated])
    said = str(refused.value).splitlines()
    assert len(said) == len(words)
    for word, line in zip(words, said, strict=True):
        assert line.startswith(f"the format {key!r} cannot express ")
        assert word in line
    text = render(form, [gated], Options(accept_loss=True))
    if key == "python":
        assert "# left out    TMPipe 't' with FiFoDepth 8" in text


@pytest.mark.parametrize("key", ["header", "cmake", "json"])
def test_formats_that_carry_it_say_it(key: str, gated: Recommendation) -> None:
    text = render(format_named(key), [gated])
    assert "a page forbids this" in text
    assert "FiFoSyncT" in text or '"sync_period": 2' in text
    assert "setRecordStatus" in text or '"record"' in text


ESCAPED = ("header", "cmake", "cases", "python")
"""Formats in which each strange character is a code."""
HOSTILE = ("a b", "it's", 'say "x"', "中文 🚀", "${HOME} $(id) `id`", "a\\", "x]==]y]=", "%TITLE%", "*/ ??/", "{{ 1 }}",
           "-D x; y", "<U+0041>", "# [[", "line\nbreak", "\x1b[31m", "\u202e", "\ud800")  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
@pytest.mark.parametrize("form", ALONE, ids=lambda form: form.key)
def test_strange_names_survive_or_are_refused(form: Format, name: str, flash: Make, compiler_says: Compile) -> None:
    rec = flash(run=name, platform=name, soc=name)
    options = replace(OPTIONS, template="{{ content_sha256 }}\n{{ rec.run | json }}\n")
    if "\ud800" in name and form.key != "definitions" and form.key not in ESCAPED:
        with pytest.raises(ExportError, match="half a character"):
            render(form, [rec], options)
        return
    if form.key == "cmake" and any(ord(c) < 32 or ord(c) in (0x202E, 0xD800) for c in name):
        with pytest.raises(ExportError, match="takes one line of visible characters"):
            render(form, [rec], options)
        return
    text = render(form, [rec], options)
    assert is_signed(text.encode()) is True
    if form.key == "header":
        assert compiler_says(text) == ""
    elif form.key == "json":
        assert parse_document(text.encode(), "x")[0].run == name
    elif form.key == "python":
        module = ast.parse(text)
        assert ast.literal_eval(module.body[0].value)[0]["platform"] == name  # type: ignore[attr-defined]
    elif form.key == "cases":
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        assert all(line.startswith("export PTO_TUNE_") for line in lines)


@pytest.mark.parametrize("form", ALONE, ids=lambda form: form.key)
def test_names_that_no_program_may_define_are_refused_everywhere(form: Format, flash: Make) -> None:
    with pytest.raises(ExportError, match=r"constant name 'a\$\{x\}' does not give"):
        render(form, [flash(constants={"a${x}": 1})], OPTIONS)
