"""Runs of the store as columns in memory, read once and shared by all requests."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dashboards.runview import RunView, from_store

if TYPE_CHECKING:
    from db import Run, Store
    from pto_tune.evaluation import Problem
    from pto_tune.space import Space

MOST_ROWS = 8_000_000
"""Rows of all runs that are kept in memory (about 150 bytes each); at least one run is."""

FRESH_S = 2.0
"""How old the columns of a run may be that is still being written, at least."""


@dataclass
class _Slot:
    lock: threading.Lock = field(default_factory=threading.Lock)
    view: RunView | None = None
    version: tuple[object, ...] = ()
    read_at: float = 0.0
    took_s: float = 0.0


class Views:
    """Columns of runs. Threads may share it: a run is read once, however many ask for it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._slots: OrderedDict[int, _Slot] = OrderedDict()
        self._searches: OrderedDict[tuple[object, ...], tuple[Problem, Space]] = OrderedDict()

    def run(self, ref: str | int) -> Run:
        """The run `ref` (number, name or 'latest') as the store has it now. Errors: StoreError."""
        return self._store.find_run(int(ref) if isinstance(ref, str) and ref.isdecimal() else ref)

    def view(self, ref: str | int) -> RunView:
        """The columns of the run `ref`; of a run that is being written they may be some seconds old.

        Errors: StoreError for an unknown run, ViewError for one that cannot be shown.
        """
        run = self.run(ref)
        with self._lock:
            slot = self._slots.setdefault(run.id, _Slot())
            self._slots.move_to_end(run.id)
        with slot.lock:
            version = (run.name, run.state, run.n_evaluated, run.finished_at, run.best_row)
            stale = slot.view is None or slot.version != version
            if slot.view is not None and run.state == "running":
                stale = stale and time.monotonic() - slot.read_at > max(FRESH_S, 5 * slot.took_s)
            if stale:
                began = time.monotonic()
                slot.view = from_store(self._store, run.id)
                slot.version, slot.read_at = version, time.monotonic()
                slot.took_s = slot.read_at - began
            view = slot.view
        self._forget()
        assert view is not None
        return view

    def search(self, ref: str | int) -> tuple[Problem, Space]:
        """Problem and space of a run, to evaluate more of it. Errors: SearchError where something has changed since."""
        from pto_tune.search.restoring import same_search

        run = self.run(ref)
        key = (run.id, run.spec_sha256)
        with self._lock:
            known = self._searches.get(key)
        if known is None:
            problem, space, _ = same_search(run)
            known = (problem, space)
            with self._lock:
                self._searches[key] = known
                while len(self._searches) > 32:
                    self._searches.popitem(last=False)
        return known

    def _forget(self) -> None:
        """Drop the runs that were not asked for the longest while all together are too large."""
        with self._lock:
            rows = {i: 0 if s.view is None else len(s.view) for i, s in self._slots.items()}
            total = sum(rows.values())
            for i in list(self._slots)[:-1]:
                if total <= MOST_ROWS:
                    return
                total -= rows[i]
                del self._slots[i]
