"""Findings as SARIF 2.1.0 (OASIS), for editors and CI services."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from pto_tune import __version__
from pto_tune.kernels.linting import UNREAD, Finding, Report
from pto_tune.kernels.rule_texts import help_of

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {UNREAD: "error", "refused": "error", "hang": "error", "overwrite": "error", "race": "warning"}


def sarif(reports: Sequence[Report]) -> dict[str, Any]:
    """One run with the findings of several files, and the rules that they name."""
    findings = [f for report in reports for f in report.findings]
    rules = sorted({f.rule for f in findings})
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "pto-tune",
                        "version": __version__,
                        "rules": [_rule(rule, next(f.verdict for f in findings if f.rule == rule)) for rule in rules],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(f, rules.index(f.rule)) for f in findings],
            }
        ],
    }


def _rule(rule: str, verdict: str) -> dict[str, Any]:
    text = help_of(rule)
    return {
        "id": rule,
        "shortDescription": {"text": f"{rule} ({verdict})"},
        "fullDescription": {"text": text},
        "help": {"text": text},
        "defaultConfiguration": {"level": LEVELS[verdict]},
    }


def _result(f: Finding, index: int) -> dict[str, Any]:
    related = [
        {"id": i, "message": {"text": what}, "physicalLocation": _location(f.file, place.line, place.column)}
        for i, (place, what) in enumerate(f.others, 1)
    ]
    return {
        "ruleId": f.rule,
        "ruleIndex": index,
        "level": LEVELS[f.verdict],
        "message": {"text": f"{f.verdict}: {f.sentence}"},
        "locations": [{"physicalLocation": _location(f.file, f.place.line, f.place.column)}],
        **({"relatedLocations": related} if related else {}),
        "properties": {"verdict": f.verdict},
    }


def _location(file: str, line: int, column: int) -> dict[str, Any]:
    """A relative reference stays one: CI services resolve it against the root of the checkout."""
    uri = quote(file.replace("\\", "/"), safe="/-._~")
    absolute = f"file://{uri}" if uri.startswith("/") else uri
    return {"artifactLocation": {"uri": absolute}, "region": {"startLine": line, "startColumn": column}}
