"""How a command ends when something is wrong: one sentence a line on stderr, and an exit code.

0 done; 1 no legal configuration or a failed check; 2 wrong use; 3 a defect of pto-tune; 130 Ctrl-C.
`PTO_TUNE_DEBUG=1` shows the traceback of what is not wrong use of the command line itself.
"""

from __future__ import annotations

import contextlib
import os
import sys

from pto_tune.cli.text import printable

OK = 0
FAILED = 1
WRONG_USE = 2
DEFECT = 3
INTERRUPTED = 130
READER_GONE = 141
"""As a shell reports a process that wrote into a closed pipe (128 + SIGPIPE)."""

PREFIX = "pto-tune: "


class CheckFailed(ValueError):
    """The question was put rightly and the answer is no: nothing legal, a check that fails. Exit code 1."""


def debugging() -> bool:
    """Whether tracebacks are wanted."""
    return os.environ.get("PTO_TUNE_DEBUG", "") not in ("", "0")


def complain(text: str) -> None:
    """Each line of `text` as a sentence on stderr."""
    for line in text.splitlines() or [""]:
        if line.strip():
            sys.stderr.write(f"{PREFIX}{printable(line.strip())}\n")
    sys.stderr.flush()


def report(error: Exception) -> int:
    """Say what `error` means and return the exit code; raises it again where a traceback is wanted."""
    usage = _usage_sentence(error)
    if usage is not None:
        complain(usage)
        return WRONG_USE
    if isinstance(error, CheckFailed):
        complain(str(error))
        return FAILED
    if isinstance(error, BrokenPipeError):
        _leave_closed_pipe()
        return READER_GONE
    if debugging():
        raise error
    if isinstance(error, ValueError | OSError):
        complain(sentence(error))
        return WRONG_USE
    complain(
        f"internal error, {type(error).__name__}: {' '.join(str(error).split()) or 'no message'} "
        "(set PTO_TUNE_DEBUG=1 for the traceback)"
    )
    return DEFECT


def sentence(error: Exception) -> str:
    """The text of an expected error; never empty."""
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename is not None else ""
        return f"{where}{error.strerror}"
    return str(error) or type(error).__name__


def _usage_sentence(error: Exception) -> str | None:
    """The parser's own errors, on one line; None for any other. They are told by their method, because the
    class is at another place in every version of the parser."""
    describe = getattr(error, "format_message", None)
    if not callable(describe):
        return None
    text = " ".join(str(describe()).split()).removesuffix(".")
    context = getattr(error, "ctx", None)
    hint = f" (see '{context.command_path} --help')" if context is not None else ""
    return f"{text[:1].lower()}{text[1:]}{hint}"


def _leave_closed_pipe() -> None:
    # What is still buffered would raise again when the interpreter flushes at exit.
    with contextlib.suppress(OSError, ValueError):  # in tests, stdout is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
