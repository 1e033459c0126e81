"""Who computes first: what a user waits for goes before what a page shows further down.

Python runs one thread at a time. Ten figures of a large run computed at once would all be ready as late as the last.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

MOST_WAIT_S = 3.0
"""How long the others step back at most."""

_ARRIVING_S = 0.03
"""The requests of one page arrive within this."""


class Turns:
    """`first()` around what is wanted first, `later()` around the others, which then go one by one."""

    def __init__(self) -> None:
        self._free = threading.Condition()
        self._first = 0
        self._one = threading.Lock()

    @contextmanager
    def first(self) -> Iterator[None]:
        """Compute at once; who comes later waits."""
        with self._free:
            self._first += 1
        try:
            yield
        finally:
            with self._free:
                self._first -= 1
                self._free.notify_all()

    @contextmanager
    def later(self) -> Iterator[None]:
        """Compute when nothing is wanted first (or has been for long), one at a time."""
        time.sleep(_ARRIVING_S)
        with self._one:
            with self._free:
                self._free.wait_for(lambda: self._first == 0, MOST_WAIT_S)
            yield
