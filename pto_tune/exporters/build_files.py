"""A recommendation for build systems: an initial cache of CMake, and compile definitions.

Both carry numbers and names of enumerators under the names of the header's constants behind a prefix. They have no
types, so nothing checks at compile time that the library derives this SyncPeriod: that takes the header.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pto_tune.exporters.checks import ExportError
from pto_tune.exporters.facts import comment, fact_lines, is_one_line, loss_lines, title
from pto_tune.exporters.flat import flat
from pto_tune.exporters.names import is_identifier, pipe_prefix
from pto_tune.exporters.notes import pipe_notes
from pto_tune.exporters.writing import ZEROS

if TYPE_CHECKING:
    from pto_tune.exporters.recommendation import Recommendation

PREFIX = "PTO_TUNE"
"""Unless another is given."""

FACTS = ("WORKLOAD", "PLATFORM", "PLATFORM_SHA256", "RULE_SET", "PTO_ISA", "TIMING", "PREDICTED_US", "RUN", "PROBLEM",
         "TUNABLES", "DEFINITIONS")  # fmt: skip
"""Variables of a CMake cache beside the constants."""


def prefix_fault(prefix: str) -> str | None:
    """What is wrong with a prefix; None where nothing is."""
    if not is_identifier(prefix):
        return f"{prefix!r} is not an identifier that a program may define; a name such as {PREFIX!r} would be right"
    return None


def cmake_body(rec: Recommendation, prefix: str, losses: list[str]) -> str:
    """An initial cache for `cmake -C`, whose variables stand in CMakeCache.txt afterwards.

    ExportError: a text that a CMake variable cannot hold, or a tunable whose name is that of one of `FACTS`.
    """
    values = flat(rec)
    if both := sorted({one.name for one in values} & set(FACTS)):
        raise ExportError(f"tunable {both[0]!r}: {prefix}_{both[0]} is a variable of the export; rename the tunable")
    definitions = ";".join(f"{prefix}_{one.name}={one.text}" for one in values)
    facts = {
        "WORKLOAD": (rec.workload, "workload"),
        "PLATFORM": (rec.platform, "platform whose numbers were used"),
        "PLATFORM_SHA256": (rec.platform_sha256, "hash of the resolved platform"),
        "RULE_SET": (rec.rule_set, "pipe rule set of the verdict"),
        "PTO_ISA": (rec.pto_isa or "", "revision of pto-isa that was asked for"),
        "TIMING": (rec.timing, "timing protocol of the prediction"),
        "PREDICTED_US": (repr(float(rec.predicted_us)), "predicted time in microseconds"),
        "RUN": ("" if rec.run is None else str(rec.run), "run of the store"),
        "PROBLEM": (_pairs(rec.problem), "problem sizes"),
        "TUNABLES": (_pairs(rec.configuration), "tunables"),
        "DEFINITIONS": (definitions, "everything for target_compile_definitions"),
    }
    lines = [comment(title(rec)), "", *fact_lines(rec), *loss_lines(losses), "", *_use_of_cmake(prefix)]
    for pipe in rec.pipes:
        notes = pipe_notes(pipe, f"{prefix}_{pipe_prefix(pipe.name)}", rec.family)
        lines += ["", *map(comment, notes)]
    out = [f"# {line}".rstrip() for line in lines]
    out += ["", *(_variable(f"{prefix}_{name}", value, doc) for name, (value, doc) in facts.items())]
    out += [_variable(f"{prefix}_{one.name}", one.text, one.doc) for one in values]
    return "\n".join(out) + "\n"


def definitions_body(rec: Recommendation, prefix: str) -> str:
    """Definitions for the compiler, one a line, as a response file (`g++ @FILE`)."""
    out = [f"-D{prefix}_CONTENT_SHA256={ZEROS}"]
    out += [f"-D{prefix}_{one.name}={one.text}" for one in flat(rec)]
    return "\n".join(out) + "\n"


def bracketed(text: str) -> str:
    """A text as a bracket argument of CMake, in which nothing is expanded and nothing ends it early."""
    equals = "="
    while f"]{equals}]" in f"{text}]":
        equals += "="
    return f"[{equals}[{text}]{equals}]"


def _variable(name: str, value: str, doc: str) -> str:
    return f"set({name} {bracketed(_line(name, value))} CACHE STRING {bracketed(comment(doc))} FORCE)"


def _line(name: str, value: str) -> str:
    """A text that a cache keeps as it is."""
    if not is_one_line(value):
        raise ExportError(f"{name} would be {value!r}: a cache of CMake takes one line of visible characters")
    if value != value.strip() or (value.startswith("'") and value.endswith("'")):
        raise ExportError(f"{name} would be {value!r}: a cache of CMake loses blanks and quotes around a value")
    return value


def _pairs(values: Mapping[str, int | str]) -> str:
    return ";".join(f"{name}={value}" for name, value in sorted(values.items()))


def _use_of_cmake(prefix: str) -> list[str]:
    return [
        "An initial cache: cmake -C <this file> -S . -B build. Then",
        f"target_compile_definitions(<target> PRIVATE ${{{prefix}_DEFINITIONS}}) defines every constant. The header",
        "alone checks at compile time that the library derives the SyncPeriod.",
    ]
