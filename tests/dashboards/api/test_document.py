"""The OpenAPI document is complete, the API answers as it says, and its page needs no other host."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode

from dashboards.api.app import api
from dashboards.api.problems import EVERYWHERE, MEDIA_TYPE
from dashboards.site.state import Site
from dashboards.site.sweeps import SweepError, Wish


@pytest.fixture(scope="session")
def document(reader: Any) -> dict[str, Any]:
    found: dict[str, Any] = reader.get("/openapi.json").json()
    return found


def operations(document: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [(p, m, about) for p, methods in document["paths"].items() for m, about in methods.items()]


def test_every_operation_is_described_and_declares_its_problems(document: dict[str, Any]) -> None:
    for path, method, about in operations(document):
        where = f"{method} {path}"
        assert about["description"], where
        assert about["tags"], where
        assert {str(status) for status in EVERYWHERE} <= about["responses"].keys(), where
        for status, response in about["responses"].items():
            if status >= "400":
                schema = response["content"][MEDIA_TYPE]["schema"]
                assert schema == {"$ref": "#/components/schemas/Problem"}, where


ROUTES = [
    "get /workloads", "get /workloads/{name}", "get /platforms", "get /platforms/{name}", "post /spaces",
    "get /runs", "post /runs", "get /runs/{run}", "get /runs/{run}/progress", "post /runs/{run}/stop",
    "get /runs/{run}/results", "get /runs/{run}/results.csv", "get /runs/{run}/results.parquet",
    "get /runs/{run}/configurations/{row}", "get /runs/{run}/configurations/{row}/trace",
    "get /runs/{run}/configurations/{row}/export/{format}", "get /runs/{run}/report.html", "post /evaluate",
    "get /measurements", "post /measurements",
]  # fmt: skip


def test_the_routes_of_the_design_are_there(document: dict[str, Any]) -> None:
    assert {f"{m} {p}" for p, m, _ in operations(document)} == set(ROUTES)


def test_requests_take_nothing_beyond_their_members(document: dict[str, Any]) -> None:
    for path, method, about in operations(document):
        if "requestBody" in about:
            ref = about["requestBody"]["content"]["application/json"]["schema"]["$ref"]
            schema = document["components"]["schemas"][ref.rpartition("/")[2]]
            assert schema["additionalProperties"] is False, f"{method} {path}"


def test_references_lead_somewhere_and_every_operation_has_its_own_name(document: dict[str, Any]) -> None:
    names = set(re.findall(r'"#/components/schemas/([^"]+)"', str(document).replace("'", '"')))
    assert names <= document["components"]["schemas"].keys()
    ids = [about["operationId"] for _, _, about in operations(document)]
    assert len(set(ids)) == len(ids)


def test_unknown_paths_and_methods_are_problems(reader: Any, problem_of: Any) -> None:
    problem_of(reader.get("/nope"), 404)
    problem_of(reader.get("/runs/"), 404)
    response = reader.request("DELETE", "/workloads")
    problem_of(response, 405)
    assert response.headers["allow"] == "GET"


def test_the_page_of_the_api_asks_no_other_host(reader: Any) -> None:
    response = reader.get("/docs")
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert re.findall(r"(?:src|href)\s*=\s*[\"']?(?:https?:)?//", response.text) == []
    assert 'fetch("openapi.json"' in response.text
    assert '<html lang="en">' in response.text
    assert "innerHTML" not in response.text


@pytest.fixture(scope="session")
def schema(filled: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The API over a store that it may change, as schemathesis sees it; sweeps are all taken."""
    from db import open_store

    def taken(wish: Wish) -> None:
        raise SweepError(f"2 sweeps run already: {wish.workload} has to wait")

    with open_store(f"sqlite:///{tmp_path_factory.mktemp('schema') / 'runs.db'}") as store:
        filled(store)
        site = Site(store, allow_runs=True)
        site.sweeps.start = taken  # type: ignore[method-assign, assignment]
        yield schemathesis.openapi.from_asgi("/openapi.json", api(site))


# Values that a schema cannot say are right may still be wrong: a domain outside its range, a run that is not there.
# What the API calls a token is the gate's matter. Nothing is deleted.
LEFT_OUT = [
    schemathesis.checks.positive_data_acceptance,
    schemathesis.checks.ignored_auth,
    schemathesis.checks.use_after_free,
    schemathesis.checks.ensure_resource_availability,
]
SETTINGS = settings(max_examples=8, deadline=None, derandomize=True, database=None,
                    suppress_health_check=list(HealthCheck))  # fmt: skip


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda m: m.value)
@pytest.mark.parametrize("route", ROUTES)
def test_answers_are_as_the_document_says(schema: Any, route: str, mode: GenerationMode) -> None:
    method, path = route.split()
    operation = schema[path][method]

    @SETTINGS
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: Any) -> None:
        if mode is GenerationMode.POSITIVE:  # of what is there
            case.path_parameters.update(
                {n: v for n, v in {"run": "1", "format": "header"}.items() if n in case.path_parameters}
            )
            if "row" in case.path_parameters:
                case.path_parameters["row"] %= 192
        case.call_and_validate(excluded_checks=LEFT_OUT)

    try:
        ask()
    except Unsatisfiable:
        assert mode is GenerationMode.NEGATIVE
        assert "parameters" not in schema.raw_schema["paths"][path][method]
