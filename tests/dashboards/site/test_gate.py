"""The gate in front of pages and API: host, origin, token, size; and that problems of both look alike."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from dashboards.site.gate import COOKIE, MOST_BODY_BYTES, Gate

TOKEN = "0123456789abcdef-token"


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Answers with the size of the body; 400 where the client has gone before its end."""
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            await send({"type": "http.response.start", "status": 400, "headers": []})
            await send({"type": "http.response.body", "body": b"gone"})
            return
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": f"{scope['path']} {size}".encode()})


def ask(app: Any, method: str = "GET", path: str = "/", base: str = "http://127.0.0.1:8050", **more: Any) -> Any:
    async def asking() -> Any:
        import httpx

        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=base) as client:
            return await client.request(method, path, **more)

    return alone(asking())


def alone(work: Any) -> Any:
    """What a coroutine returns, in a thread of its own: the browser of other tests may have a loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def refused(response: Any, status: int) -> str:
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    found = response.json()
    assert found["status"] == status
    return str(found["detail"])


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:1", "localhost", "LOCALHOST:80", "[::1]", "[::1]:8050"])
def test_the_loopback_is_let_in(host: str) -> None:
    assert ask(Gate(echo), headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "127.0.0.1@evil.example", "", "10.0.0.1",
     "evil.example:127.0.0.1", "localhost:80:80", "[evil.example]"],
)  # fmt: skip
def test_other_hosts_are_not(host: str) -> None:
    assert "--allow-host" in refused(ask(Gate(echo), headers={"host": host}), 421)


def test_a_named_host_is() -> None:
    gate = Gate(echo, hosts=["Tuning.example"])
    assert ask(gate, headers={"host": "tuning.example:8050"}).status_code == 200
    refused(ask(gate, headers={"host": "other.example"}), 421)


def test_changes_come_from_a_page_of_this_server() -> None:
    gate = Gate(echo)
    assert ask(gate, "POST").status_code == 200
    assert ask(gate, "POST", headers={"origin": "http://127.0.0.1:8050"}).status_code == 200
    for headers in (
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ):
        refused(ask(gate, "POST", headers=headers), 403)
    # reading is not changing: a link from elsewhere opens a page
    assert ask(gate, headers={"origin": "http://evil.example", "sec-fetch-site": "cross-site"}).status_code == 200


def test_bodies_have_a_limit() -> None:
    gate = Gate(echo, body_bytes=1000)
    assert ask(gate, "POST", content=b"x" * 1000).text == "/ 1000"
    assert "1,000 bytes" in refused(ask(gate, "POST", content=b"x" * 1001), 413)
    refused(ask(gate, "POST", content=b"x", headers={"content-length": "99999999999"}), 413)
    refused(ask(gate, "POST", content=b"x", headers={"content-length": "-1"}), 413)
    refused(ask(gate, "POST", content=b"x", headers={"content-length": "1e3"}), 413)


def test_a_body_without_a_length_ends_at_the_limit() -> None:
    async def chunks(n: int) -> Any:
        for _ in range(n):
            yield b"x" * 100

    gate = Gate(echo, body_bytes=1000)
    assert ask(gate, "POST", content=chunks(10)).text == "/ 1000"
    assert ask(gate, "POST", content=chunks(11)).status_code == 400


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer x", f"Basic {TOKEN}", f"Bearer {TOKEN}x", TOKEN])
def test_without_the_token_nothing_is_told(header: str) -> None:
    response = ask(Gate(echo, token=TOKEN), path="/runs", headers={"authorization": header} if header else {})
    assert "a token is needed" in refused(response, 401)
    assert response.headers["www-authenticate"] == "Bearer"


def test_the_token_as_header_and_cookie() -> None:
    gate = Gate(echo, token=TOKEN)
    assert ask(gate, headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
    assert ask(gate, headers={"authorization": f"bearer {TOKEN}"}).status_code == 200
    assert ask(gate, headers={"cookie": f"other=1; {COOKIE}={TOKEN}"}).status_code == 200
    refused(ask(gate, headers={"cookie": f"{COOKIE}=nope"}), 401)
    refused(ask(gate, headers={"cookie": "\x7f;=;;"}), 401)


def test_the_token_in_the_address_becomes_a_cookie_and_leaves_the_address() -> None:
    gate = Gate(echo, token=TOKEN)
    response = ask(gate, path=f"/runs/1?a=1&token={TOKEN}&b=%20x")
    assert response.status_code == 303
    assert response.headers["location"] == "/runs/1?a=1&b=+x"
    cookie = response.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    refused(ask(gate, path="/runs?token=wrong"), 401)
    refused(ask(gate, "POST", path=f"/runs?token={TOKEN}"), 401)


def test_the_way_without_the_token_leads_to_no_other_host() -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request"}

    scope = {"type": "http", "method": "GET", "path": "//evil.example/x", "query_string": f"token={TOKEN}".encode(),
             "headers": [(b"host", b"localhost")]}  # fmt: skip
    alone(Gate(echo, token=TOKEN)(scope, receive, send))
    assert dict(sent[0]["headers"])[b"location"] == b"/evil.example/x"


def test_every_answer_carries_the_headers_that_keep_browsers_out_of_trouble() -> None:
    for response in (ask(Gate(echo)), ask(Gate(echo), headers={"host": "evil.example"})):
        assert "default-src 'self'" in response.headers["content-security-policy"]
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["x-frame-options"] == "DENY"


def test_websockets_are_closed() -> None:
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    alone(Gate(echo)({"type": "websocket", "headers": [], "path": "/"}, receive, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The application as it is served, over an empty store, with a token."""
    from dashboards.site.app import build
    from dashboards.site.state import Site
    from db import open_store

    with open_store(f"sqlite:///{tmp_path_factory.mktemp('whole') / 'runs.db'}") as store:
        yield build(Site(store, allow_runs=True), hosts=["tuning.example"], token=TOKEN)


