"""The page of the HTTP API: every route and schema, from the OpenAPI document that the server gives."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from site_parts.markdown import code, prose, table

BASE = "/api/v1"
METHODS = ("get", "post", "put", "patch", "delete")


@cache
def document() -> Mapping[str, Any]:
    """The OpenAPI document, as of a server over an empty store."""
    from dashboards.api.app import api
    from dashboards.site.state import Site
    from db import open_store

    with (
        tempfile.TemporaryDirectory() as folder,
        open_store(f"sqlite:///{Path(folder) / 'empty.db'}") as store,
    ):
        found: dict[str, Any] = api(Site(store)).openapi()
    return found


def operations() -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Method, path and operation of every route, in the order of the document."""
    for path, item in document()["paths"].items():
        for method in METHODS:
            if method in item:
                yield method.upper(), path, item[method]


def page() -> str:
    """Routes by tag, then the schemas."""
    found = document()
    parts = [prose(part) for part in found["info"]["description"].split("\n\n")]
    rows = [
        (f"[`{method} {BASE}{path}`](#{op['operationId']})", prose(_summary(op)))
        for method, path, op in operations()
    ]  # fmt: skip
    parts += ["## All routes", table(("route", "what it does"), rows)]
    for tag in found["tags"]:
        parts += [f"## {tag['name'].capitalize()} {{ #tag-{tag['name']} }}", prose(tag["description"])]
        for method, path, op in operations():
            if op["tags"][0] == tag["name"]:
                parts += _operation(method, path, op)
    parts.append("## Schemas")
    for name, schema in sorted(found["components"]["schemas"].items()):
        parts += [f"### `{name}` {{ #{_anchor(name)} }}", prose(_words(schema)), _fields(schema)]
    return "\n\n".join(part for part in parts if part)


def _summary(op: Mapping[str, Any]) -> str:
    words = str(op.get("description") or op.get("summary") or "")
    return words.split("\n\n")[0].replace("\n", " ")


def _operation(method: str, path: str, op: Mapping[str, Any]) -> Iterator[str]:
    yield f"### `{method} {BASE}{path}` {{ #{op['operationId']} }}"
    for paragraph in str(op.get("description") or op.get("summary") or "").split("\n\n"):
        yield prose(paragraph.replace("\n", " "))
    rows = []
    for p in op.get("parameters", ()):
        name = code(p["name"]) + (", required" if p.get("required") else "")
        rows.append((name, p["in"], type_of(p.get("schema", {})), prose(_words(p) or _words(p.get("schema", {})))))
    yield table(("parameter", "in", "type", "what it is"), rows)
    body = op.get("requestBody")
    if body:
        forms = ", ".join(f"{code(kind)}: {type_of(c.get('schema', {}))}" for kind, c in body["content"].items())
        yield f"**Body** {forms}"
    answers = []
    for status, answer in op["responses"].items():
        kinds = [
            f"{code(kind)}{': ' + type_of(c['schema']) if c.get('schema') else ''}"
            for kind, c in answer.get("content", {}).items()
        ]
        answers.append((status, prose(answer.get("description", "")), ", ".join(kinds)))
    yield table(("status", "when", "content"), answers)


def type_of(schema: Mapping[str, Any]) -> str:
    """A schema in words, with links to named ones."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{code(name)}](#{_anchor(name)})"
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(type_of(one) for one in schema[key]))
    if "enum" in schema:
        return " or ".join(code(value) for value in schema["enum"])
    if "const" in schema:
        return code(schema["const"])
    kind = schema.get("type", "anything")
    if kind == "array":
        return f"list of {type_of(schema.get('items', {}))}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        return f"mapping to {type_of(schema['additionalProperties'])}"
    return _bounded(str(kind) if not isinstance(kind, list) else " or ".join(kind), schema)


def _bounded(kind: str, schema: Mapping[str, Any]) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f"{kind}, {low:,} to {high:,}"
    if low is not None:
        return f"{kind}, at least {low:,}"
    return f"{kind}, at most {high:,}" if high is not None else kind


def _fields(schema: Mapping[str, Any]) -> str:
    required = schema.get("required", ())
    rows = []
    for name, field in schema.get("properties", {}).items():
        default = field.get("default")
        words = prose(_words(field)) + (f" Default {code(default)}." if default not in (None, "", [], {}) else "")
        rows.append((code(name) + (", required" if name in required else ""), type_of(field), words))
    if not rows:
        return type_of(schema) if "properties" not in schema else ""
    return table(("field", "type", "what it is"), rows)


def _words(thing: Mapping[str, Any]) -> str:
    return str(thing.get("description", "")).replace("\n", " ")


def _anchor(name: str) -> str:
    return f"schema-{name.lower()}"
