"""What every export says of a configuration in comments: what was predicted, how, and where it comes from.

The lines are made to be read by people, and are read back by `pto_tune.exporters.reading`: a label, and behind it the
text of one fact.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from pto_tune.exporters.notes import FAMILY_NAMES, wrapped
from pto_tune.exporters.recommendation import Recommendation

DEFAULT_REVISION = "default revision of the rule set"
NOT_STORED = "not stored"
LABEL = 12
"""Columns of a label."""

_CODE = re.compile(r"<U\+([0-9A-F]{4,6})>")


def title(rec: Recommendation) -> str:
    """The first line."""
    return f"{rec.workload} on {rec.platform}: written by pto-tune, to be exported again rather than edited."


def fact_lines(rec: Recommendation) -> list[str]:
    """Comment lines without their slashes, escaped; of equal recommendations equal ones."""
    return [comment(f"{label:<{LABEL}}{text}" if text else label) for label, text in _facts(rec)]


def loss_lines(losses: Sequence[str]) -> list[str]:
    """Comment lines of what a format cannot express and a person accepted."""
    return [comment(line) for loss in losses for line in wrapped("left out", loss)]


def comment(value: object) -> str:
    """Any text as part of a comment line: on its line, and with nothing that a compiler could read otherwise.

    Control, format, private and unassigned characters, line separators and the backslash (which would splice the next
    line) are written as <U+005C>, and so are a question mark before another (a trigraph) and what looks like a code.
    """
    text = re.sub(r"\?(?=\?)|<(?=U\+)", lambda found: f"<U+{ord(found[0]):04X}>", str(value))
    return "".join(
        f"<U+{ord(char):04X}>"
        if char == "\\" or unicodedata.category(char)[0] == "C" or unicodedata.category(char) in ("Zl", "Zp")
        else char
        for char in text
    )


def is_one_line(text: str) -> bool:
    """Whether a text is one line of characters that can be seen."""
    return not any(unicodedata.category(char)[0] == "C" or unicodedata.category(char) in ("Zl", "Zp") for char in text)


def uncomment(text: str) -> str:
    """The text that `comment` wrote."""
    return _CODE.sub(lambda found: chr(int(found[1], 16)), text)


def _facts(rec: Recommendation) -> Iterator[tuple[str, str]]:
    yield "predicted", f"{rec.predicted_us:.3f} us, {rec.timing} timing; {rec.predicted_cycles:d} cycles on the device"
    if rec.interval_us is not None:
        low, high = rec.interval_us
        yield (
            "interval",
            f"{low:.3f} to {high:.3f} us: 5 and 95 % of {rec.samples:d} samples of the platform's numbers",
        )
    yield "verdict", f"{rec.verdict}, under rule set {rec.rule_set}"
    yield "pto-isa", rec.pto_isa if rec.pto_isa is not None else DEFAULT_REVISION
    yield "run", NOT_STORED if rec.run is None else f"{rec.run}"
    if rec.row is not None:
        yield "row", f"{rec.row:d}"
    if rec.chosen is not None:
        yield from _long("chosen", rec.chosen)
    if rec.exported is not None:
        yield "exported", rec.exported
    if rec.source_sha256 is not None:
        yield "kernel", f"a .pto file, sha256 {rec.source_sha256}"
    for revision in rec.revisions:
        yield from _long("holds for", f"pto-isa {revision}")
    yield "platform", f"{rec.platform} ({rec.soc}, {FAMILY_NAMES[rec.family]}), sha256 {rec.platform_sha256}"
    for name, version in sorted(rec.versions.items()):
        yield "version", f"{name} {version}"
    for label, values in (("problem", rec.problem), ("tunable", rec.configuration)):
        for name, value in sorted(values.items()):
            yield label, f"{name} = {value}"
    if rec.assumed:
        yield from _long("assumed", assumed_sentence(rec.assumed))
    for warning in rec.warnings:
        yield from _long("warning", warning)


def assumed_sentence(keys: Sequence[str]) -> str:
    """The assumed numbers that a prediction uses, those of one group together."""
    groups: dict[str, list[str]] = {}
    for key in keys:
        group, _, name = key.rpartition(".")
        groups.setdefault(group, []).append(name)
    listed = ", ".join(f"{group}.{'/'.join(names)}" for group, names in groups.items())
    return f"the time uses {len(keys)} numbers of links and signals that nothing published stands behind: {listed}"


def _long(label: str, text: str) -> Iterator[tuple[str, str]]:
    """A fact over several lines."""
    for line in wrapped(label, text):
        yield line, ""
