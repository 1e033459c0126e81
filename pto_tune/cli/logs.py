"""What pto-tune tells about its own work: the logger `pto_tune`, on stderr.

Warnings are always shown; `-v` before a command shows what it does, `-vv` everything. A program that imports
pto-tune sets the logger as any other.
"""

from __future__ import annotations

import logging
import sys

LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)


def show(verbosity: int) -> None:
    """Send the logger's lines to stderr: 0 warnings, 1 what is done, 2 and more everything."""
    logger = logging.getLogger("pto_tune")
    if not any(isinstance(handler, _Stderr) for handler in logger.handlers):
        handler = _Stderr()
        handler.setFormatter(logging.Formatter("pto-tune: %(message)s"))
        logger.addHandler(handler)
    logger.setLevel(LEVELS[min(verbosity, len(LEVELS) - 1)])


class _Stderr(logging.StreamHandler):  # type: ignore[type-arg]
    """To stderr as it is when a line is written (a progress bar or a test may have put another in its place)."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self):  # type: ignore[no-untyped-def]
        return sys.stderr
