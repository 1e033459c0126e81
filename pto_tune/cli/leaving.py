"""Ctrl-C during a search: say what it does, and leave at the second one even where a worker never comes back."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from pto_tune.cli import errors

GRACE_S = 5.0
"""Time after the second Ctrl-C in which the search may end by itself."""

FIRST = "finishing the batch in hand, then stopping: Ctrl-C once more leaves at once"
LEFT = "left with a batch that did not come to its end: what was stored stays, and the same command goes on behind it"


@contextmanager
def two_interrupts() -> Iterator[None]:
    """Watch Ctrl-C from a thread of its own, so that it is heard whatever the main thread waits for.

    What the signal does in the main thread stays as it is. `GRACE_S` after a second one, or after the end of the block
    that came of it, the process ends with the exit code of Ctrl-C and without waiting for threads: the interpreter
    would wait for every worker before it ends.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    before = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
    twice = threading.Event()
    watcher = threading.Thread(target=_watch, args=(ours, twice), name="Ctrl-C", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        theirs.close()
        if not twice.is_set():
            watcher.join(1.0)


def _watch(numbers: socket.socket, twice: threading.Event) -> None:
    """Read the numbers of signals until the other end is closed."""
    with numbers:
        seen = 0
        while seen < 2:
            number = numbers.recv(1)
            if not number:
                return
            if number[0] == signal.SIGINT:
                seen += 1
                if seen == 1:
                    errors.complain(FIRST)
        twice.set()
        numbers.settimeout(GRACE_S)
        with suppress(TimeoutError):
            while numbers.recv(1):
                continue  # a third one is heard, and changes nothing
            time.sleep(GRACE_S)  # the search has ended: so may the process
    errors.complain(LEFT)
    os._exit(errors.INTERRUPTED)
