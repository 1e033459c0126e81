"""Signs of life of a run while its batches are in hand, so that a live run is told from a dead one."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from db import Run, Store

BEAT_S = 10.0
"""A sign of life so often: several before a run counts as dead (`db.records.DEAD_AFTER_S`)."""

LEAVING_S = 10.0
"""A sign of life that hangs (a lost connection) does not keep a search from ending for longer."""


@contextmanager
def beating(store: Store, run: Run) -> Iterator[None]:
    """Give signs of life from a thread of its own as long as the block lasts and the run is this writer's.

    They say that the program is there, however long a batch takes. The moment is the database's; the clock of this
    machine decides nothing.
    """
    over = threading.Event()
    thread = threading.Thread(target=_beat, args=(store, run, over), name="signs of life", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(LEAVING_S)


def _beat(store: Store, run: Run, over: threading.Event) -> None:
    from db.errors import StoreError, TakenOverError

    while not over.wait(BEAT_S):
        try:
            store.sign_of_life(run.id, run.epoch)
        except TakenOverError:
            return  # the next batch of this writer is refused, and that is where it is told
        except StoreError:
            continue  # a connection that is lost may come back
