"""The formats in which a configuration is exported. What is added to `FORMATS` appears on the pages and in the API."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pto_tune.exporters.recommendation import Recommendation


@dataclass(frozen=True)
class Format:
    """A format: `key` names it in addresses, `title` on pages; `suffix` with its dot; `render` makes the text of a
    recommendation, and raises ValueError with one sentence a line where it cannot."""

    key: str
    title: str
    suffix: str
    media_type: str
    render: Callable[[Recommendation], str]

    def file_name(self, run: str, row: int | None) -> str:
        """A name for the file: letters, digits, points and hyphens alone."""
        words = re.sub(r"[^A-Za-z0-9.]+", "-", run).strip("-.")[:60] or "run"
        return f"{words}-{'changed' if row is None else row}{self.suffix}"


def _header(rec: Recommendation) -> str:
    from pto_tune.exporters.header import render_header

    return render_header(rec)


FORMATS: tuple[Format, ...] = (Format("header", "C++ header", ".hpp", "text/x-c++hdr; charset=utf-8", _header),)


def format_named(key: str) -> Format:
    """The format of this key. ValueError names those that there are."""
    for found in FORMATS:
        if found.key == key:
            return found
    raise ValueError(f"there is no export format {key!r}: choose one of {', '.join(f.key for f in FORMATS)}")