AUTHORISED = {"authorization": f"Bearer {TOKEN}"}


@pytest.mark.parametrize(
    "path", ["/", "/api/v1/runs", "/api/v1/docs", "/api/v1/openapi.json", "/_dash-layout", "/nope"]
)
def test_pages_and_api_stand_behind_the_gate(whole: Any, path: str) -> None:
    refused(ask(whole, path=path), 401)
    refused(ask(whole, path=path, headers={**AUTHORISED, "host": "evil.example"}), 421)


def test_the_api_is_mounted(whole: Any) -> None:
    assert ask(whole, path="/api/v1/runs", headers=AUTHORISED).json()["total"] == 0
    document = ask(whole, path="/api/v1/openapi.json", headers=AUTHORISED).json()
    assert document["servers"] == [{"url": "/api/v1"}]
    # what the API does not know is not answered with a page
    refused(ask(whole, path="/api/v1/nope", headers=AUTHORISED), 404)
    assert ask(whole, path="/api/v1/docs", headers=AUTHORISED).status_code == 200


def test_a_run_that_is_started_has_an_address(whole: Any) -> None:
    body = {"workload": "stream", "strategy": "exhaustive", "budget": 10}
    response = ask(whole, "POST", "/api/v1/runs", headers=AUTHORISED, json=body)
    assert response.status_code == 201, response.text
    assert response.headers["location"] == "/api/v1/runs/1"
    assert ask(whole, path=response.headers["location"], headers=AUTHORISED).json()["id"] == 1
    refused(ask(whole, "POST", "/api/v1/runs", headers={**AUTHORISED, "origin": "http://evil.example"}, json=body), 403)


def test_large_bodies_are_refused_as_problems(whole: Any) -> None:
    async def chunks() -> Any:
        for _ in range(MOST_BODY_BYTES // 65_536 + 2):
            yield b"[" + b" " * 65_535

    large = b" " * (MOST_BODY_BYTES + 1)
    headers = {**AUTHORISED, "content-type": "application/json"}
    refused(ask(whole, "POST", "/api/v1/evaluate", headers=headers, content=large), 413)
    refused(ask(whole, "POST", "/api/v1/evaluate", headers=headers, content=chunks()), 413)
