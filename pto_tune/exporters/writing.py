"""Files of ours: signed, so that a change by hand is seen; written in one step; never over somebody's work.

A signature is the SHA-256 of the text. In the formats whose comments are lines it is the first line and covers all
lines below; elsewhere it stands inside the text, behind the word `content_sha256`, and covers the text with its own 64
digits as zeros. Line ends are no change: a checkout may have turned them into CRLF.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from pto_tune.exporters.checks import ExportError
from pto_tune.whole_file import draft_beside

ZEROS = "0" * 64
"""What stands in place of a signature inside a text that is yet to be signed."""

FORCE = "force to overwrite it"

_BELOW = re.compile(rb"\A[^\n]{0,8}pto-tune [a-z-]+, sha256 of all lines below: ([0-9a-f]{64})[^\n]{0,4}\n")
_INSIDE = re.compile(rb"content_sha256[^0-9A-Za-z\n]{1,6}([0-9a-f]{64})(?![0-9A-Za-z])", re.IGNORECASE)


def signed_above(body: str, comment: str, what: str) -> str:
    """The body under a first line with its signature; `comment` begins a comment, `what` is the format's name."""
    return f"{comment}pto-tune {what}, sha256 of all lines below: {hashlib.sha256(encoded(body)).hexdigest()}\n{body}"


def signed_inside(body: str) -> str:
    """The body with its signature in place of the zeros behind the first `content_sha256`; as it is without one."""
    content = encoded(body)
    found = _INSIDE.search(content)
    if found is None or found[1] != ZEROS.encode():
        return body
    start, end = found.span(1)
    return (content[:start] + hashlib.sha256(content).hexdigest().encode() + content[end:]).decode()


def encoded(text: str) -> bytes:
    """UTF-8. ExportError where the text has no such form: half of a surrogate pair."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ExportError(
            f"{text[max(error.start - 20, 0) : error.start]!r} is followed by half a character (U+D800 to U+DFFF), "
            "which no file can have: another name would be right"
        ) from None


def is_signed(content: bytes) -> bool | None:
    """Whether the content is as pto-tune wrote it; None where it has no signature of ours."""
    content = content.replace(b"\r\n", b"\n")
    if (found := _BELOW.match(content)) is not None:
        return hashlib.sha256(content[found.end() :]).hexdigest().encode() == found[1]
    if (found := _INSIDE.search(content)) is not None:
        start, end = found.span(1)
        return hashlib.sha256(content[:start] + ZEROS.encode() + content[end:]).hexdigest().encode() == found[1]
    return None


def write_text(path: str | os.PathLike[str], text: str, force: bool = False, what: str = "file") -> Path:
    """Write one file; see `write_all`."""
    return write_all([(Path(path), text)], force, what)[0]


def write_all(files: Sequence[tuple[Path, str]], force: bool = False, what: str = "file") -> list[Path]:
    """Write signed texts, each in one step, and return their paths.

    Every text goes to a temporary file in its folder first, and only when all are there do they take their names, so
    that a build never reads half a file. A file that has these bytes already is left alone, its time stamp too; one
    that pto-tune wrote and nobody changed is replaced.

    Raises ExportError, and leaves nothing half-written: a file there was not written by pto-tune or was changed by hand
    since (unless `force`), a folder cannot be written to, or two files have one path.
    """
    waiting: list[tuple[Path, Path]] = []
    taken: set[str] = set()
    at = Path()
    try:
        for at, text in files:
            target = Path(os.path.realpath(at))
            if str(target) in taken:
                raise ExportError(f"{at} would be written twice: a path for each file would be right")
            taken.add(str(target))
            content = encoded(text)
            existing = target.read_bytes() if target.exists() else None
            if existing == content:
                continue
            if existing is not None and not force:
                _refuse_if_not_ours(existing, at)
            waiting.append((_beside(target, content), target))
        for temporary, target in waiting:
            os.replace(temporary, target)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ExportError(
            f"cannot write the {what} {at}: {reason}; a file in a folder that exists and can be written to would be "
            "right"
        ) from error
    finally:
        for temporary, _ in waiting:
            temporary.unlink(missing_ok=True)
    return [path for path, _ in files]


def _refuse_if_not_ours(existing: bytes, path: Path) -> None:
    ours = is_signed(existing)
    if ours is None:
        raise ExportError(f"{path} was not written by pto-tune: another path, or {FORCE}, would be right")
    if not ours:
        raise ExportError(
            f"{path} was changed by hand since pto-tune wrote it: another path, or force to overwrite the "
            "changes, would be right"
        )


def _beside(target: Path, content: bytes) -> Path:
    """A temporary file beside the target with this content and the target's mode."""
    temporary = draft_beside(target, content)
    try:
        if target.exists():
            shutil.copymode(target, temporary)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


Sign = Callable[[str], str]
"""How a format signs a body."""
