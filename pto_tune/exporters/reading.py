"""Reads exports back: headers, initial caches and CMakeCache.txt, JSON.

What a file says of its configuration stands in comments or variables, and its constants beside it. Both are read, so
that a constant that somebody changed by hand is seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pto_tune.exporters.build_files import FACTS
from pto_tune.exporters.checks import ExportError
from pto_tune.exporters.document import MAX_BYTES, parse_document
from pto_tune.exporters.facts import DEFAULT_REVISION, LABEL, NOT_STORED, uncomment
from pto_tune.exporters.flat import flat
from pto_tune.exporters.notes import FAMILY_NAMES
from pto_tune.exporters.recommendation import Recommendation
from pto_tune.exporters.writing import is_signed


@dataclass(frozen=True)
class ReadBack:
    """One configuration as a file has it.

    Attributes:
        where: the file, and the choice in it where it has several.
        problem, tunables: as the file says, labels as text.
        constants: names and texts of the values of its constants, as `flat.flat` names them.
        predicted_us: what was predicted then.
        changed: whether the file was changed since pto-tune wrote it; None where that cannot be told.
    """

    where: str
    workload: str
    platform: str
    platform_sha256: str
    rule_set: str
    pto_isa: str | None
    timing: str
    run: str | None
    predicted_us: float
    problem: Mapping[str, str]
    tunables: Mapping[str, str]
    constants: Mapping[str, str] = field(default_factory=dict)
    changed: bool | None = None


def read_back(path: str | Path) -> list[ReadBack]:
    """The configurations of a file that pto-tune exported, or of a CMakeCache.txt that took one in.

    ExportError: none of them, or something is missing in it. OSError as by reading a file.
    """
    with Path(path).open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ExportError(f"{path}: larger than {MAX_BYTES // 2**20} MiB, which no export is")
    try:
        text = content.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise ExportError(
            f"{path}: not UTF-8 at byte {error.start}: a file of 'pto-tune export' would be right"
        ) from None
    signed = is_signed(content)
    changed = None if signed is None else not signed
    where = str(path)
    if text.lstrip()[:1] == "{":
        return [_of_recommendation(rec, where, changed) for rec in parse_document(content, where)]
    if re.search(r"^// pto-tune header, sha256", text, re.MULTILINE):
        return _of_header(text, where, changed)
    if re.search(r"^# pto-tune cmake, sha256", text, re.MULTILINE):
        pattern = r"^set\((\w+) \[(=+)\[(.*?)\]\2\] CACHE "
        found = {m[1]: m[3] for m in re.finditer(pattern, text, re.MULTILINE)}
        return list(_of_variables(found, where, changed))
    found = {m[1]: m[2] for m in re.finditer(r"^([A-Za-z_]\w*):[A-Z]+=(.*)$", text, re.MULTILINE)}
    read = list(_of_variables(found, where, None))
    if not read:
        raise ExportError(
            f"{path}: no export of pto-tune is in it: a header, a CMake cache or a JSON file of 'pto-tune export' "
            "would be right"
        )
    return read


def _of_recommendation(rec: Recommendation, where: str, changed: bool | None) -> ReadBack:
    return ReadBack(
        where,
        rec.workload,
        rec.platform,
        rec.platform_sha256,
        rec.rule_set,
        rec.pto_isa,
        rec.timing,
        None if rec.run is None else str(rec.run),
        rec.predicted_us,
        {name: str(value) for name, value in rec.problem.items()},
        {name: str(value) for name, value in rec.configuration.items()},
        {one.name: one.text for one in flat(rec)},
        changed,
    )


def _of_header(text: str, where: str, changed: bool | None) -> list[ReadBack]:
    lines = text.splitlines()
    starts = [i for i, line in enumerate(lines) if re.fullmatch(r"// choice {6}\d+", line)]
    first = next((line.removeprefix("// ") for line in lines if ": written by pto-tune" in line), "")
    if not starts:
        return [_of_comments(lines, uncomment(first), where, changed)]
    ends = [*starts[1:], next((i for i, line in enumerate(lines) if line == "struct Shape {"), len(lines))]
    return [
        _of_comments(lines[a:b], uncomment(first), f"{where}, choice {n}", changed)
        for n, (a, b) in enumerate(zip(starts, ends, strict=True))
    ]


def _of_comments(lines: Iterable[str], first: str, where: str, changed: bool | None) -> ReadBack:
    """From the comment lines of one configuration and the constants behind them."""
    lines = list(lines)
    facts: dict[str, list[str]] = {}
    for line in lines:
        found = re.fullmatch(rf"// ([a-z][a-z -]{{{LABEL - 2}}}) *(.*)", line)
        if found and len(found[1]) == LABEL - 1:
            facts.setdefault(found[1].strip(), []).append(uncomment(line[len("// ") + LABEL :]))
    missing: list[str] = []

    def one(label: str, pattern: str) -> re.Match[str] | None:
        matched = re.fullmatch(pattern, facts.get(label, [""])[0])
        if matched is None:
            missing.append(f"{where}: its line {label!r} is missing or changed")
        return matched

    families = "|".join(map(re.escape, FAMILY_NAMES.values()))
    predicted = one("predicted", r"([0-9.]+) us, (\w+) timing; \d+ cycles on the device")
    verdict = one("verdict", r".*, under rule set (\S+)")
    platform = one("platform", rf"(.*), (?:{families})\), sha256 (\S+)")
    revision = one("pto-isa", r"(.+)")
    run = one("run", r"(.+)")
    pairs = {}
    for label in ("problem", "tunable"):
        split = [text.partition(" = ") for text in facts.get(label, [])]
        pairs[label] = {name: value for name, _, value in split}
    # both names may be of any characters: the one that both lines have
    title = first.rpartition(": written by pto-tune")[0]
    text = "" if platform is None else platform[1]
    name = next(
        (text[: m.start()] for m in re.finditer(r" \(", text) if title.endswith(f" on {text[: m.start()]}")), None
    )
    if name is None and platform is not None:
        missing.append(f"{where}: its title and its line 'platform' name no platform together")
    if missing or not (predicted and verdict and platform and revision and run) or name is None:
        raise ExportError("\n".join(missing))
    constants = dict(_constants(lines))
    return ReadBack(
        where,
        title.removesuffix(f" on {name}"),
        name,
        platform[2],
        verdict[1],
        None if revision[1] == DEFAULT_REVISION else revision[1],
        predicted[2],
        None if run[1] == NOT_STORED else run[1],
        float(predicted[1]),
        pairs["problem"],
        pairs["tunable"],
        constants,
        changed,
    )


def _constants(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Names and values of the constants of a header."""
    for line in lines:
        found = re.match(r"\s*inline constexpr \S+ (\w+) = ([^;]+);", line)
        if found and "::" not in found[2].replace("pto::TileSplitAxis::", ""):
            yield found[1], found[2].strip().removeprefix("pto::TileSplitAxis::")


