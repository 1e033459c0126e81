"""JSON: whole, of a published schema, and read back equal or refused with its place."""

import json
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from pto_tune import api
from pto_tune.exporters import document
from pto_tune.exporters.checks import ExportError
from pto_tune.exporters.document import OPTIONAL, parse_document, read_document, schema_text
from pto_tune.exporters.formats import format_named, render, write
from pto_tune.exporters.recommendation import PipeCall, PipeRecommendation, PipeWay, Recommendation
from pto_tune.model.nodes import TConfig

Make = Callable[..., Recommendation]
MakePipe = Callable[..., PipeRecommendation]

JSON = format_named("json")


@pytest.fixture(scope="module")
def valid() -> Any:
    return jsonschema_rs.Draft202012Validator(json.loads(schema_text()))


@pytest.fixture
def rich(recommendation: Make, pipe: MakePipe) -> Recommendation:
    """One with everything that there is."""
    way = PipeWay("C2V", "GM", 1024, (PipeCall("AIC", "TPUSH", "TileData", ("TILE_UP_DOWN",), 0, True),))
    pipes = (pipe("t", ways=(way,), kind="TMPipe", gated=True, switches_off=("record",), configs=(TConfig(),)),)
    return recommendation(pipes=pipes, codes={"split": 1}, assumed=("link.hccs.put.latency",), row=7,
                          warnings=("one",), exported="2026-12-01", pto_isa="0a15e15c", run="中文 ${x}")  # fmt: skip


def test_the_schema_is_one_and_names_every_field(valid: Any) -> None:
    jsonschema_rs.meta.validate(json.loads(schema_text()))
    definitions = json.loads(schema_text())["$defs"]
    records = {
        "recommendation": Recommendation, "pipe": PipeRecommendation, "way": PipeWay, "call": PipeCall,
        "config": TConfig,
    }  # fmt: skip
    assert definitions.keys() == records.keys()
    for name, cls in records.items():
        own = [f.name for f in fields(cls)]
        assert list(definitions[name]["properties"]) == own
        assert definitions[name]["required"] == [n for n in own if cls is not Recommendation or n not in OPTIONAL]
        assert definitions[name]["additionalProperties"] is False
        assert all(p.get("description") or "$ref" in p for p in definitions[name]["properties"].values())
    assert not valid.is_valid({})


def test_what_is_written_is_valid_and_read_back_equal(rich: Recommendation, recommendation: Make, valid: Any) -> None:
    more = recommendation(chosen="least regret", source_sha256="ab" * 32)
    for recs in ([rich], [more], [recommendation(), rich], [recommendation(interval_us=None, samples=0)]):
        text = render(JSON, recs)
        assert text.isascii()
        assert valid.is_valid(json.loads(text))
        assert parse_document(text.encode(), "x") == recs


@pytest.mark.parametrize("platform", ["ascend910b2", "ascend950pr"])
@pytest.mark.parametrize("workload", ["stream", "matmul_epilogue", "tput_pingpong"])
def test_real_ones_are_read_back_equal_and_make_the_same_header(workload: str, platform: str, tmp_path: Path) -> None:
    rec = api.recommendation(workload, {}, platform)
    path = write(JSON, [rec], tmp_path / "rec.json")
    (again,) = read_document(path)
    assert again == rec
    assert render(format_named("header"), [again]) == render(format_named("header"), [rec])


def test_a_changed_document_is_refused(rich: Recommendation, tmp_path: Path) -> None:
    path = write(JSON, [rich], tmp_path / "rec.json")
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert read_document(path) == [rich]
    path.write_text(path.read_text().replace('"slot_num": 8', '"slot_num": 4'))
    with pytest.raises(ExportError, match="was changed since pto-tune wrote it"):
        read_document(path)


def _without(name: str) -> Callable[[dict[str, Any]], object]:
    return lambda entry: entry.pop(name)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda e: e.update(verdict=1), "recommendations[0].verdict: "),
        (lambda e: e.update(more=1), "recommendations[0].more: no such name"),
        (_without("codes"), "recommendations[0].codes: is missing"),
        (_without("soc"), "recommendations[0].soc: "),
        (lambda e: e["pipes"][0].update(slot_num="8"), "recommendations[0].pipes[0].slot_num: "),
        (lambda e: e["pipes"][0].update(slot_num=8.0), "recommendations[0].pipes[0].slot_num: "),
        (lambda e: e["pipes"][0].update(is_no_split=0), "recommendations[0].pipes[0].is_no_split: "),
        (lambda e: e["pipes"][0].update(kind="UPipe"), "recommendations[0].pipes[0].kind: "),
        (lambda e: e["pipes"][0].update(other=1), "recommendations[0].pipes[0].other: no such name"),
        (lambda e: e["pipes"][0]["ways"][0].pop("calls"), "recommendations[0].pipes[0].ways[0].calls: is missing"),
        (lambda e: e["pipes"][0]["configs"][0].update(x=1), "recommendations[0].pipes[0].configs[0].x: no such name"),
        (lambda e: e.update(interval_us=[1.0]), "recommendations[0].interval_us"),
        (lambda e: e.update(configuration={"a": 1.5}), "recommendations[0].configuration.a"),
    ],
)
def test_what_the_schema_does_not_allow_is_refused_with_its_place(
    change: Callable[[dict[str, Any]], object], place: str, rich: Recommendation, valid: Any
) -> None:
    data = json.loads(render(JSON, [rich]))
    change(data["recommendations"][0])
    if "slot_num" in place and data["recommendations"][0]["pipes"][0]["slot_num"] == 8.0 and "8.0" in json.dumps(data):
        pass  # a whole number to a JSON Schema, and none to the reader
    else:
        assert not valid.is_valid(data)
    with pytest.raises(ExportError) as refused:
        parse_document(json.dumps(data).encode(), "file.json")
    assert str(refused.value).startswith(f"file.json: {place}")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[]", "it names no schema"),
        (b'{"schema": "other/1"}', "its schema is 'other/1'"),
        (b'{"schema": "pto-tune-recommendation/1", "recommendations": []}', "a list with one and more"),
        (b'{"schema": "pto-tune-recommendation/1", "content_sha256": "", "recommendations": [1]}', "[0]: "),
        (b'{"schema": NaN}', "NaN is no number"),
        (b"[" * 100_000, "not JSON"),
    ],
)
def test_other_files_are_one_sentence(content: bytes, words: str) -> None:
    with pytest.raises(ExportError) as refused:
        parse_document(content, "file.json")
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_truncated_document_is_refused_everywhere(rich: Recommendation) -> None:
    text = render(JSON, [rich]).encode()
    for end in range(0, len(text) - 2, 97):
        with pytest.raises(ExportError):
            parse_document(text[:end], "x")


def test_a_large_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "MAX_BYTES", 10)
    path = tmp_path / "x.json"
    path.write_bytes(b" " * 11)
    with pytest.raises(ExportError, match="larger than"):
        read_document(path)


def test_times_that_are_no_numbers_are_refused(recommendation: Make) -> None:
    with pytest.raises(ExportError, match="predicted_us"):
        render(JSON, [replace(recommendation(), predicted_us=float("nan"))])
