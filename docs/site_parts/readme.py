"""Sections of the README as text of pages: what stands there is not written twice.

A page takes a section by its heading, and says which other page each section is on, so that links between sections of
the README become links between pages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

README = Path(__file__).resolve().parents[2] / "README.md"

_LINK = re.compile(r"\]\(#([\w-]+)\)")


class ReadmeError(ValueError):
    """The README lacks what a page asks for."""


def sections(text: str) -> dict[str, str]:
    """The body of every second-level section by its heading; code blocks may have lines that begin with ##."""
    found: dict[str, list[str]] = {}
    heading, fenced = None, False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        if line.startswith("## ") and not fenced:
            heading = line.removeprefix("## ").strip()
            found[heading] = []
        elif heading is not None:
            found[heading].append(line)
    return {name: "\n".join(lines).strip() for name, lines in found.items()}


def section(name: str, homes: Mapping[str, str]) -> str:
    """A section without its heading. `homes`: page and anchor by the README's anchor of a section.

    Errors: ReadmeError for an unknown heading, or a link to a section that is on no page.
    """
    known = sections(README.read_text(encoding="utf-8"))
    if name not in known:
        raise ReadmeError(f"README.md has no section {name!r}: it has {', '.join(known)}")

    def linked(match: re.Match[str]) -> str:
        if match[1] not in homes:
            raise ReadmeError(f"README.md, section {name!r}: #{match[1]} is on no page; name the page that takes it")
        return f"]({homes[match[1]]})"

    return _LINK.sub(linked, known[name])


def between(begin: str, end: str) -> str:
    """What stands between two markers of the README. Errors: ReadmeError where one of them is missing."""
    text = README.read_text(encoding="utf-8")
    if begin not in text or end not in text:
        raise ReadmeError(f"README.md lacks {begin} or {end}")
    return text.partition(begin)[2].partition(end)[0].strip()
