"""What pages compute live and keep for a while: once, however many parts of a page ask for it at the same time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class _Entry:
    lock: threading.Lock = field(default_factory=threading.Lock)
    done: bool = False
    value: Any = None


class Kept:
    """The last `most` results by key. Threads may share it. What raises is not kept."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The result of `make`, which is called where there is none under `key` yet."""
        with self._lock:
            entry = self._entries.setdefault(key, _Entry())
            self._entries.move_to_end(key)
            while len(self._entries) > self._most:
                self._entries.popitem(last=False)
        with entry.lock:
            if not entry.done:
                entry.value = make()
                entry.done = True
            return entry.value
