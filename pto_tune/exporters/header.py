"""The C++ header of recommendations: rendered to the byte the same, and written without loss.

The header states constants and aliases of `TPipe` and `TMPipe`, and checks at compile time that it is used for the
platform family that it was made for and with a library that derives the recommended SyncPeriod. What no compiler can
check (calls, buffers, switches, warnings) stands in comments. It carries no user, host or path, and no date unless
asked. Recommendations of several problem sizes become one header that chooses by shape.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pto_tune.exporters.checks import ExportError, faults
from pto_tune.exporters.facts import comment, fact_lines, title
from pto_tune.exporters.names import constant_name, include_guard, pipe_prefix
from pto_tune.exporters.notes import buffer_bases, gates, pipe_notes
from pto_tune.exporters.pipe_checks import CLIP_RELU_MODES
from pto_tune.exporters.recommendation import PipeRecommendation, Recommendation
from pto_tune.exporters.writing import signed_above, write_text
from pto_tune.rule_sets import rule_set_for

if TYPE_CHECKING:
    import jinja2

__all__ = ["FIFO_TYPES", "NAMESPACE", "ExportError", "header_body", "render_header", "write_header"]

NAMESPACE = "pto_tune_config"
"""Unless another is given."""

FIFO_TYPES = {"GM": "GM_FIFO", "UB": "VEC_FIFO", "L1": "MAT_FIFO"}
"""FIFOType of a TMPipe by the place of its ring (common/fifo.hpp:55-60 of pto-isa)."""

CONFIG_FIELDS = (
    "LayoutMode",
    "QuantPre",
    "ReluMode",
    "Phase",
    "SubBlockId",
    "AtomicT",
    "ClipReluMode",
    "IsChannelSplit",
)
"""Fields of a TConfig."""


def render_header(rec: Recommendation, namespace: str = NAMESPACE) -> str:
    """The text of the header, `\\n` line ends, ASCII and UTF-8 comments.

    Args:
        rec: what to export; mappings are written sorted by key, so equal recommendations give equal bytes.
        namespace: C++ namespace of everything in the header, `a` or `a::b`.

    Raises:
        ExportError: verdict other than ok, a SyncPeriod that no TPipe has, flag ids out of range or shared,
            values or names that C++ does not take; one sentence a line, all of them.
    """
    if found := faults(rec, namespace):
        raise ExportError("\n".join(found))
    return _render(rec, namespace)


def write_header(
    rec: Recommendation, path: str | os.PathLike[str], force: bool = False, *, namespace: str = NAMESPACE
) -> Path:
    """Write the header to `path` in one step and return `path`; see `writing.write_all`.

    Raises:
        ExportError: as `render_header` and `write_all`.
    """
    return write_text(path, render_header(rec, namespace), force, "header")


def header_body(recs: Sequence[Recommendation], namespace: str, by_shape: bool = False) -> str:
    """The header without its signature and without checks of single recommendations.

    `by_shape`: also one recommendation becomes a choice by shape, as several do.

    Raises:
        ExportError: several recommendations that are not of one workload, platform and rule set, or two of one size.
    """
    first = recs[0]
    shown: dict[str, Any] = {
        "guard": include_guard(namespace),
        "namespace": namespace,
        "family": first.family,
        "title": title(first),
        "clip_relu_off": CLIP_RELU_MODES[0],
        "with_pipes": any(rec.pipes for rec in recs),
        # headers under which every push waits have no TPipe::SyncPeriod (npu/a5/TPush.hpp before revision 687af1a6)
        "has_period": rule_set_for(first.family, first.rule_set).period != "one",
    }
    if len(recs) == 1 and not by_shape:
        return _environment().get_template("header.hpp.j2").render(**shown, facts=fact_lines(first), **_entry(first))
    if found := list(_table_faults(recs)):
        raise ExportError("\n".join(found))
    shown["sizes"] = [constant_name(name) for name in sorted(first.problem)]
    shown["choices"] = [_choice(rec) for rec in recs]
    return _environment().get_template("table.hpp.j2").render(**shown)


def _render(rec: Recommendation, namespace: str) -> str:
    """`render_header` without its checks: whatever is recommended is written down."""
    return signed_above(header_body([rec], namespace), "// ", "header")


@cache
def _environment() -> jinja2.Environment:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("pto_tune.exporters", "templates"),
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        newline_sequence="\n",
    )
    environment.filters["comment"] = comment
    return environment


def _entry(rec: Recommendation) -> dict[str, Any]:
    """What `pipes.hpp.j2` shows of a recommendation."""
    return {
        "pipes": [_of_pipe(pipe, rec) for pipe in rec.pipes],
        "constants": sorted(
            (constant_name(name), int(value), rec.configuration[name] if name in rec.codes else "")
            for name, value in rec.constants.items()
        ),
    }


def _of_pipe(pipe: PipeRecommendation, rec: Recommendation) -> dict[str, Any]:
    prefix = pipe_prefix(pipe.name) or ""
    return {
        "prefix": prefix,
        "pipe": pipe,
        "notes": pipe_notes(pipe, prefix, rec.family),
        "bases": [base for base in buffer_bases(pipe, prefix, rec.family) if base.bytes],
        "fifo_type": FIFO_TYPES[pipe.ways[0].ring] if pipe.kind == "TMPipe" else "",
        "ratio": "V1C1_VEC0" if pipe.split == "TILE_NO_SPLIT" else "V2C1_VECS",
        "gates": gates(pipe),
        "whole_periods": pipe.sync_period > 0 and pipe.slot_num % pipe.sync_period == 0,
    }


def _choice(rec: Recommendation) -> dict[str, Any]:
    """One problem size of a table: its entry, and the names by which its class passes it on."""
    entry = _entry(rec)
    members = [name for name, _, _ in entry["constants"]]
    types: list[str] = []
    templates: list[str] = []
    functions: list[str] = []
    for item in entry["pipes"]:
        prefix, pipe = item["prefix"], item["pipe"]
        depth: tuple[str, ...] = ("FifoDepth", "SyncPeriod", "LocalSlotNum", "IsNoSplit")
        if pipe.kind == "TMPipe":
            depth = ("FiFoDepth", "FiFoSyncT", "LocalFiFoDepth")
        members += [f"{prefix}_{field}" for field in ("FlagID", "SlotSize", *depth, "EN_UNIT_FLAG", "Split")]
        members += [base.constant for base in item["bases"]]
        (templates if pipe.kind == "TMPipe" else types).append(f"{prefix}Pipe")
        functions += [f"{prefix}_{gate}" for gate in item["gates"]]
        for k in range(len(pipe.configs)):
            number = k + 1 if len(pipe.configs) > 1 else ""
            types.append(f"{prefix}TConfig{number}")
            members += [f"{prefix}_{field}{number}" for field in CONFIG_FIELDS]
    shape = ", ".join(f"{name} = {value}" for name, value in sorted(rec.problem.items()))
    return {
        **entry,
        "facts": fact_lines(rec),
        "shape": f"{shape}: {rec.predicted_us:.3f} us",
        "sizes": [rec.number(name) for name in sorted(rec.problem)],
        "members": members,
        "types": types,
        "templates": templates,
        "gates": functions,
    }


def _table_faults(recs: Sequence[Recommendation]) -> Iterator[str]:
    """What forbids a choice by shape."""
    first = recs[0]
    if not first.problem:
        yield f"workload {first.workload!r} has no problem sizes to choose by: one configuration would be right"
    for what in ("workload", "platform", "platform_sha256", "rule_set", "pto_isa"):
        have = list(dict.fromkeys(str(getattr(rec, what)) for rec in recs))
        if len(have) > 1:
            yield f"a header that chooses by shape is of one {what}, not of {' and '.join(have)}"
    taken: dict[tuple[int, ...], int] = {}
    names = set(first.problem)
    for index, rec in enumerate(recs):
        if set(rec.problem) != names:
            continue  # of another workload, which is said above
        shape = tuple(rec.number(name) for name in first.problem)
        if shape in taken:
            listed = ", ".join(f"{name} = {value}" for name, value in rec.problem.items())
            yield (
                f"configurations {taken[shape] + 1} and {index + 1} are both of {listed}: a header chooses by shape, "
                "so one for each problem size would be right"
            )
        taken.setdefault(shape, index)
    for name in first.problem:
        if constant_name(name) is None:
            yield f"problem size {name!r} gives no C++ identifier: another name would be right"
    if len({constant_name(name) for name in first.problem}) < len(first.problem):
        yield "two problem sizes become one C++ identifier: rename one"
