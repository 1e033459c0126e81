"""The formats in which a configuration is exported: those of `pto_tune.exporters.formats` that need no further file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pto_tune.exporters import formats

if TYPE_CHECKING:
    from pto_tune.exporters.recommendation import Recommendation

_MEDIA = {"header": "text/x-c++hdr", "json": "application/json", "python": "text/x-python"}


@dataclass(frozen=True)
class Format:
    """A format: `key` names it in addresses, `title` on pages; `suffix` with its dot; `lacks` says what no file of it
    can express."""

    key: str
    title: str
    suffix: str
    media_type: str
    lacks: str

    def render(self, rec: Recommendation) -> str:
        """The text of a recommendation. ValueError with one sentence a line where there is none."""
        return formats.render(formats.format_named(self.key), [rec])

    def file_name(self, run: str, row: int | None) -> str:
        """A name for the file: letters, digits, points and hyphens alone."""
        words = re.sub(r"[^A-Za-z0-9.]+", "-", run).strip("-.")[:60] or "run"
        return f"{words}-{'changed' if row is None else row}{self.suffix}"


FORMATS: tuple[Format, ...] = tuple(
    Format(f.key, f.title, f.suffix, f"{_MEDIA.get(f.key, 'text/plain')}; charset=utf-8", f.lacks)
    for f in formats.FORMATS
    if not f.needs
)


def format_named(key: str) -> Format:
    """The format of this key. ValueError names those that there are."""
    for found in FORMATS:
        if found.key == key:
            return found
    raise ValueError(f"there is no export format {key!r}: choose one of {', '.join(f.key for f in FORMATS)}")
