"""The C++ header of a recommendation: rendered to the byte the same, and written without loss.

The header states constants and aliases of `TPipe` and `TMPipe`, and checks at compile time that it is used for the
platform family that it was made for and with a library that derives the recommended SyncPeriod. What no compiler can
check (calls, buffers, gates, switches, warnings) stands in comments. It carries no date, user, host or path.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
import unicodedata
from pathlib import Path

from pto_tune.exporters.checks import ExportError, faults
from pto_tune.exporters.names import constant_name, include_guard, pipe_prefix
from pto_tune.exporters.notes import FAMILY_NAMES, buffer_bases, pipe_notes, wrapped
from pto_tune.exporters.pipe_checks import CLIP_RELU_MODES
from pto_tune.exporters.recommendation import PipeRecommendation, Recommendation
from pto_tune.rule_sets import rule_set_for

__all__ = ["ExportError", "render_header", "write_header"]

FIFO_TYPES = {"GM": "GM_FIFO", "UB": "VEC_FIFO", "L1": "MAT_FIFO"}
"""FIFOType of a TMPipe by the place of its ring (common/fifo.hpp:55-60 of pto-isa)."""

_SIGNATURE = "// pto-tune header, sha256 of all lines below: "
_SIGNED = re.compile(rb"// pto-tune header, sha256 of all lines below: ([0-9a-f]{64})\n")


def render_header(rec: Recommendation, namespace: str = "pto_tune_config") -> str:
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
    rec: Recommendation,
    path: str | os.PathLike[str],
    force: bool = False,
    *,
    namespace: str = "pto_tune_config",
) -> Path:
    """Write the header to `path` in one step and return `path`.

    The text goes to a temporary file in the same folder that then takes the name, so that a build never reads
    half a header. A file that has these bytes already is left alone (its time stamp too); one that pto-tune
    wrote and nobody changed is replaced.

    Raises:
        ExportError: as `render_header`; or the file there was not written by pto-tune or was changed by hand
            since (unless `force`), or the folder cannot be written to. Nothing is left half-written.
    """
    text = render_header(rec, namespace)
    asked = Path(path)
    target = Path(os.path.realpath(asked))
    content = text.encode()
    try:
        existing = target.read_bytes() if target.exists() else None
        if existing == content:
            return asked
        if existing is not None and not force:
            _refuse_if_not_ours(existing, asked)
        _replace(target, content)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ExportError(
            f"cannot write the header {asked}: {reason}; a file in a folder that exists and can be written "
            "to would be right"
        ) from error
    return asked


def _render(rec: Recommendation, namespace: str) -> str:
    """`render_header` without its checks: whatever is recommended is written down."""
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
    environment.filters["comment"] = _comment
    body = environment.get_template("header.hpp.j2").render(
        rec=rec,
        namespace=namespace,
        guard=include_guard(namespace),
        family=FAMILY_NAMES[rec.family],
        revisions=[line for r in rec.revisions for line in wrapped("holds for", f"pto-isa {r}")],
        warnings=[line for w in rec.warnings for line in wrapped("warning", w)],
        pipes=[_of_pipe(pipe, rec) for pipe in rec.pipes],
        # headers under which every push waits have no TPipe::SyncPeriod (npu/a5/TPush.hpp before revision 687af1a6)
        has_period=rule_set_for(rec.family, rec.rule_set).period != "one",
        clip_relu_off=CLIP_RELU_MODES[0],
        constants=sorted((constant_name(name), int(value)) for name, value in rec.constants.items()),
    )
    return f"{_SIGNATURE}{hashlib.sha256(body.encode()).hexdigest()}\n{body}"


def _of_pipe(pipe: PipeRecommendation, rec: Recommendation) -> dict[str, object]:
    """What the template shows of a pipe."""
    prefix = pipe_prefix(pipe.name) or ""
    return {
        "prefix": prefix,
        "pipe": pipe,
        "notes": pipe_notes(pipe, prefix, rec.family),
        "bases": [base for base in buffer_bases(pipe, prefix, rec.family) if base.bytes],
        "fifo_type": FIFO_TYPES[pipe.ways[0].ring] if pipe.kind == "TMPipe" else "",
        "ratio": "V1C1_VEC0" if pipe.split == "TILE_NO_SPLIT" else "V2C1_VECS",
    }


def _comment(value: object) -> str:
    """Any text as part of a `//` comment: on its line, and with nothing that a compiler could read otherwise.

    Control, format, private and unassigned characters, line separators and the backslash (which would splice
    the next line) are written as <U+005C>, and so is a question mark before another (a trigraph).
    """
    text = re.sub(r"\?(?=\?)", "<U+003F>", str(value))
    return "".join(
        f"<U+{ord(char):04X}>"
        if char == "\\" or unicodedata.category(char)[0] == "C" or unicodedata.category(char) in ("Zl", "Zp")
        else char
        for char in text
    )


def _refuse_if_not_ours(existing: bytes, path: Path) -> None:
    # A checkout may have turned the line ends into CRLF; that is not a change by hand.
    existing = existing.replace(b"\r\n", b"\n")
    signed = _SIGNED.match(existing)
    if signed is None:
        raise ExportError(f"{path} was not written by pto-tune: another path, or force to overwrite it, would be right")
    if hashlib.sha256(existing[signed.end() :]).hexdigest().encode() != signed[1]:
        raise ExportError(
            f"{path} was changed by hand since pto-tune wrote it: another path, or force to overwrite the "
            "changes, would be right"
        )


def _replace(target: Path, content: bytes) -> None:
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
