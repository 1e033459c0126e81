"""The pages of platforms: every number with unit, kind, range and source, from the platform files."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from site_parts.markdown import code, prose, table

if TYPE_CHECKING:
    from cost_models import Number, Platform

KINDS = ("spec", "measured", "fitted", "assumed")


def names() -> list[str]:
    """The built-in platforms."""
    from cost_models import platform_names

    return platform_names()


def overview() -> str:
    """All platforms with how many of their numbers are of which kind."""
    from cost_models import load_platform

    rows = []
    for platform in map(load_platform, names()):
        kinds = Counter(n.kind for n in platform.numbers.values())
        rows.append(
            (
                f"[{code(platform.name)}]({platform.name}.md)",
                prose(platform.family),
                prose(platform.description),
                *(str(kinds[kind]) for kind in KINDS),
            )
        )
    return table(("platform", "family", "what it is", *KINDS), rows, right=KINDS)


def page(name: str) -> str:
    """One platform: a table for every group of numbers."""
    from cost_models import load_platform

    platform = load_platform(name)
    parts = [
        f"# {platform.name}",
        f"{prose(platform.description)}. Family {code(platform.family)}, chip {prose(platform.soc)}.",
        f"The same by the command: `pto-tune platforms show {platform.name}`. What kinds and ranges mean is said on "
        "the page of [all platforms](index.md).",
    ]
    for group, numbers in _groups(platform).items():
        rows = [_row(n) for n in numbers]
        parts += [
            f"## {group}",
            table(("number", "value", "range", "unit", "kind", "source and note"), rows, right=["value"]),
        ]
    return "\n\n".join(parts)


def _groups(platform: Platform) -> dict[str, list[Number]]:
    """Numbers by the first word of their keys, in the order of the file."""
    found: dict[str, list[Number]] = {}
    for n in platform.numbers.values():
        found.setdefault(n.key.partition(".")[0], []).append(n)
    return found


def _row(n: Number) -> tuple[str, ...]:
    low, high = ("–" if x is None else f"{x:.10g}" for x in (n.low, n.high))
    between = "" if n.low is None and n.high is None else f"{low} to {high}"
    source = prose(n.source) + (f". {prose(n.note)}" if n.note else "")
    return code(n.key), f"{n.value:.10g}", between, prose(n.unit), n.kind, source
