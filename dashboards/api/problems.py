"""Errors as problem details (RFC 9457): what the API answers where it cannot do what it is asked."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastapi import FastAPI, Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MEDIA_TYPE = "application/problem+json"
MOST_FAULTS = 100
"""Errors that one answer lists; the rest is counted."""

_LONGEST = 2_000

DESCRIPTIONS = {
    400: "The request cannot be read.",
    401: "The server wants a token: `Authorization: Bearer TOKEN`.",
    403: "The server only reads (it was started without --allow-runs), or the request comes from another site's page.",
    404: "There is nothing of this name or number.",
    405: "The address takes other methods: see the header Allow.",
    409: "The state of things does not allow it; `detail` says why.",
    413: "The request carries too much.",
    421: "The server does not answer for this host name.",
    422: "The request is understood, but something in it is wrong: `errors` lists everything, with its place.",
    500: "The server failed; its own messages say why.",
    501: "An optional package is missing on the server.",
    503: "The store or the server is too busy: try again later.",
}
EVERYWHERE = (400, 401, 403, 404, 413, 421, 422, 500, 503)

SCHEMAS: dict[str, Any] = {
    "Problem": {
        "title": "Problem",
        "description": "Problem details, RFC 9457.",
        "type": "object",
        "additionalProperties": False,
        "required": ["type", "title", "status", "detail"],
        "properties": {
            "type": {"type": "string", "format": "uri-reference", "description": "about:blank: the status says it."},
            "title": {"type": "string", "description": "The status in words."},
            "status": {"type": "integer", "minimum": 400, "maximum": 599},
            "detail": {"type": "string", "description": "What is wrong and what would be right, a sentence a line."},
            "errors": {
                "type": "array",
                "maxItems": MOST_FAULTS,
                "items": {"$ref": "#/components/schemas/Fault"},
                "description": "Everything that is wrong with the request.",
            },
        },
    },
    "Fault": {
        "title": "Fault",
        "type": "object",
        "additionalProperties": False,
        "required": ["path", "detail"],
        "properties": {
            "path": {"type": "string", "description": "The place in the request, such as body/domains/fifo_depth/2."},
            "detail": {"type": "string"},
        },
    },
}
"""Schemas of an answer with a problem, for the OpenAPI document."""


class Problem(Exception):
    """Ends a request with this status. `faults`: (place in the request, sentence) pairs."""

    def __init__(self, status: int, detail: str, faults: Iterable[tuple[str, str]] = ()) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.faults = list(faults)


def wrong(faults: Sequence[tuple[str, str]]) -> Problem:
    """422 with everything that is wrong."""
    return Problem(422, "\n".join(dict.fromkeys(sentence for _, sentence in faults)), faults)


@contextmanager
def at(path: str, status: int = 422) -> Iterator[None]:
    """What is raised inside as ValueError, a sentence a line, is wrong with the request at `path`."""
    try:
        yield
    except ValueError as error:
        raise Problem(status, str(error), [(path, line) for line in str(error).splitlines()]) from error


def declared(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Answers with problems for the OpenAPI document, beside those that every route has."""
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {status: {"description": DESCRIPTIONS[status], "content": content} for status in statuses}


def answer(
    status: int,
    detail: str,
    faults: Sequence[tuple[str, str]] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    """The response. Its JSON is ASCII: texts of a request may hold what UTF-8 cannot encode."""
    from starlette.responses import Response

    shown = [{"path": path, "detail": _cut(sentence)} for path, sentence in faults[:MOST_FAULTS]]
    more = f"\n... and {len(faults) - MOST_FAULTS:,} more errors" if len(faults) > MOST_FAULTS else ""
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": _cut(detail) + more,
    }
    if shown:
        body["errors"] = shown
    return Response(json.dumps(body), status, dict(headers or {}), media_type=MEDIA_TYPE)


def install(app: FastAPI) -> None:
    """Make every error of `app` an answer with problem details."""
    from fastapi.exceptions import RequestValidationError
    from starlette.exceptions import HTTPException
    from starlette.requests import ClientDisconnect

    def of_problem(request: Request, error: Exception) -> Response:  # noqa: ARG001
        assert isinstance(error, Problem)
        return answer(error.status, error.detail, error.faults)

    def of_http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if isinstance(error.__cause__, ClientDisconnect):
            # the gate ends a body without a stated length where its limit is
            return answer(413, "the request carries more than the server takes")
        details = {
            404: f"there is nothing at {request.url.path}: see docs for what there is",
            405: f"{request.method} is not for this address",
        }
        return answer(error.status_code, details.get(error.status_code, str(error.detail)), (), error.headers)

    def of_validation(request: Request, error: Exception) -> Response:  # noqa: ARG001
        assert isinstance(error, RequestValidationError)
        problem = wrong(
            [("body" if e["type"] == "json_invalid" else _path(e["loc"]), _sentence(e)) for e in error.errors()]
        )
        return answer(problem.status, problem.detail, problem.faults)

    app.add_exception_handler(Problem, of_problem)
    app.add_exception_handler(HTTPException, of_http)
    app.add_exception_handler(RequestValidationError, of_validation)
    app.add_middleware(Failures)


class Failures:
    """ASGI middleware: what nobody has foreseen is logged and answered with 500, without what went wrong inside."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def sending(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except Exception:
            logging.getLogger("pto_tune.serve").exception("the API failed at %s", scope["path"])
            if started:  # half an answer must not look like a whole one
                raise
            await answer(500, DESCRIPTIONS[500])(scope, receive, send)


def _path(loc: Sequence[Any]) -> str:
    return "/".join(str(part).replace("~", "~0").replace("/", "~1") for part in loc)


def _sentence(error: Mapping[str, Any]) -> str:
    if error["type"] == "json_invalid":
        return f"the body is no JSON: {error.get('ctx', {}).get('error', 'it cannot be read')}"
    text = str(error["msg"]).removeprefix("Value error, ")
    name = str(error["loc"][-1]) if error["loc"] else "request"
    return text if error["type"] == "value_error" else f"{name}: {text[:1].lower()}{text[1:]}"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
