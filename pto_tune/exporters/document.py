"""Recommendations as JSON, whole: what is written is read back equal, so that a build needs nothing else.

The schema is published in the package (`SCHEMA_FILE`); `read_document` accepts what it describes and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from pto_tune.exporters.checks import ExportError
from pto_tune.exporters.recommendation import Recommendation
from pto_tune.exporters.writing import ZEROS, encoded, is_signed

SCHEMA = "pto-tune-recommendation/1"
"""Name and number of the schema; the number rises when what was valid is no longer."""

SCHEMA_FILE = "recommendation.schema.json"
MAX_BYTES = 16 * 2**20
MAX_SHOWN = 20  # errors in a message
OPTIONAL = ("chosen", "source_sha256")
"""Names that a document has only where there is something to say."""


def schema_text() -> str:
    """The JSON Schema of documents (draft 2020-12)."""
    return files("pto_tune.exporters").joinpath("schemas", SCHEMA_FILE).read_text(encoding="utf-8")


def body(recs: Sequence[Recommendation]) -> str:
    """The document with zeros for its signature: ASCII, keys in a fixed order."""
    for rec in recs:
        encoded(json.dumps(plain(rec), ensure_ascii=False))  # what has no UTF-8 has no JSON that others read
    content = {"schema": SCHEMA, "content_sha256": ZEROS, "recommendations": [_said(rec) for rec in recs]}
    return json.dumps(content, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def plain(rec: Recommendation) -> dict[str, Any]:
    """A recommendation as JSON has it, names of mappings sorted."""
    return {name: _plain(value) for name, value in asdict(rec).items()}


def _said(rec: Recommendation) -> dict[str, Any]:
    return {name: value for name, value in plain(rec).items() if value is not None or name not in OPTIONAL}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in sorted(value.items())}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value


def read_document(path: str | Path) -> list[Recommendation]:
    """The recommendations of a document that pto-tune wrote and nobody changed.

    ExportError: not such a document, with everything that is wrong; changed since it was written; too large. OSError as
    by reading a file.
    """
    content = _read(Path(path))
    signed = is_signed(content)
    recs = parse_document(content, str(path))
    if not signed:
        raise ExportError(
            f"{path} was changed since pto-tune wrote it, so that what it predicts is no longer of what it holds: "
            "exporting it again would be right"
        )
    return recs


def parse_document(content: bytes, where: str) -> list[Recommendation]:
    """As `read_document`, of content, whose signature is not looked at."""
    try:
        data = json.loads(content.decode("utf-8"), parse_constant=_no_number)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError, ValueError) as error:
        raise ExportError(
            f"{where}: not JSON ({error}): a file of 'pto-tune export --format json' would be right"
        ) from None
    name = data.get("schema") if isinstance(data, dict) else None
    if name != SCHEMA:
        found = f"its schema is {str(name)[:80]!r}" if name is not None else "it names no schema"
        raise ExportError(f"{where}: {found}, where {SCHEMA!r} would be right")
    wrong = _strange(data, {"schema", "content_sha256", "recommendations"}, "")
    entries = data.get("recommendations")
    if not isinstance(entries, list) or not entries:
        raise ExportError(f"{where}: recommendations: a list with one and more would be right")
    for index, entry in enumerate(entries):
        at = f"recommendations[{index}]"
        wrong += _strange(entry, {f.name for f in fields(Recommendation)}, at) if isinstance(entry, dict) else []
    recs = _validated(entries, where, wrong)
    for index, (rec, entry) in enumerate(zip(recs, entries, strict=True)):
        wrong += _differences(plain(rec), entry, f"recommendations[{index}]")
    if wrong:
        raise ExportError("\n".join(f"{where}: {one}" for one in wrong[:MAX_SHOWN]))
    return recs


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ExportError(f"{path}: larger than {MAX_BYTES // 2**20} MiB, which no export is")
    return content


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def _validated(entries: list[Any], where: str, wrong: list[str]) -> list[Recommendation]:
    import pydantic

    try:
        recs: list[Recommendation] = _adapter().validate_json(json.dumps(entries), strict=True)
    except pydantic.ValidationError as error:
        for one in error.errors(include_url=False, include_input=False)[:MAX_SHOWN]:
            at = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in one["loc"])
            wrong.append(f"recommendations{at}: {one['msg'][:1].lower()}{one['msg'][1:]}")
        listed = "\n".join(f"{where}: {sentence}" for sentence in dict.fromkeys(wrong))
        raise ExportError(listed) from None
    return recs


@cache
def _adapter() -> Any:
    import pydantic

    return pydantic.TypeAdapter(list[Recommendation])


def _strange(data: Mapping[str, Any], known: set[str], at: str) -> list[str]:
    """Names that do not belong there, and names that are not there."""
    where = f"{at}." if at else ""
    out = [f"{where}{name[:80]}: no such name; remove it" for name in data if name not in known]
    return out + [f"{where}{name}: is missing" for name in sorted(known - data.keys() - set(OPTIONAL))]


def _differences(mine: Any, theirs: Any, at: str) -> list[str]:
    """Where nested data has other names than what was read from it."""
    if isinstance(mine, dict) and isinstance(theirs, dict):
        out = _strange(theirs, set(mine), at) if at.count("[") > 1 else []
        return out + [
            d for name in mine if name in theirs for d in _differences(mine[name], theirs[name], f"{at}.{name}")
        ]
    if isinstance(mine, list) and isinstance(theirs, list) and len(mine) == len(theirs):
        return [d for i, pair in enumerate(zip(mine, theirs, strict=True)) for d in _differences(*pair, f"{at}[{i}]")]
    return []


def record_names(cls: Any) -> list[str]:
    """Names of the fields of a record, in order."""
    assert is_dataclass(cls)
    return [f.name for f in fields(cls)]
