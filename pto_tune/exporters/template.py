"""Recommendations through a template of the user's own, which may be anybody's: sandboxed, bounded, with its line in
every error.

The template is one of Jinja. It sees `rec` (the first recommendation), `recommendations` (all of them) and
`schema`, as the JSON format has them, and `content_sha256`: where that stands in the text, a later export sees
whether the file was changed by hand. Filters beside Jinja's: json, python, shell, c_string. A name that is not there is
an error. It reads no files, and runs in a process that may use so much time and memory and no more.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pto_tune.exporters.checks import ExportError
from pto_tune.exporters.document import SCHEMA, plain
from pto_tune.exporters.recommendation import Recommendation
from pto_tune.exporters.writing import ZEROS, encoded

MOST_BYTES = 2**20
"""Of a template."""
MOST_CHARACTERS = 16 * 2**20
"""Of what it makes."""
SECONDS = 10
MEMORY_BYTES = 2**30
"""Address space of the process, Python's own included."""

_CHILD = Path(__file__).with_name("template_child.py")


def read_template(path: str | Path) -> str:
    """The text of a template. ExportError: too large or not UTF-8; OSError as by reading a file."""
    with Path(path).open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ExportError(f"{path}: larger than {MOST_BYTES // 1024} KiB: a smaller template would be right")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ExportError(f"{path}:{line}: not UTF-8: a template in that encoding would be right") from None


def body(recs: Sequence[Recommendation], source: str, where: str, seconds: float = SECONDS) -> str:
    """The text of a template; `where` names it in errors. ExportError with the template's line."""
    entries = [plain(rec) for rec in recs]
    asked = {
        "template": source,
        "data": {
            "schema": SCHEMA,
            "rec": entries[0],
            "recommendations": entries,
            "content_sha256": f"content_sha256: {ZEROS}",
        },
        "memory_bytes": MEMORY_BYTES,
        "cpu_seconds": max(int(seconds), 1),
        "most_characters": MOST_CHARACTERS,
    }
    answer = _child(json.dumps(asked), where, seconds)
    if "error" in answer:
        place = where if answer["line"] is None else f"{where}:{answer['line']}"
        raise ExportError(f"{place}: {answer['error']}")
    text = str(answer["text"])
    encoded(text)
    if text.count(ZEROS) > 1:
        raise ExportError(f"{where}: content_sha256 stands there twice: once would be right")
    return text


def _child(asked: str, where: str, seconds: float) -> dict[str, Any]:
    try:
        # -P: no folder of the caller comes before the libraries
        done = subprocess.run(
            [sys.executable, "-P", "-X", "utf8", str(_CHILD)],
            input=asked.encode(),
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ExportError(f"{where}: takes more than {seconds:g} s: a template with less work would be right") from None
    if done.returncode:
        raise ExportError(
            f"{where}: its process ended with code {done.returncode}, as where a template takes more than {seconds:g} "
            f"s or {MEMORY_BYTES // 2**20} MiB: a template with less work would be right"
        )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer
