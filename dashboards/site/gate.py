"""Who may ask, and how much: in front of pages and API alike.

A browser of the same machine can be made to send requests by any page that it has open. So the Host header has to be
one that the server was started for (no DNS rebinding), a request that changes something has to come from a page of this
server (no cross-site request), and its body is limited. A token, where there is one, is compared in constant time.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = ("127.0.0.1", "localhost", "::1")
COOKIE = "pto_tune_token"
MOST_BODY_BYTES = 4 * 1024 * 1024
_SAFE = ("GET", "HEAD", "OPTIONS")

HEADERS = (
    # No page asks another host for anything. The pages' libraries need inline styles, and scripts made from texts.
    (
        b"content-security-policy",
        b"default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
        b"img-src 'self' data: blob:; font-src 'self' data:; worker-src 'self' blob:; frame-ancestors 'none'; "
        b"base-uri 'self'; form-action 'self'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
)


class Gate:
    """ASGI middleware.

    Args:
        hosts: host names that the server answers to, beside those of the loopback.
        token: what a request has to show, as `Authorization: Bearer TOKEN`, in the cookie that `?token=TOKEN` in a
            page's address sets, or nothing where there is none.
        body_bytes: the largest body of a request.
    """

    def __init__(
        self, app: Application, hosts: Iterable[str] = (), token: str | None = None, body_bytes: int = MOST_BODY_BYTES
    ) -> None:
        self._app = app
        self._hosts = {_host(name) for name in (*LOOPBACK, *hosts)}
        self._token = token
        self._body_bytes = body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            # nothing here speaks it
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {k.decode("latin-1").lower(): v.decode("latin-1") for k, v in scope["headers"]}
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _answer(send, *refusal)
            return
        if self._token is not None:
            given, rest = _query_token(scope)
            if given is not None and scope["method"] in _SAFE and self._is_token(given):
                await _enter(send, scope["path"], rest, given)
                return
            if not self._is_token(_bearer(headers)) and not self._is_token(_cookie(headers)):
                await _answer(
                    send, 401, "Unauthorized",
                    "a token is needed: send 'Authorization: Bearer TOKEN', or open a page with ?token=TOKEN",
                )  # fmt: skip
                return
        await self._app(scope, self._limited(receive), _with_headers(send))

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str, str] | None:
        host = headers.get("host", "")
        if _host(host) not in self._hosts:
            return 421, "Misdirected Request", f"this server does not answer for the host {host!r}: see --allow-host"
        if scope["method"] not in _SAFE:
            origin = headers.get("origin")
            if origin is not None and urlsplit(origin).netloc != host:
                return 403, "Forbidden", f"the request comes from a page of {origin!r}, not from one of this server"
            if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
                return 403, "Forbidden", "the request comes from a page of another site"
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self._body_bytes:
            return self._too_large()
        return None

    def _too_large(self) -> tuple[int, str, str]:
        return 413, "Content Too Large", f"a request may carry {self._body_bytes:,} bytes"

    def _is_token(self, given: str) -> bool:
        return self._token is not None and hmac.compare_digest(given.encode("utf-8"), self._token.encode("utf-8"))

    def _limited(self, receive: Receive) -> Receive:
        """A body without a stated length ends where the limit is."""
        seen = 0

        async def limited() -> Message:
            nonlocal seen
            message = await receive()
            if message["type"] == "http.request":
                seen += len(message.get("body", b""))
                if seen > self._body_bytes:
                    return {"type": "http.disconnect"}
            return message

        return limited


def _host(name: str) -> str:
    """A Host header without its port, in lower case."""
    name = name.strip().lower()
    if name.startswith("["):
        return name[1:].partition("]")[0]
    return name.rpartition(":")[0] if name.count(":") == 1 else name


def _query_token(scope: Scope) -> tuple[str | None, str]:
    """The token in the address, and the query without it."""
    pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    given = next((value for name, value in pairs if name == "token"), None)
    return given, urlencode([(name, value) for name, value in pairs if name != "token"])


def _bearer(headers: dict[str, str]) -> str:
    scheme, _, value = headers.get("authorization", "").partition(" ")
    return value.strip() if scheme.lower() == "bearer" else ""


def _cookie(headers: dict[str, str]) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return "" if found is None else found.value


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            there = {name.lower() for name, _ in message["headers"]}
            message["headers"] = [*message["headers"], *(pair for pair in HEADERS if pair[0] not in there)]
        await send(message)

    return sending


async def _answer(send: Send, status: int, title: str, detail: str) -> None:
    """A refusal as problem details (RFC 9457)."""
    import json

    body = json.dumps({"type": "about:blank", "title": title, "status": status, "detail": detail}).encode("ascii")
    headers = [(b"content-type", b"application/problem+json"), (b"content-length", str(len(body)).encode("ascii"))]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await _with_headers(send)({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _enter(send: Send, path: str, query: str, token: str) -> None:
    """Keep the token in a cookie and show the address without it."""
    from urllib.parse import quote

    cookie: SimpleCookie = SimpleCookie()
    cookie[COOKIE] = token
    for name, value in (("path", "/"), ("httponly", "True"), ("samesite", "Strict")):
        cookie[COOKIE][name] = value
    # one slash: a second one would name another host
    target = "/" + quote(path.lstrip("/")) + (f"?{query}" if query else "")
    headers = [
        (b"location", target.encode("latin-1")),
        (b"set-cookie", cookie.output(header="").strip().encode("latin-1")),
        (b"content-length", b"0"),
    ]
    await _with_headers(send)({"type": "http.response.start", "status": 303, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
