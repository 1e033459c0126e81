"""What is looked at before a kernel file is parsed: size, encoding, brackets and their depth.

A file from strangers is refused here in well under a second, with a place, before a parser spends time on it.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from pto_tune.kernels.faults import START, Fault, KernelError, Place

MAX_BYTES = 2**20
"""Largest file: the largest public kernels have some hundred KB."""
MAX_DEPTH = 64
"""Deepest nesting of brackets."""

_MARK = re.compile(r'//[^\n]*|"(?:\\.|[^"\\\n])*"|->|[()\[\]{}<>"]')
_CLOSES = {")": "(", "]": "[", "}": "{"}


def load_text(path: str | Path) -> str:
    """The text of a UTF-8 file of at most `MAX_BYTES`. KernelError says with a place why it cannot be read."""
    return decoded(load_bytes(path), str(path))


def load_bytes(path: str | Path) -> bytes:
    """The bytes of a file, one more than `MAX_BYTES` of a longer one. KernelError where there is no such file."""
    try:
        with Path(path).open("rb") as stream:
            return stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as e:  # ValueError: a path with a null byte
        reason, source = getattr(e, "strerror", None) or e, str(path)
        raise KernelError(source, [Fault(START, f"cannot be read ({reason}): expected a file", "unreadable")]) from None


def fingerprint(text: str) -> str:
    """SHA-256 of a kernel's text as `decoded` gives it: a checkout may turn line ends, which are no change."""
    return hashlib.sha256(text.encode()).hexdigest()


def decoded(raw: bytes, source: str) -> str:
    """Bytes of a file as text, with one kind of line end. KernelError as `load_text`."""
    if len(raw) > MAX_BYTES:
        said = f"is longer than {MAX_BYTES} bytes: expected a kernel of at most so many"
        raise KernelError(source, [Fault(_place_of(raw[:MAX_BYTES]), said, "unreadable")])
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        said = f"byte {e.start} is not UTF-8: expected the text of a kernel"
        raise KernelError(source, [Fault(_place_of(raw[: e.start]), said, "unreadable")]) from None
    at = text.find("\0")
    if at >= 0:
        said = "has a null character: expected the text of a kernel"
        raise KernelError(source, [Fault(place_at(text, at), said, "unreadable")])
    return text.replace("\r\n", "\n").replace("\r", "\n")


def check_brackets(text: str, source: str) -> None:
    """KernelError where brackets do not close each other or are nested deeper than `MAX_DEPTH`."""
    open_: list[tuple[str, int]] = []
    angles = 0  # of the innermost bracket: `<` is a sign too, so that only its depth is watched
    kept: list[int] = []
    for match in _MARK.finditer(text):
        mark = match.group()
        at = match.start()
        if mark == '"':
            _refuse(source, text, at, "a text has no end on its line: expected '\"'")
        elif mark in ("(", "[", "{"):
            open_.append((mark, at))
            kept.append(angles)
        elif mark in _CLOSES:
            if not open_ or open_[-1][0] != _CLOSES[mark]:
                was = f"{open_[-1][0]!r} of {place_at(text, open_[-1][1])} is open" if open_ else "nothing is open"
                _refuse(source, text, at, f"{mark!r} closes nothing: {was}")
            open_.pop()
            angles = kept.pop()
        elif mark == "<":
            angles += 1
        elif mark == ">":
            angles = max(angles - 1, kept[-1] if kept else 0)
        if len(open_) + angles > MAX_DEPTH:
            _refuse(source, text, at, f"is nested deeper than {MAX_DEPTH} brackets: expected less")
    if open_:
        mark, at = open_[-1]
        _refuse(source, text, at, f"{mark!r} is never closed: the file ends at {place_at(text, len(text))}")


def _refuse(source: str, text: str, at: int, sentence: str) -> None:
    raise KernelError(source, [Fault(place_at(text, at), sentence, "syntax")])


def place_at(text: str, at: int) -> Place:
    """Line and column of a character."""
    return Place(text.count("\n", 0, at) + 1, at - (text.rfind("\n", 0, at) + 1) + 1)


def _place_of(raw: bytes) -> Place:
    """The place behind these bytes."""
    last = raw.rsplit(b"\n", 1)[-1]
    return Place(raw.count(b"\n") + 1, len(last.decode("utf-8", "replace")) + 1)
