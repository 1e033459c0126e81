"""Texts of the product as Markdown: tables, sentences and docstrings, in which every character stands for itself."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Sequence

_CODE = re.compile(r"(`[^`]+`)")
_SPECIAL = {c: f"&#{ord(c)};" for c in "\\*_[]{}|~$^#"} | {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_HEADS = ("Args", "Returns", "Raises", "Attributes", "Errors", "Yields", "Example", "Examples")
_ENTRY = re.compile(r"^([\w`*., ]+?): (.*)$")


def prose(text: str) -> str:
    """A sentence whose characters mean nothing to Markdown, but for `code`."""
    parts = _CODE.split(text)
    return "".join(p if i % 2 else "".join(_SPECIAL.get(c, c) for c in p) for i, p in enumerate(parts))


def code(text: object) -> str:
    """Text as code; "" stays empty."""
    shown = str(text)
    if not shown:
        return ""
    fence = "``" if "`" in shown else "`"
    return f"{fence} {shown} {fence}" if "`" in shown else f"`{shown}`"


def table(titles: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[str] = ()) -> str:
    """A table of cells that are Markdown already; titles of `right` are of numbers. "" where there are no rows."""
    lines = [_line(row) for row in rows]
    if not lines:
        return ""
    rule = ["--:" if title in right else "---" for title in titles]
    return "\n".join([_line(titles), _line(rule), *lines])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(' '.join(cell.split()) for cell in cells)} |"


def fenced(text: str, language: str = "text") -> str:
    """A block of code."""
    return f"```{language}\n{text.strip(chr(10))}\n```"


def docstring(text: str | None) -> str:
    """A docstring as Markdown: its paragraphs, its parts (Args, Returns ...) as lists, indented text as code."""
    return "\n\n".join(_parts(inspect.cleandoc(text or "")))


def _parts(text: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n", text):
        if not paragraph.strip():
            continue
        lines = paragraph.splitlines()
        head, _, rest = lines[0].partition(":")
        if lines[0].startswith(" "):
            yield fenced(inspect.cleandoc("\n" + paragraph), "text")
        elif head.strip() in _HEADS and len(lines) > 1 and lines[1].startswith(" ") and not rest.strip():
            yield f"**{head.strip()}**"
            body = inspect.cleandoc("\n" + "\n".join(lines[1:]))
            yield fenced(body, "text") if head.startswith("Example") else "\n".join(_entries(body))
        elif len(lines) > 1 and lines[1].startswith(" "):
            yield prose(lines[0])
            yield fenced(inspect.cleandoc("\n" + "\n".join(lines[1:])), "text")
        else:
            yield prose(" ".join(lines))


def _entries(body: str) -> Iterator[str]:
    """Entries of an indented part, each with the lines that go on with it."""
    joined: list[str] = []
    for line in body.splitlines():
        if line.startswith(" ") and joined:
            joined[-1] += f" {line.strip()}"
        else:
            joined.append(line)
    for entry in joined:
        match = _ENTRY.match(entry)
        yield f"- {code(match[1])}: {prose(match[2])}" if match else f"- {prose(entry)}"