def _of_variables(values: Mapping[str, str], where: str, changed: bool | None) -> Iterator[ReadBack]:
    """From the variables of a cache, one configuration for each prefix."""
    for name, workload in values.items():
        prefix = name.removesuffix("_WORKLOAD")
        if prefix == name or f"{prefix}_TUNABLES" not in values:
            continue
        if lacking := [f for f in FACTS if f"{prefix}_{f}" not in values]:
            raise ExportError(f"{where}: {', '.join(f'{prefix}_{f}' for f in lacking)}: missing")
        own = {fact: values[f"{prefix}_{fact}"] for fact in FACTS}
        try:
            predicted_us = float(own["PREDICTED_US"])
        except ValueError:
            raise ExportError(f"{where}: {prefix}_PREDICTED_US is {own['PREDICTED_US']!r}: not a time") from None
        rest = {n.removeprefix(f"{prefix}_"): v for n, v in values.items() if n.startswith(f"{prefix}_")}
        yield ReadBack(
            where,
            workload,
            own["PLATFORM"],
            own["PLATFORM_SHA256"],
            own["RULE_SET"],
            own["PTO_ISA"] or None,
            own["TIMING"],
            own["RUN"] or None,
            predicted_us,
            _pairs(own["PROBLEM"]),
            _pairs(own["TUNABLES"]),
            {n: v for n, v in rest.items() if n not in FACTS},
            changed,
        )


def _pairs(text: str) -> dict[str, str]:
    return {name: value for name, _, value in (part.partition("=") for part in text.split(";")) if name}
